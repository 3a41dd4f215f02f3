"""What a person does on the pages, in a real browser without console errors or outside requests.

Covers `lamina.web.action_result`, `lamina.web.browse_page`, `lamina.web.graph_page`, `lamina.web.recall_page`,
`lamina.web.revision_form` and `lamina.web.timeline_page`.
"""

from __future__ import annotations

import re
from datetime import timedelta

from bakery_vault import BakeryVault
from chromium import PHONE, WatchedPage, watched_page
from playwright.sync_api import Browser, expect
from web_server import Site

from lamina.web.health_page import build_retention_chart


def test_the_token_is_shown_once_and_replaced_by_a_session(browser: Browser, pages: Site) -> None:
    with watched_page(browser, pages.address) as page:
        page.open("/inbox?kind=pair")
        page.page.get_by_label("Token").fill("lam_" + "x" * 43)
        page.page.get_by_role("button", name="Sign in").click()
        expect(page.page.get_by_role("alert")).to_contain_text("not valid here")
        page.noticed.clear()  # the browser itself reports the refusal as an error
        page.page.get_by_label("Token").fill(pages.token)
        page.page.get_by_role("button", name="Sign in").click()
        page.page.wait_for_url("**/inbox?kind=pair")
        (cookie,) = page.page.context.cookies()
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["path"] == "/"
        assert cookie["value"] != pages.token
        page.page.get_by_role("button", name="Sign out").click()
        page.page.wait_for_url("**/login")
        assert page.page.context.cookies() == []
        assert pages.house.tokens.authenticate(cookie["value"]) is None


