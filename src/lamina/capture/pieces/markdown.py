"""Markdown: one piece for each paragraph, a heading with the text after it, the headings above as context."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.pieces.fences import fences, outside
from lamina.capture.pieces.piece import PARAGRAPH_LIMIT, TURN_LIMIT, Piece, cut_spans, sentence_starts

_BLANK = re.compile(r"\n(?:[ \t]*\n)+|\A(?:[ \t]*\n)+")
_ATX = re.compile(r"(?m)^ {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<title>[^\n]*?))?[ \t]*$")
_SETEXT = re.compile(r"(?m)^ {0,3}(?P<title>\S[^\n]*)\n {0,3}(?P<rule>={2,}|-{2,})[ \t]*$")
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_FRONTMATTER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?=\n|\Z)", re.DOTALL)
_BETWEEN = " > "


def markdown(text: str) -> Iterator[Piece]:
    """Yield the pieces of a markdown text; a fenced block is never split if a segment can hold it."""
    path = _Path()
    open_headings: list[tuple[int, str]] = []
    first: int | None = None
    for start, end, is_code in _blocks(text):
        headings = [] if is_code else _headings(text[start:end])
        open_headings += headings
        first = start if first is None else first
        if headings and end - first <= PARAGRAPH_LIMIT and _only_headings(text[start:end], headings):
            continue
        yield from _cut(text, first, end, path, open_headings)
        open_headings, first = [], None
    if first is not None:
        yield from _cut(text, first, len(text.rstrip()), path, open_headings)


class _Path:
    """The headings above the current position in the text."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """Replace the headings of this level and below by a new one."""
        self._open = [heading for heading in self._open if heading[0] < level]
        self._open.append((level, title))

    def above(self, level: int) -> str:
        """Return the headings above a level, joined."""
        return _BETWEEN.join(title for depth, title in self._open if depth < level and title)

    def __str__(self) -> str:
        return self.above(7)


def _cut(text: str, start: int, end: int, path: _Path, headings: list[tuple[int, str]]) -> Iterator[Piece]:
    context = path.above(min(level for level, _ in headings)) if headings else str(path)
    for level, title in headings:
        path.enter(level, title)
    code_spans: list[tuple[int, int]] = []
    stops: list[int] = []
    if end - start > PARAGRAPH_LIMIT:
        code_spans = [(start + a, start + b) for a, b in fences(text[start:end])]
        stops = _stops(text, start, end, code_spans)
    for first, last in _parts(text, start, end, stops, code_spans):
        yield Piece(text[first:last], context=context)
        context = str(path)


def _parts(
    text: str, start: int, end: int, stops: list[int], inner: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield spans of a block: its fenced blocks whole, the text between them cut to size."""
    for first, last in inner:
        yield from cut_spans(text, start, first, PARAGRAPH_LIMIT, stops)
        yield from cut_spans(
            text, first, last, TURN_LIMIT, _lines(text, first, last) if last - first > TURN_LIMIT else []
        )
        start = last
    yield from cut_spans(text, start, end, PARAGRAPH_LIMIT, stops)


def _stops(text: str, start: int, end: int, inner: list[tuple[int, int]]) -> list[int]:
    return outside(sentence_starts(text, start, end), inner)


def _lines(text: str, start: int, end: int) -> list[int]:
    return [line_end.end() for line_end in re.compile(r"\n").finditer(text, start, end)]


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the span of each block between blank lines, and whether it begins with code.

    Fenced blocks and frontmatter are not divided.
    """
    frontmatter = _FRONTMATTER.match(text)
    spans = fences(text)
    if frontmatter:
        spans = [frontmatter.span(), *(span for span in spans if span[0] >= frontmatter.end())]
    start, index = 0, 0
    for blank in _BLANK.finditer(text):
        while index < len(spans) and spans[index][1] <= blank.start():
            index += 1
        if index < len(spans) and spans[index][0] < blank.start():
            continue
        if text[start : blank.start()].strip():
            yield start, blank.start(), _begins_in(start, spans, index)
        start = blank.end()
    if text[start:].strip():
        yield start, len(text.rstrip()), _begins_in(start, spans, len(spans) - 1)


def _begins_in(start: int, spans: list[tuple[int, int]], at: int) -> bool:
    return any(first <= start < last for first, last in spans[max(0, at - 1) : at + 1])


def _headings(block: str) -> list[tuple[int, str]]:
    """Return the levels and titles of the headings in a block outside its code, in order."""
    code_spans = fences(block) if "```" in block or "~~~" in block else []
    headings = [
        (match.start(), len(match["level"]), _CLOSING.sub("", match["title"] or "")) for match in _ATX.finditer(block)
    ]
    headings += [
        (match.start(), 1 if match["rule"][0] == "=" else 2, match["title"].strip())
        for match in _SETEXT.finditer(block)
        if not match["title"].startswith(("#", "|", "-", ">", "```"))
    ]
    outside_code = set(outside(sorted(start for start, _, _ in headings), code_spans))
    return [(level, title) for start, level, title in sorted(headings) if start in outside_code]


def _only_headings(block: str, headings: list[tuple[int, str]]) -> bool:
    lines = [line for line in block.split("\n") if line.strip()]
    rules = sum(1 for line in lines if not line.strip(" \t=-"))
    return len(lines) - rules == len(headings)
