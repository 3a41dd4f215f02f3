"""The pages without a mouse, in both themes and through a screen reader: labels, names, landmarks, focus, contrast."""

from __future__ import annotations

from pathlib import Path

from chromium import Watched, watched
from playwright.sync_api import Browser, expect
from web_server import Site
from workshop import Workshop

BARRIERS = (Path(__file__).parent / "barriers.js").read_text(encoding="utf-8")


def test_every_page_can_be_read_and_named_in_light_and_dark(browser: Browser, pages: Site, made: Workshop) -> None:
    with watched(browser, pages.address) as told:
        told.open("/login")
        _without_barriers(told)
        told.hold(pages.session(pages.token))
        for path in (
            "/",
            "/recall?q=walnut+loaf&include=history",
            "/inbox",
            f"/atom/{made.oven}",
            f"/atom/{made.opening}",
            f"/atom/{made.session}?passage=2",
            f"/graph/{made.oven}",
            "/timeline",
            "/health",
            "/browse?status=any",
            f"/atom/{made.oven}/diff?a=1&b=2",
            "/health/problems",
            "/atom/nosuchatom",
            "/nosuch",
            "/timeline?before=20",
            "/inbox?kind=pair",
        ):
            told.open(path)
            told.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
            _without_barriers(told)
        told.noticed.clear()  # the browser itself reports the 404 as an error


def _without_barriers(told: Watched) -> None:
    for theme in ("dark", "light"):
        told.page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        assert told.page.evaluate(BARRIERS) == [], f"{told.page.url} {theme}"


def test_the_keyboard_reaches_the_content_first_and_its_place_is_seen(desk_page: Watched) -> None:
    page = desk_page.page
    desk_page.open("/timeline")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    assert outline != "none"


def test_results_are_announced(desk_page: Watched, made: Workshop) -> None:
    page = desk_page.page
    desk_page.open("/")
    expect(page.locator("#answer")).to_have_attribute("aria-live", "polite")
    desk_page.open(f"/atom/{made.oven}")
    page.get_by_role("button", name="Unpin").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Unpinned")
    expect(page.get_by_role("status")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("status").get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Undone")
