"""Nothing that is stored becomes active: the whole corpus in every field that is shown, in a real browser.

Of the pages only some are visited, unless LAMINA_XSS=all asks for each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from bakery_vault import NOW
from chromium import WatchedPage, watched_page
from payloads import FAMILIES, corpus
from playwright.sync_api import Browser, Page
from web_server import Site, site

import lamina
from lamina import FixedClock, Memory

CORPUS = corpus()
ALL = os.environ.get("LAMINA_XSS") == "all"
EVERY = 1 if ALL else 20

ACTIVE = (Path(__file__).parent / "active.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, list[str]]]:
    """A vault in which every field says what it should not."""
    clock, root = FixedClock(NOW), tmp_path_factory.mktemp("hostile") / "vault"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMINA_EXTRACTOR", "none")
        with lamina.open(root, clock=clock, watch=False, background=False) as memory:
            ids = [_remember_hostile(memory, n, *item) for n, item in enumerate(CORPUS)]
            _capture_hostile(memory, CORPUS, "<img src=x onerror=alert(1)>")
    memory = lamina.open(root, clock=clock, watch=False, background=False)
    _capture_hostile(memory, CORPUS[::15], '"><script>alert(1)</script>')
    _add_notes(memory)
    _add_links(memory, ids)
    _write_files(memory)
    yield memory, ids
    memory.close()


def _remember_hostile(memory: Memory, n: int, family: str, payload: str) -> str:
    """In the words and in every label beside them; numbered, so that none is taken for another."""
    return memory.remember(
        f"{payload}\n\nsample {family} {n}",
        origin="web" if n % 2 else "human",
        reason=payload,
        tags=[payload],
        subject=f"{payload} {n}",
        attribute=payload,
        value=payload,
        entities=[payload],
        metadata={"note": payload, payload: "note"},
        source_id=payload,
        session_id=payload,
    ).atom.id


def _capture_hostile(memory: Memory, result: list[tuple[str, str]], session: str) -> None:
    """As who says it, and as what is said."""
    turns = [{"speaker": payload.replace("*", "x")[:200], "content": f"I prefer {payload}"} for _, payload in result]
    memory.capture(turns, session_id=session, source_id="<svg onload=alert(1)>", wait=True)


def _add_notes(memory: Memory) -> None:
    """In the notes of a run and of a workstream."""
    for n, (_, payload) in enumerate(CORPUS[::20]):
        run = memory.run(f"run-{n}")
        run.note(payload)
        run.close("success", payload)
        memory.block("stream").add("decision", payload)


def _add_links(memory: Memory, ids: list[str]) -> None:
    for one, other in zip(ids[:40:2], ids[2:42:2], strict=True):
        memory.relate(one, "supports", other)
    for n in range(0, 20, 2):
        memory.revise(ids[n], f"{CORPUS[n + 1][1]} instead", reason=CORPUS[n][1])


def _write_files(memory: Memory) -> None:
    """As the names of files that cannot be read."""
    for n, (_, payload) in enumerate(CORPUS[::8]):
        name = payload.replace("/", "∕").replace("\0", "").replace("\n", " ")[:60]
        file = memory.root / "atoms" / f"{n}{name}.md"
        file.write_text("---\nid: [\n---\nx\n", encoding="utf-8")
    memory.upkeep.sync()


@pytest.fixture(scope="module")
def hostile_pages(hostile: tuple[Memory, list[str]]) -> Iterator[Site]:
    with site(hostile[0]) as running:
        yield running


@pytest.fixture
def visitor(browser: Browser, hostile_pages: Site) -> Iterator[WatchedPage]:
    with watched_page(browser, hostile_pages.address) as page:
        page.set_session(hostile_pages.session(hostile_pages.token))
        yield page


def _assert_inert(page: Page) -> None:
    assert page.evaluate(ACTIVE) == [], page.url


def test_the_corpus_is_large_and_contains_every_trick() -> None:
    assert len(CORPUS) >= 300
    assert {family for family, _ in CORPUS} == set(FAMILIES)


def test_lists_show_hostile_text_as_text(visitor: WatchedPage, hostile: tuple[Memory, list[str]]) -> None:
    for path in ("/", "/health", "/health/problems"):
        visitor.open(path)
        _assert_inert(visitor.page)
    memory, all_items = hostile[0], 1 if ALL else 4
    for offset in range(0, memory.review.count(), 40 * all_items):
        visitor.open(f"/inbox?offset={offset}")
        assert visitor.page.locator("[data-item]").count()
        _assert_inert(visitor.page)
    for before in range(memory.journal(limit=1)[0].seq + 1, 1, -40 * all_items):
        visitor.open(f"/timeline?before={before}")
        assert visitor.page.locator(".event").count()
        _assert_inert(visitor.page)
    for offset in range(0, len(CORPUS) + 120, 40 * all_items):
        visitor.open(f"/browse?status=any&offset={offset}")
        _assert_inert(visitor.page)


def test_recall_shows_hostile_text_as_text(visitor: WatchedPage) -> None:
    for family in list(FAMILIES)[:: 1 if ALL else 3]:
        visitor.open(f"/recall?q=sample+{family}&k=100&include=constrained&include=history&include=challenged")
        assert visitor.page.locator(".hit").count() >= 10
        _assert_inert(visitor.page)
    visitor.page.locator(".xray summary").first.click()
    _assert_inert(visitor.page)


def test_a_hostile_question_is_only_a_query(visitor: WatchedPage) -> None:
    for _, payload in CORPUS[:: 2 * EVERY]:
        word = quote(payload, safe="")
        visitor.open(f"/recall?q={word}&include=history")
        _assert_inert(visitor.page)
        visitor.open(f"/browse?kind={word}&subject={word}&session_id={word}&as_of={word}")
        _assert_inert(visitor.page)
    for path in (
        "/{}",
        "/atom/{}",
        "/graph/{}",
        "/inbox?source={0}&kind={0}",
        "/timeline?before={}",
        "/recall?q=x&mode={}",
        "/login?next={}",
    ):
        visitor.open(path.format(quote(CORPUS[2][1], safe="")))
        _assert_inert(visitor.page)
    visitor.noticed[:] = [
        item for item in visitor.noticed if "422" not in item and "404" not in item
    ]  # what is not there


def test_atom_pages_show_hostile_text_as_text(visitor: WatchedPage, hostile: tuple[Memory, list[str]]) -> None:
    memory, ids = hostile
    segments = [atom.id for atom in memory.list(kind="narrative", limit=None) if atom.is_segment]
    for item in [*ids[::EVERY], *segments]:
        visitor.open(f"/atom/{item}")
        _assert_inert(visitor.page)
    for atom_id in ids[:20:4]:
        visitor.open(f"/atom/{atom_id}/diff?a=1&b=2")
        _assert_inert(visitor.page)


def test_the_graph_draws_hostile_text_as_text(visitor: WatchedPage, hostile: tuple[Memory, list[str]]) -> None:
    visitor.open(f"/graph/{hostile[1][4]}?depth=3")
    visitor.page.locator("#graph[data-drawn]").wait_for()
    _assert_inert(visitor.page)


def test_text_inserted_by_scripts_stays_text(visitor: WatchedPage, hostile: tuple[Memory, list[str]]) -> None:
    page = visitor.page
    visitor.open("/inbox")
    for n in range(8):
        page.locator("[data-item]:not(.decided)").first.get_by_role("button", name="Confirm").click()
        page.locator(".decided").nth(n).wait_for()
        _assert_inert(page)
    page.locator("[data-select]").nth(1).check()
    page.get_by_role("button", name="Reject selected").click()
    page.locator("#waiting > .said").get_by_role("button", name="Undo").click()
    page.locator("#waiting > .said", has_text="Undone").wait_for()
    _assert_inert(page)
    visitor.open("/")
    page.locator("#words").fill(CORPUS[0][1])
    page.get_by_role("button", name="Remember").click()
    page.locator("#told .said").wait_for()
    _assert_inert(page)
    visitor.open(f"/atom/{hostile[1][0]}")
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_role("button", name="Unpin").wait_for()
    page.get_by_role("button", name="Compare").click()
    page.locator(".diff").wait_for()
    _assert_inert(page)


def test_invisible_characters_are_escaped(visitor: WatchedPage, hostile: tuple[Memory, list[str]]) -> None:
    ids = hostile[1]
    at = next(n for n, (_, payload) in enumerate(CORPUS) if "\u202e" in payload)
    visitor.open(f"/atom/{ids[at]}")
    assert "<U+202E>" in visitor.page.locator("main").inner_text()
    assert "\u202e" not in visitor.page.locator("main").inner_text()
    form = visitor.page.locator("#content").input_value()
    assert "\u202e" in form  # what is edited is what is there


def test_hostile_file_names_are_only_shown(visitor: WatchedPage, hostile: tuple[Memory, list[str]]) -> None:
    visitor.open("/health")
    visitor.page.locator("#problems + div table").wait_for()
    assert visitor.page.locator("#problems + div tbody tr").count() >= len(
        list(Path(hostile[0].root).glob("atoms/*.md"))
    )
    _assert_inert(visitor.page)
