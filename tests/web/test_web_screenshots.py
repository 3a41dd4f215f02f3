"""The pictures of the pages in docs/img, drawn anew with LAMINA_PICTURES=1 and only then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from bakery_vault import BakeryVault, make_bakery
from chromium import DESKTOP, PHONE, Theme, WatchedPage, watched_page
from playwright.sync_api import Browser
from web_server import Site

FOLDER = Path(__file__).parents[2] / "docs" / "img"
LIMIT = 150_000
SIZES = {"desktop": DESKTOP, "phone": PHONE}
NAMES = ("recall", "inbox", "atom", "graph", "timeline", "health")

pytestmark = pytest.mark.skipif(not os.environ.get("LAMINA_PICTURES"), reason="LAMINA_PICTURES=1 draws docs/img anew")


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BakeryVault]:
    """The made vault, looked into through the vectors that come with lamina."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMINA_EMBEDDER", "light")
        shop = make_bakery(tmp_path_factory.mktemp("workshop") / "vault")
    yield shop
    shop.memory.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_screenshots_are_taken(browser: Browser, pages: Site, bakery: BakeryVault, size: str, theme: Theme) -> None:
    with watched_page(browser, pages.address, SIZES[size], theme) as page:
        page.set_session(pages.session(pages.token))
        for name in NAMES:
            _show(page, name, bakery)
            file = FOLDER / f"web-{name}-{size}-{theme}.png"
            page.page.screenshot(path=file)
            assert file.stat().st_size < LIMIT, file.name


def _show(result: WatchedPage, name: str, bakery_vault: BakeryVault) -> None:
    page = result.page
    (walnut,) = bakery_vault.memory.list(subject="walnut loaf", kind="insight")
    (flour,) = bakery_vault.memory.list(subject="flour", kind="preference")
    match name:
        case "recall":
            result.open("/recall?q=when+do+we+open+on+saturdays")
            page.locator(".xray summary").first.click()
        case "atom":
            result.open(f"/atom/{walnut.id}")
            page.get_by_label("Compare version").select_option("1")
            page.get_by_role("button", name="Compare").click()
            page.locator(".diff").wait_for()
        case "graph":
            result.open(f"/graph/{flour.id}?depth=3")
            page.locator("#graph[data-drawn]").wait_for()
        case "timeline":
            result.open("/timeline")
            page.locator("#live", has_text="live").wait_for()
        case "health":
            result.open("/health")
            page.locator("#fading-chart[data-drawn]").wait_for()
        case _:
            result.open(f"/{name}")
