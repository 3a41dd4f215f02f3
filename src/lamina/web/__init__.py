"""The web page: the same memory, for a person who keeps it open. It asks a seat and renders; it decides nothing."""

from lamina.web.pages import PAGES, Page, make_pages

__all__ = ["PAGES", "Page", "make_pages"]
