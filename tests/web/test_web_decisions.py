"""What becomes of what a person does: undone anywhere, nothing done twice, nothing lost, ids in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from bakery_vault import BakeryVault
from chromium import PHONE, WatchedPage, watched_page
from playwright.sync_api import Browser, Request, expect
from web_server import Site, site

import lamina
from lamina import FixedClock, Memory
from lamina.atom.atom import SECTION_BEGIN, SECTION_END
from lamina.web.inbox_page import PAGE_SIZE
from lamina.web.safe_markdown import render_markdown
from lamina.web.template_environment import summarise_atom

NOW = datetime(2026, 11, 14, 9, 0, tzinfo=UTC)


@pytest.fixture
def empty(tmp_path: Path, browser: Browser) -> Iterator[tuple[Memory, WatchedPage]]:
    """A vault in which nothing is yet, and its person."""
    with (
        lamina.open(tmp_path / "vault", clock=FixedClock(NOW), watch=False, background=False) as memory,
        site(memory) as running,
        watched_page(browser, running.address) as page,
    ):
        page.set_session(running.session(running.token))
        yield memory, page


def test_a_new_user_is_guided_through_the_first_steps(empty: tuple[Memory, WatchedPage]) -> None:
    memory, result = empty
    page, sent = result.page, list[Request]()
    page.on("request", lambda item: sent.append(item) if item.method == "POST" else None)
    for path in ("/inbox", "/browse", "/timeline", "/health", "/recall?q=coffee", "/"):
        result.open(path)
    expect(page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
    page.get_by_label("What should be remembered").fill("I take my coffee without milk.")
    page.get_by_role("button", name="Remember").dblclick()
    expect(page.locator("#told")).to_contain_text("Remembered")
    expect(page.locator("#words")).to_have_value("")
    assert [atom.content for atom in memory.list()] == ["I take my coffee without milk."]
    assert len(sent) == 1
    page.locator("#told").get_by_role("button", name="Undo").click()
    expect(page.locator("#told")).to_contain_text("Undone")
    assert memory.list() == []


def test_a_long_inbox_and_a_long_journal_are_paginated(empty: tuple[Memory, WatchedPage]) -> None:
    memory, actual = empty
    page = actual.page
    stored = [
        memory.remember(f"Rumour number {n} of the harbour.", origin="web", source_id="crier", subject=f"rumour {n}")
        for n in range(PAGE_SIZE + 5)
    ]
    actual.open("/inbox")
    expect(page.locator("[data-item]")).to_have_count(PAGE_SIZE)
    page.keyboard.press("c")
    expect(page.locator(".decided")).to_have_count(1)
    page.get_by_role("link", name="Next").click()
    expect(page.locator("[data-item]").first).to_contain_text("Rumour number 4 of")  # the newest that was not shown
    memory.undo()
    page.reload()
    actual.open(f"/inbox?offset={PAGE_SIZE}")
    expect(page.locator("[data-item]")).to_have_count(5)
    expect(page.locator(".paging")).to_contain_text(f"{PAGE_SIZE + 1} to {PAGE_SIZE + 5} of {PAGE_SIZE + 5}")
    page.locator("#all").check()
    page.get_by_role("button", name="Reject selected").click()
    expect(page.locator("#waiting > .said")).to_contain_text("Rejected 5")
    expect(page.locator("[data-item]")).to_have_count(PAGE_SIZE)
    actual.open("/timeline")
    result = page.locator(".event")
    expect(result).to_have_count(PAGE_SIZE)
    page.get_by_role("link", name="Show earlier").click()
    expect(result).to_have_count(12)
    expect(result.last).to_contain_text("Rumour number 0 of")
    page.get_by_role("link", name="To the newest").click()
    expect(page.locator("#live")).to_have_text("live")
    memory.undo(stored[10].commit)
    actual.open("/timeline?before=20")
    expect(result.filter(has_text="Rumour number 10 of").last).to_have_class(re.compile("undone"))


def test_an_undone_batch_returns_to_its_list(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    for n in range(3):
        memory.remember(f"A tale of salt number {n}.", origin="web", source_id="tales", subject=f"tale {n}")
    desktop_page.open("/inbox?source=tales")
    page.locator("#all").check()
    page.get_by_role("button", name="Confirm selected").click()
    expect(page.locator("#waiting > .said")).to_contain_text("Confirmed 3")
    expect(page.locator("[data-item]")).to_have_count(0)  # others wait, and are not from there
    page.locator("#waiting > .said").get_by_role("button", name="Undo").click()
    expect(page.locator("#waiting > .said")).to_contain_text("Undone")
    expect(page.locator("[data-item]")).to_have_count(3)
    assert len(memory.review.held("tales")) == 3


def test_a_second_window_is_notified_of_decisions(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, id_ = desktop_page.page, bakery.waiting[1]
    desktop_page.open("/inbox?kind=statement")
    bakery.memory.review.confirm(id_)
    page.locator(f"#item-{id_}").get_by_role("button", name="Confirm").click()
    expect(page.locator(f"#item-{id_}")).to_contain_text("This was decided before")
    assert page.locator(f"#item-{id_}").get_by_role("button", name="Undo").count() == 0


def test_an_undo_on_the_page_of_an_atom_shows_the_new_state(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    (yeast,) = memory.list(subject="salt", kind="fact")
    desktop_page.open(f"/atom/{yeast.id}")
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    expect(page.locator("#atom header .chip", has_text="pinned")).to_have_count(0)
    memory.revise(yeast.id, "Salt comes in sacks.", reason="shorter")
    memory.revise(yeast.id, "Salt comes in grey sacks.", reason="longer")
    page.reload()
    page.locator(".past li").nth(1).get_by_role("button", name="Undo").click()
    expect(page.get_by_role("alert")).to_contain_text("1 later change built on it")
    page.get_by_role("button", name="Undo the later ones, too").click()
    expect(page.locator("h1")).to_contain_text("harbour wholesaler")
    desktop_page.noticed.clear()  # the browser itself reports the refusal as an error


def test_atoms_are_named_by_their_text_and_not_by_their_ids(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page, memory = desktop_page.page, bakery.memory
    claim = {"kind": "fact", "subject": "proofing time", "attribute": "hours", "origin": "human"}
    memory.remember("Loaves proof for two hours.", **claim, value="2")  # type: ignore[arg-type]
    rival = memory.remember("Loaves proof for three hours.", **{**claim, "origin": "web"}, value="3").atom  # type: ignore[arg-type]
    memory.relate(bakery.opening, "depends_on", bakery.oven)
    desktop_page.open("/inbox?kind=statement")
    expect(page.locator(f"#item-{rival.id} .outcomes")).to_contain_text("supersedes “Loaves proof for two hours.”")
    for path in ("/timeline", f"/atom/{bakery.opening}"):
        desktop_page.open(path)
        expect(page.locator(".why", has_text="depends on").first).to_contain_text("“The front oven runs hot")
        assert not re.search(r"depends.on [0-9a-z]{26}", page.locator("main").inner_text())


def test_markers_of_generated_sections_are_not_shown(bakery: BakeryVault) -> None:
    words = f"{SECTION_BEGIN}\n# Heron\n\n- built in May\n{SECTION_END}\n\nMy own line.\n"
    card = bakery.memory.remember(words, kind="synthesis", subject="heron").atom
    assert summarise_atom(card) == "Heron"
    result = str(render_markdown(words))
    assert "lamina:" not in result and "<h1>Heron</h1>" in result and "My own line." in result


def test_a_session_lasts_as_long_as_its_turns_and_not_until_its_import(empty: tuple[Memory, WatchedPage]) -> None:
    memory, result = empty
    for day in (200, 100):
        at = NOW - timedelta(days=day)
        memory.capture(
            [{"speaker": "Me", "content": "We talked of bread."}], session_id=f"{day}", observed_at=at, wait=True
        )
    result.open("/timeline")
    bars = result.page.locator("#sessions + .lanes .fill")
    assert [float(bar.get_attribute("width") or "0") for bar in bars.all()] == [1.5, 1.5]


def test_text_is_rendered_in_its_own_direction(empty: tuple[Memory, WatchedPage]) -> None:
    memory, result = empty
    atom = memory.remember("אני גרה בתל אביב.").atom
    result.open(f"/atom/{atom.id}")
    assert result.page.locator("h1").evaluate("(each) => getComputedStyle(each).direction") == "rtl"


def test_broken_files_long_words_code_and_tables_fit_on_a_phone(
    browser: Browser, pages: Site, bakery: BakeryVault
) -> None:
    long = "x" * 400
    words = f"{long}\n\n```\n{long}\n```\n\n| a | b |\n|---|---|\n| {long} | {long} |\n"
    kinds = [
        bakery.memory.remember(words, subject=long[:300], tags=[long[:200]], source_id=long[:200], origin=who).atom
        for who in ("human", "web")
    ]
    broken = bakery.memory.root / "atoms" / f"{'broken' * 20}.md"
    broken.write_text("---\nid: [\n---\nwords\n", encoding="utf-8")
    try:
        with watched_page(browser, pages.address, PHONE) as page:
            page.set_session(pages.session(pages.token))
            for path in (
                "/health",
                f"/atom/{kinds[0].id}",
                f"/graph/{kinds[0].id}",
                "/inbox",
                "/browse",
                f"/recall?q={long}",
            ):
                page.open(path)
                if path == "/health":
                    page.page.locator(".files-wrong").wait_for()
                assert page.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0], path
    finally:
        broken.unlink()


def test_unsaved_input_survives_the_end_of_a_session(browser: Browser, pages: Site, bakery: BakeryVault) -> None:
    with watched_page(browser, pages.address) as result:
        page, session = result.page, pages.session(pages.token)
        result.set_session(session)
        result.open(f"/atom/{bakery.oven}")
        page.locator("summary", has_text="Revise").click()
        page.get_by_label("Text of the atom").fill("Many words that took a while to write.")
        pages.house.tokens.close_session(str(session))
        page.get_by_role("button", name="Revise").click()
        expect(page.get_by_role("alert")).to_contain_text("The session has ended")
        expect(page.get_by_label("Text of the atom")).to_have_value("Many words that took a while to write.")
        page.reload()
        expect(page.get_by_label("Token")).to_be_visible()
        result.noticed.clear()  # the browser itself reports the refusal as an error


def test_the_url_of_an_answer_contains_the_query_and_nothing_else(desktop_page: WatchedPage) -> None:
    page = desktop_page.page
    desktop_page.open("/")
    page.get_by_role("searchbox").fill("front oven")
    page.keyboard.press("Enter")
    page.locator(".hit").first.wait_for()
    assert "as_of" not in page.url and "known_at" not in page.url
    page.locator(".hit").first.get_by_role("link").first.click()
    page.locator("#atom").wait_for()
    page.go_back()
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_value("front oven")


def test_a_graph_with_many_neighbours_fits_into_its_picture(empty: tuple[Memory, WatchedPage]) -> None:
    memory, result = empty
    middle = memory.remember("The harbour feeds the town.", subject="harbour").atom
    for n in range(40):
        memory.relate(middle.id, "supports", memory.remember(f"Boat {n} sails at dawn.", subject=f"boat {n}").atom.id)
    result.open(f"/graph/{middle.id}")
    result.page.locator("#graph[data-drawn]").wait_for()
    outside = result.page.evaluate(
        "() => { const place = document.getElementById('graph');"
        " return place.graph.nodes().map((each) => each.renderedPosition())"
        ".filter(({ x, y }) => x < 0 || y < 0 || x > place.clientWidth || y > place.clientHeight).length; }"
    )
    assert outside == 0