def test_recall_shows_the_hits_and_scores_that_add_up(desktop_page: WatchedPage) -> None:
    page = desktop_page.page
    desktop_page.open("/")
    page.get_by_role("searchbox", name="Question").fill("when do we open on Saturdays?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=re.compile("answer"))).to_be_visible()
    assert "q=when" in page.url
    first = page.locator(".hit").first
    expect(first).to_contain_text("opens at 7")
    first.locator("summary").click()
    terms = [_number(text) for text in first.locator("table").nth(0).locator("tbody .num").all_inner_texts()]
    relevance = _number(first.locator("table").nth(0).locator("tfoot .num").inner_text())
    weights = [_number(text) for text in first.locator("table").nth(1).locator("tbody .num").all_inner_texts()]
    score = _number(first.locator("table").nth(1).locator("tfoot .num").inner_text())
    product = relevance
    for weight in weights:
        product *= weight
    assert abs(sum(terms) - relevance) < 1e-3
    assert abs(product - score) < 1e-3
    assert first.locator("table").nth(0).locator("svg.bar").count() == len(terms)


def _number(text: str) -> float:
    return float(text.replace("×", "").replace("+", ""))


def test_feedback_is_recorded_and_shown(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page = desktop_page.page
    desktop_page.open("/recall?q=how+hot+is+the+front+oven")
    before = bakery.memory.signals(bakery.oven).recall_count
    page.locator(f"input[name=cited][value='{bakery.oven}']").check()
    page.get_by_role("button", name="Good").click()
    expect(page.locator("#thanks")).to_contain_text("Thank you")
    assert bakery.memory.signals(bakery.oven).recall_count == before + 1


def test_a_question_without_an_answer_says_so(desktop_page: WatchedPage) -> None:
    desktop_page.open("/recall?q=submarine+periscope+lubrication")
    expect(desktop_page.page.get_by_role("heading", name="Nothing known")).to_be_visible()


def test_a_fact_links_to_the_turn_it_rests_on(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page = desktop_page.page
    (drawn,) = [atom for atom in bakery.memory.list() if "allergic" in atom.content and atom.evidence]
    desktop_page.open(f"/atom/{drawn.id}")
    page.get_by_role("link", name="the turn it rests on").first.click()
    page.wait_for_url("**/atom/*?passage=*#p*")
    expect(page.locator("mark")).to_contain_text("allergic to hazelnuts")
    expect(page.locator(".turn.found")).to_be_in_viewport()


def test_the_inbox_is_decided_by_keyboard_and_undone(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    desktop_page.open("/inbox?kind=statement")
    items, waits = page.locator("[data-item]"), memory.review.count()
    first, second = (atom.ids[0] for atom in memory.review.list(kind="statement")[:2])
    expect(items.nth(0)).to_have_id(f"item-{first}")
    expect(items.nth(0)).to_contain_text("it counts")
    page.keyboard.press("j")
    expect(items.nth(1)).to_have_class(re.compile("current"))
    page.keyboard.press("k")
    page.keyboard.press("c")
    expect(items.nth(0)).to_contain_text("Confirmed")
    assert memory.get(first).status == "active"
    expect(page.locator("#inbox-count")).to_contain_text(str(waits - 1))
    expect(items.nth(1)).to_have_class(re.compile("current"))
    page.keyboard.press("r")
    expect(items.nth(1)).to_contain_text("Rejected")
    assert memory.get(second).status == "tombstoned"
    page.keyboard.press("u")
    expect(items.nth(1).get_by_role("button", name="Confirm")).to_be_visible()
    assert memory.get(second).status == "constrained"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(items.nth(0).get_by_role("button", name="Confirm")).to_be_visible()
    assert memory.get(first).status == "constrained"
    assert memory.review.count() == waits


def test_a_statement_is_confirmed_in_a_persons_own_words(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page = desktop_page.page
    desktop_page.open("/inbox?kind=statement")
    page.locator(f"#item-{bakery.waiting[0]}").focus()
    page.keyboard.press("e")
    words = page.locator(f"#item-{bakery.waiting[0]}").get_by_label("In your words")
    expect(words).to_be_focused()
    words.fill("The mill by the river is closed for repairs all January.")
    page.get_by_role("button", name="Confirm in these words").click()
    expect(page.locator(f"#item-{bakery.waiting[0]}")).to_contain_text("Confirmed in your words")
    atom = bakery.memory.get(bakery.waiting[0])
    assert atom.content == "The mill by the river is closed for repairs all January."
    assert atom.status == "active"


def test_many_items_are_selected_and_decided_together(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    more = [memory.remember(f"A rumour of flour number {n}.", origin="web", source_id="rumours").atom for n in range(4)]
    desktop_page.open("/inbox?source=rumours")
    page.locator("[data-item]").first.focus()
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#selected")).to_have_text("2 selected")
    page.get_by_role("button", name="Reject selected").click()
    expect(page.locator("#waiting > .said")).to_contain_text("Rejected 2")
    assert sorted(memory.get(atom.id).status for atom in more) == ["constrained"] * 2 + ["tombstoned"] * 2
    desktop_page.open("/inbox?source=rumours")
    page.locator("form", has_text="all from rumours").get_by_role("button", name="Confirm").click()
    expect(page.locator("#waiting > .said")).to_contain_text("Confirmed 2 from rumours")
    page.locator("#waiting > .said").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").filter(has_text="Undone")).to_be_visible()
    assert sorted(memory.get(atom.id).status for atom in more) == ["constrained"] * 2 + ["tombstoned"] * 2


def test_of_a_pair_one_side_is_kept(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    desktop_page.open("/inbox?kind=pair")
    item = page.locator("[data-item]").first
    expect(item).to_contain_text("thirty-two")
    expect(item).to_contain_text("twenty-eight")
    (pair,) = memory.review.pairs()
    page.keyboard.press("m")
    expect(item.get_by_label("In your words")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator(".decided")).to_contain_text("Kept the newer")
    assert memory.get(pair.a.id).status != "active"
    page.locator(".decided").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Keep the newer")).to_be_visible()
    assert memory.get(pair.a.id).status == "active"


def test_an_atom_is_revised_compared_and_undone(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    desktop_page.open(f"/atom/{bakery.opening}")
    page.locator("summary", has_text="Revise").click()
    page.get_by_label("Text of the atom").fill("The bakery opens at 6 on Saturdays.")
    page.get_by_label("Value", exact=True).fill("6")
    page.locator("#revise-reason").fill("the summer timetable")
    page.get_by_role("button", name="Revise").click()
    expect(page.get_by_role("status")).to_contain_text("Revised")
    assert (memory.get(bakery.opening).value, memory.get(bakery.opening).revision) == ("6", 2)
    expect(page.locator(".past")).to_contain_text("the summer timetable")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".diff del").first).to_have_text("7")
    expect(page.locator(".diff ins").first).to_have_text("6")
    page.locator(".past li").first.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").filter(has_text="Undone")).to_be_visible()
    assert memory.get(bakery.opening).value == "7"


def test_every_action_on_an_atom_works(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    (promise,) = memory.list(kind="commitment", subject="winter flour")
    desktop_page.open(f"/atom/{promise.id}")
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    assert memory.get(promise.id).pinned
    page.get_by_role("button", name="Unpin").click()
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    page.get_by_role("button", name="Resolve").click()
    expect(page.get_by_text("resolved", exact=True).first).to_be_visible()
    page.locator("summary", has_text="Status").click()
    page.get_by_label("becomes").select_option("challenged")
    page.locator("#status-reason").fill("somebody doubts it")
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_role("status")).to_contain_text("challenged")
    page.locator("summary", has_text="Relate").click()
    page.get_by_label("Another atom").fill(bakery.oven)
    page.get_by_role("button", name="Relate").click()
    expect(page.locator(".neighbours")).to_contain_text("front oven")
    page.locator("summary", has_text="Forget").click()
    page.locator("#forget-reason").fill("no longer needed")
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("status")).to_contain_text("tombstoned")
    assert memory.get(promise.id).status == "tombstoned"
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").filter(has_text="Undone")).to_be_visible()
    assert memory.get(promise.id).status == "challenged"


def test_a_refusal_is_shown_where_it_was_requested(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page = desktop_page.page
    desktop_page.open(f"/atom/{bakery.oven}")
    page.locator("summary", has_text="Relate").click()
    page.get_by_label("Another atom").fill("nosuchatom")
    page.get_by_role("button", name="Relate").click()
    expect(page.get_by_role("alert")).to_contain_text("nosuchatom")
    expect(page.locator("#atom")).to_be_visible()
    desktop_page.noticed.clear()  # the browser itself reports the 404 as an error


def test_the_graph_is_navigated_by_clicks_and_its_table_shows_the_same(
    desktop_page: WatchedPage, bakery: BakeryVault
) -> None:
    page = desktop_page.page
    desktop_page.open(f"/graph/{bakery.oven}")
    page.locator("#graph[data-drawn]").wait_for()
    rows = page.locator("#links tbody tr")
    before = rows.count()
    place = page.evaluate(
        "() => { const graph = document.getElementById('graph').graph;"
        " const node = graph.nodes().filter((each) => !each.data('middle'))[0];"
        " const at = node.renderedPosition(), box = document.getElementById('graph').getBoundingClientRect();"
        " return {x: box.x + at.x, y: box.y + at.y}; }"
    )
    page.mouse.click(place["x"], place["y"])
    expect(rows).not_to_have_count(before)
    assert rows.count() == page.evaluate("document.getElementById('graph').graph.edges().length")
    assert page.locator("#legend span").count() >= 2
    rows.first.get_by_role("link").nth(1).click()
    expect(page.locator("#atom")).to_be_visible()


def test_the_timeline_is_live_and_undoes(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    desktop_page.open("/timeline")
    expect(page.locator("#live")).to_have_text("live")
    bakery.clock.at += timedelta(minutes=1)
    fresh = memory.remember("The yeast supplier calls on Tuesdays.", reason="told on the phone").atom
    expect(page.locator("#news")).to_contain_text("yeast supplier")
    expect(page.locator("#news")).to_contain_text("told on the phone")
    page.locator("#news .event").first.get_by_role("button", name="Undo").click()
    expect(page.locator("#news").get_by_role("status")).to_contain_text("Undone")
    assert memory.get(fresh.id).status == "tombstoned"
    expect(page.locator("#news .event")).to_have_count(2)


def test_the_theme_follows_the_system_and_the_switch_is_remembered(browser: Browser, pages: Site) -> None:
    with watched_page(browser, pages.address, theme="dark") as page:
        page.set_session(pages.session(pages.token))
        page.open("/")
        paper = "getComputedStyle(document.body).backgroundColor"
        dark = page.page.evaluate(paper)
        page.page.get_by_role("button", name="Dark").click()
        light = page.page.evaluate(paper)
        assert dark != light
        page.open("/health")
        assert page.page.evaluate(paper) == light
        expect(page.page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "false")


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Browser, pages: Site, bakery: BakeryVault) -> None:
    with watched_page(browser, pages.address, PHONE) as page:
        page.set_session(pages.session(pages.token))
        for path in (
            "/",
            "/recall?q=walnut+loaf",
            "/inbox",
            f"/atom/{bakery.oven}",
            f"/graph/{bakery.oven}",
            "/timeline",
            "/health",
            "/browse",
        ):
            page.open(path)
            width = page.page.evaluate("document.documentElement.scrollWidth")
            assert width <= PHONE[0], path


def test_health_draws_the_curves_and_lists_broken_files(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page = desktop_page.page
    broken = bakery.memory.root / "atoms" / "broken.md"
    broken.write_text("---\nid: [\n---\nwords\n", encoding="utf-8")
    try:
        desktop_page.open("/health")
        page.locator("#fading-chart[data-drawn] canvas").wait_for()
        dots = "document.getElementById('fading-chart').chart.data.at(-1).filter((each) => each !== null).length"
        assert page.evaluate(dots) == len(build_retention_chart(bakery.memory).places) > 0
        expect(page.locator("section", has_text="Files").last).to_contain_text("broken.md")
    finally:
        broken.unlink()


def test_pages_work_without_scripts(browser: Browser, pages: Site, bakery: BakeryVault) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    try:
        page.goto(pages.address + "/login")
        page.get_by_label("Token").fill(pages.token)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("searchbox").fill("front oven")
        page.get_by_role("button", name="Recall").click()
        expect(page.locator(".hit").first).to_contain_text("front oven")
        page.goto(f"{pages.address}/atom/{bakery.oven}")
        page.get_by_role("button", name="Unpin").click()
        expect(page.get_by_role("status")).to_contain_text("Unpinned")
        page.get_by_role("status").get_by_role("button", name="Undo").click()
        expect(page.get_by_role("status")).to_contain_text("Undone")
        assert bakery.memory.get(bakery.oven).pinned
    finally:
        context.close()
