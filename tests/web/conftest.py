from __future__ import annotations

from collections.abc import Iterator

import pytest
from chromium import Watched, chromium, watched
from playwright.sync_api import Browser
from web_server import Site, site
from workshop import Workshop, workshop


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of a file: while it is there no other event loop can run in this thread."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """The made vault."""
    shop = workshop(tmp_path_factory.mktemp("workshop") / "vault")
    yield shop
    shop.memory.close()


@pytest.fixture(scope="module")
def pages(made: Workshop) -> Iterator[Site]:
    """Its pages."""
    with site(made.memory) as running:
        yield running


@pytest.fixture
def desk_page(browser: Browser, pages: Site) -> Iterator[Watched]:
    """A person who has signed in."""
    with watched(browser, pages.address) as told:
        told.hold(pages.session(pages.token))
        yield told
