"""The web page: the same memory in a browser. It calls `Memory` and renders the results; it decides nothing."""

from lamina.web.pages import PAGES, PageRoute, make_pages

__all__ = ["PAGES", "PageRoute", "make_pages"]
