"""The tags and texts of a web page, found in linear time whatever is left open in it.

The standard library's parser searches the rest of the page again for every tag, comment and quotation that has no end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

VERBATIM_TAGS = ("script", "style")
"""Elements whose content is no markup: only their own end tag ends them."""
_MARKUP = re.compile(r"<(?:(?P<comment>!--)|[!?]|(?P<end>/)?(?P<name>[A-Za-z][^\s/>]*+))")
_QUOTE_OR_END = re.compile(r"=\s*+([\"'])|>")
_HIDING = re.compile(r"(?:^|[\s\"'/])(?:hidden(?=[\s=/>]|$)|aria-hidden\s*+=\s*+[\"']?true\b)", re.IGNORECASE)
_ATTRIBUTE_VALUE = re.compile(r"=\s*+(?:\"[^\"]*+\"|'[^']*+')")


@dataclass(frozen=True, slots=True)
class Tag:
    """A start or end tag; `is_hidden`: its attributes hide the element."""

    name: str
    is_end: bool
    is_hidden: bool


def find_tags(page: str) -> Iterator[Tag | str]:
    """Yield the tags of a page and the texts between them, without comments and declarations.

    A tag or comment that has no end is text.
    """
    ends = _TagEnds(page)
    text_start = at = 0
    while markup := _MARKUP.search(page, at):
        end = ends.find_comment_end(markup.end()) if markup["comment"] else ends.find_tag_end(markup.end())
        if end is None:
            at = markup.end()
            continue
        if text_start < markup.start():
            yield unescape(page[text_start : markup.start()])
        text_start = at = end
        if not markup["name"]:
            continue
        name = markup["name"].lower()
        yield Tag(name, markup["end"] is not None, _is_hidden(page[markup.end() : end - 1]))
        if name in VERBATIM_TAGS and not markup["end"]:
            text_start = at = ends.find_end_tag(name, end)
    if text_start < len(page):
        yield unescape(page[text_start:])


def _is_hidden(attributes: str) -> bool:
    """Return whether the attributes of a tag hide the element; the words inside other values do not."""
    if "hidden" not in attributes.lower():
        return False
    plain = _ATTRIBUTE_VALUE.sub(lambda value: value[0] if len(value[0]) < 9 else "=x", attributes)
    return _HIDING.search(plain) is not None


class _TagEnds:
    """Finds where tags, comments and verbatim elements end; no part of the page is searched twice."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._events = list(_QUOTE_OR_END.finditer(page))
        self._starts = [event.start() for event in self._events]
        self._end_after: dict[int, int | None] = {len(self._events): None}
        self._last_comment_end = page.rfind("-->")

    def find_comment_end(self, start: int) -> int | None:
        """Return where a comment ends that begins here; None if it has no end."""
        return self._page.index("-->", start) + 3 if start <= self._last_comment_end else None

    def find_tag_end(self, start: int) -> int | None:
        """Return the position after the `>` that ends a tag, outside of quoted values; None if there is none."""
        passed: list[int] = []
        n = bisect_left(self._starts, start)
        while n not in self._end_after:
            passed.append(n)
            event = self._events[n]
            close = self._page.find(event[1], event.end()) if event[1] else -1
            if event[1] is None:
                self._end_after[n] = event.end()
            elif close < 0:
                self._end_after[n] = None
            else:
                n = bisect_left(self._starts, close + 1)
        end = self._end_after[n]
        self._end_after |= dict.fromkeys(passed, end)
        return end

    def find_end_tag(self, name: str, start: int) -> int:
        """Return where the end tag of a verbatim element begins, or the end of the page."""
        end_tag = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(self._page, start)
        return end_tag.start() if end_tag else len(self._page)
