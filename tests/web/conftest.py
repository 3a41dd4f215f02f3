from __future__ import annotations

from collections.abc import Iterator

import pytest
from bakery_vault import BakeryVault, make_bakery
from chromium import WatchedPage, chromium, watched_page
from playwright.sync_api import Browser
from web_server import Site, site


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of a file: while it is there no other event loop can run in this thread."""
    with chromium() as result:
        yield result


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BakeryVault]:
    """The made vault."""
    shop = make_bakery(tmp_path_factory.mktemp("workshop") / "vault")
    yield shop
    shop.memory.close()


@pytest.fixture(scope="module")
def pages(bakery: BakeryVault) -> Iterator[Site]:
    """Its pages."""
    with site(bakery.memory) as running:
        yield running


@pytest.fixture
def desktop_page(browser: Browser, pages: Site) -> Iterator[WatchedPage]:
    """A person who has signed in."""
    with watched_page(browser, pages.address) as page:
        page.set_session(pages.session(pages.token))
        yield page
