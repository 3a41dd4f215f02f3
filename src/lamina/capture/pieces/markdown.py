"""Markdown: one piece for each paragraph, a heading with the text after it, the headings above as context."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.pieces.code_fences import find_code_fences, positions_outside
from lamina.capture.pieces.piece import PARAGRAPH_LIMIT, TURN_LIMIT, TextPiece, sentence_starts, split_span

_BLANK = re.compile(r"\n(?:[ \t]*\n)+|\A(?:[ \t]*\n)+")
_ATX = re.compile(r"(?m)^ {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<title>[^\n]*?))?[ \t]*$")
_SETEXT = re.compile(r"(?m)^ {0,3}(?P<title>\S[^\n]*)\n {0,3}(?P<rule>={2,}|-{2,})[ \t]*$")
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_FRONTMATTER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?=\n|\Z)", re.DOTALL)
_CONTEXT_SEPARATOR = " > "


def split_markdown(text: str) -> Iterator[TextPiece]:
    """Yield the pieces of a markdown text; a fenced block is never split if a segment can hold it."""
    path = _HeadingPath()
    open_headings: list[tuple[int, str]] = []
    first: int | None = None
    for start, end, is_code in _find_blocks(text):
        headings = [] if is_code else _find_headings(text[start:end])
        open_headings += headings
        first = start if first is None else first
        if headings and end - first <= PARAGRAPH_LIMIT and _has_only_headings(text[start:end], headings):
            continue
        yield from _split_block(text, first, end, path, open_headings)
        open_headings, first = [], None
    if first is not None:
        yield from _split_block(text, first, len(text.rstrip()), path, open_headings)


class _HeadingPath:
    """The headings above the current position in the text."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """Replace the headings of this level and below by a new one."""
        self._open = [heading for heading in self._open if heading[0] < level]
        self._open.append((level, title))

    def above(self, level: int) -> str:
        """Return the headings above a level, joined."""
        return _CONTEXT_SEPARATOR.join(title for depth, title in self._open if depth < level and title)

    def __str__(self) -> str:
        return self.above(7)


def _split_block(
    text: str, start: int, end: int, path: _HeadingPath, headings: list[tuple[int, str]]
) -> Iterator[TextPiece]:
    context = path.above(min(level for level, _ in headings)) if headings else str(path)
    for level, title in headings:
        path.enter(level, title)
    code_spans: list[tuple[int, int]] = []
    stops: list[int] = []
    if end - start > PARAGRAPH_LIMIT:
        code_spans = [(start + a, start + b) for a, b in find_code_fences(text[start:end])]
        stops = _sentence_starts_outside_code(text, start, end, code_spans)
    for first, last in _split_around_code(text, start, end, stops, code_spans):
        yield TextPiece(text[first:last], context=context)
        context = str(path)


def _split_around_code(
    text: str, start: int, end: int, stops: list[int], code_spans: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield spans of a block: its fenced blocks whole, the text between them cut to size."""
    for first, last in code_spans:
        yield from split_span(text, start, first, PARAGRAPH_LIMIT, stops)
        yield from split_span(
            text, first, last, TURN_LIMIT, _line_starts(text, first, last) if last - first > TURN_LIMIT else []
        )
        start = last
    yield from split_span(text, start, end, PARAGRAPH_LIMIT, stops)


def _sentence_starts_outside_code(text: str, start: int, end: int, code_spans: list[tuple[int, int]]) -> list[int]:
    return positions_outside(sentence_starts(text, start, end), code_spans)


def _line_starts(text: str, start: int, end: int) -> list[int]:
    return [line_end.end() for line_end in re.compile(r"\n").finditer(text, start, end)]


def _find_blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the span of each block between blank lines, and whether it begins with code.

    Fenced blocks and frontmatter are not divided.
    """
    frontmatter = _FRONTMATTER.match(text)
    spans = find_code_fences(text)
    if frontmatter:
        spans = [frontmatter.span(), *(span for span in spans if span[0] >= frontmatter.end())]
    start, index = 0, 0
    for blank in _BLANK.finditer(text):
        while index < len(spans) and spans[index][1] <= blank.start():
            index += 1
        if index < len(spans) and spans[index][0] < blank.start():
            continue
        if text[start : blank.start()].strip():
            yield start, blank.start(), _starts_in_span(start, spans, index)
        start = blank.end()
    if text[start:].strip():
        yield start, len(text.rstrip()), _starts_in_span(start, spans, len(spans) - 1)


def _starts_in_span(start: int, spans: list[tuple[int, int]], at: int) -> bool:
    return any(first <= start < last for first, last in spans[max(0, at - 1) : at + 1])


def _find_headings(block: str) -> list[tuple[int, str]]:
    """Return the levels and titles of the headings in a block outside its code, in order."""
    code_spans = find_code_fences(block) if "```" in block or "~~~" in block else []
    headings = [
        (match.start(), len(match["level"]), _CLOSING.sub("", match["title"] or "")) for match in _ATX.finditer(block)
    ]
    headings += [
        (match.start(), 1 if match["rule"][0] == "=" else 2, match["title"].strip())
        for match in _SETEXT.finditer(block)
        if not match["title"].startswith(("#", "|", "-", ">", "```"))
    ]
    outside_code = set(positions_outside(sorted(start for start, _, _ in headings), code_spans))
    return [(level, title) for start, level, title in sorted(headings) if start in outside_code]


def _has_only_headings(block: str, headings: list[tuple[int, str]]) -> bool:
    lines = [line for line in block.split("\n") if line.strip()]
    rules = sum(1 for line in lines if not line.strip(" \t=-"))
    return len(lines) - rules == len(headings)
