"""The pages without a mouse, in both themes and through a screen reader: labels, names, landmarks, focus, contrast."""

from __future__ import annotations

from pathlib import Path

from bakery_vault import BakeryVault
from chromium import WatchedPage, watched_page
from playwright.sync_api import Browser, expect
from web_server import Site

BARRIERS = (Path(__file__).parent / "barriers.js").read_text(encoding="utf-8")


def test_every_page_is_readable_and_labelled_in_light_and_dark(
    browser: Browser, pages: Site, bakery: BakeryVault
) -> None:
    with watched_page(browser, pages.address) as page:
        page.open("/login")
        _assert_no_barriers(page)
        page.set_session(pages.session(pages.token))
        for path in (
            "/",
            "/recall?q=walnut+loaf&include=history",
            "/inbox",
            f"/atom/{bakery.oven}",
            f"/atom/{bakery.opening}",
            f"/atom/{bakery.session}?passage=2",
            f"/graph/{bakery.oven}",
            "/timeline",
            "/health",
            "/browse?status=any",
            f"/atom/{bakery.oven}/diff?a=1&b=2",
            "/health/problems",
            "/atom/nosuchatom",
            "/nosuch",
            "/timeline?before=20",
            "/inbox?kind=pair",
        ):
            page.open(path)
            page.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
            _assert_no_barriers(page)
        page.noticed.clear()  # the browser itself reports the 404 as an error


def _assert_no_barriers(page: WatchedPage) -> None:
    for theme in ("dark", "light"):
        page.page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        assert page.page.evaluate(BARRIERS) == [], f"{page.page.url} {theme}"


def test_the_keyboard_reaches_the_content_first_and_focus_is_visible(desktop_page: WatchedPage) -> None:
    page = desktop_page.page
    desktop_page.open("/timeline")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    assert outline != "none"


def test_results_are_announced(desktop_page: WatchedPage, bakery: BakeryVault) -> None:
    page = desktop_page.page
    desktop_page.open("/")
    expect(page.locator("#answer")).to_have_attribute("aria-live", "polite")
    desktop_page.open(f"/atom/{bakery.oven}")
    page.get_by_role("button", name="Unpin").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Unpinned")
    expect(page.get_by_role("status")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("status").get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Undone")
