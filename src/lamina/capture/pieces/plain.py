"""Plain text: a piece a paragraph, long ones cut where a sentence ends in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.pieces.piece import PARAGRAPH_LIMIT, Piece, cut_spans
from lamina.text.sentences import sentences

_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


def paragraphs(text: str) -> Iterator[Piece]:
    """A text's paragraphs: cut at blank lines, very long ones at sentence or line ends."""
    start = 0
    for blank in _BLANK.finditer(text):
        yield from _cut(text, start, blank.start())
        start = blank.end()
    yield from _cut(text, start, len(text))


def cut_turn(text: str, limit: int) -> Iterator[str]:
    """The words of a turn, whole unless no segment could hold them."""
    stops = sentence_starts(text, 0, len(text)) if len(text) > limit else []
    yield from (text[a:b] for a, b in cut_spans(text, 0, len(text), limit, stops))


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Where the sentences of a stretch begin."""
    return [start + first for first, _ in sentences(text[start:end])]


def _cut(text: str, start: int, end: int) -> Iterator[Piece]:
    stops = sentence_starts(text, start, end) if end - start > PARAGRAPH_LIMIT else []
    for first, last in cut_spans(text, start, end, PARAGRAPH_LIMIT, stops):
        yield Piece(text[first:last])
