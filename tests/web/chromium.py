"""A real browser that tells whatever goes wrong on a page: errors, dialogs, and requests to anywhere else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright

from lamina.http.browser_session import SESSION_COOKIE

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
DESKTOP, PHONE = (1280, 800), (390, 844)
TIMEOUT_MS = 15_000

Theme = Literal["light", "dark"]


@dataclass(slots=True)
class WatchedPage:
    """A page and what was noticed on it. `page` may be driven; at the end nothing may have been noticed."""

    page: Page
    address: str
    noticed: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)

    def set_session(self, session: str | None) -> None:
        """Be signed in, as after showing a token."""
        assert session is not None
        self.page.context.add_cookies(
            [{"name": SESSION_COOKIE, "value": session, "url": self.address, "sameSite": "Strict"}]
        )


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window; skips where there is none."""
    path = next((result for name in NAMES if (result := shutil.which(name))), None)
    if path is None:
        pytest.skip("no chromium is installed; `python scripts/browser.py` gets it")
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched_page(
    browser: Browser, address: str, size: tuple[int, int] = DESKTOP, theme: Theme = "light"
) -> Iterator[WatchedPage]:
    """A page that must raise no error, open no dialog and ask nobody else."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=theme,
        has_touch=size == PHONE,
        reduced_motion="reduce",
    )
    context.set_default_timeout(TIMEOUT_MS)
    try:
        page = WatchedPage(context.new_page(), address)
        _watch(context, page)
        yield page
    finally:
        context.close()
    assert not page.noticed


def _watch(context: BrowserContext, actual: WatchedPage) -> None:
    def result(route: Route) -> None:
        if route.request.url.startswith((actual.address, "data:", "blob:")):
            route.continue_()
            return
        actual.noticed.append(f"asked {route.request.url}")
        route.abort()

    context.route("**/*", result)
    page = actual.page
    page.on("console", lambda item: actual.noticed.append(item.text) if item.type in ("error", "warning") else None)
    page.on("pageerror", lambda item: actual.noticed.append(f"page error: {item}"))

    def dialog(item: object) -> None:
        actual.noticed.append("a dialog opened")
        item.dismiss()  # type: ignore[attr-defined]

    page.on("dialog", dialog)
