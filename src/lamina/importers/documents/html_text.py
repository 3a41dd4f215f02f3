"""Convert web pages to markdown: the text a reader sees."""

from __future__ import annotations

import re

from lamina.importers.documents.html_scanner import VERBATIM_TAGS, Tag, find_tags
from lamina.text.normal_form import one_line

_BLOCK_TAGS = """
    address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4
    h5 h6 header hr html li main ol p pre section summary table tbody td tfoot th thead tr ul title option
"""
_HIDDEN_TAGS = "script style noscript template svg math iframe object canvas nav select button"
_VOID_TAGS = "area base br col embed hr img input link meta source track wbr"
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_HIDDEN = frozenset(_HIDDEN_TAGS.split())
_VOID = frozenset(_VOID_TAGS.split())
_CELLS = ("td", "th")
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)


def find_declared_encoding(data: bytes) -> str | None:
    """Return the encoding that a page declares, or None."""
    match = _CHARSET.search(data[:4096])
    return match[1].decode("ascii") if match else None


def html_to_markdown(text: str) -> tuple[str | None, str]:
    """Return a page's title and its text as markdown: headings, list items, rows, code and paragraphs."""
    page = _MarkdownBuilder()
    for part in find_tags(text):
        match part:
            case str():
                page.add_text(part)
            case Tag(is_end=True):
                page.end_tag(part.name)
            case Tag():
                page.start_tag(part)
    return page.finish()


class _MarkdownBuilder:
    """The text of a page while its tags are read."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._title: list[str] = []
        self._hidden_tags: list[str] = []
        self._first_hidden_block = 0
        self._in_title = False
        self._pre = 0
        self._prefix = ""

    def start_tag(self, tag: Tag) -> None:
        """Begin an element."""
        if tag.name in _VOID:
            if tag.name in ("br", "hr"):
                self._line.append("\n")
            return
        if self._hidden_tags:
            if tag.name == self._hidden_tags[-1]:
                self._hidden_tags.append(tag.name)
        elif tag.name in _HIDDEN or tag.is_hidden:
            self._end_block()
            self._hidden_tags.append(tag.name)
            self._first_hidden_block = len(self._blocks)
        else:
            self._open(tag.name)

    def end_tag(self, name: str) -> None:
        """End an element; what is in a hidden one is dropped."""
        if self._hidden_tags:
            if name == self._hidden_tags[-1]:
                self._hidden_tags.pop()
                self._end_block()
                if not self._hidden_tags:
                    del self._blocks[self._first_hidden_block :]
            return
        if name == "title":
            self._in_title = False
        elif name in _BLOCKS and name not in _CELLS:
            self._end_block()
        if name == "pre":
            self._pre = max(0, self._pre - 1)

    def add_text(self, text: str) -> None:
        """Add the text between two tags."""
        if self._in_title:
            self._title.append(text)
        elif not (self._hidden_tags and self._hidden_tags[-1] in VERBATIM_TAGS):
            self._line.append(text if self._pre else re.sub(r"\s+", " ", text))

    def _open(self, tag: str) -> None:
        if tag == "title":
            self._in_title = True
        elif tag in _CELLS:
            self._line += [" | "] if any(map(str.strip, self._line)) else []
        elif tag in _BLOCKS:
            self._end_block()
            self._prefix = (
                f"{'#' * int(tag[1])} " if re.fullmatch("h[1-6]", tag) else "- " if tag == "li" else self._prefix
            )
            self._pre += tag == "pre"

    def _end_block(self) -> None:
        text = "".join(self._line)
        words = text.strip("\n").rstrip() if self._pre else _collapse_spaces(text)
        self._line.clear()
        if not words.strip():
            return
        if self._pre:
            fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", words))])
            words = f"{fence}\n{words}\n{fence}"
        self._blocks.append(self._prefix + (one_line(words) if self._prefix.startswith("#") else words))
        self._prefix = ""

    def finish(self) -> tuple[str | None, str]:
        """Return title and text; an element that hides its content and is never closed hides nothing."""
        self._end_block()
        return one_line("".join(self._title)) or None, _join_blocks(self._blocks)


def _collapse_spaces(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _join_blocks(blocks: list[str]) -> str:
    """Join list items and table rows with line breaks, everything else with blank lines."""
    out: list[str] = []
    for before, block in zip(["", *blocks], blocks, strict=False):
        together = (before.startswith("- ") and block.startswith("- ")) or (" | " in before and " | " in block)
        out += ["\n" if together else "\n\n" if out else "", block]
    return "".join(out)
