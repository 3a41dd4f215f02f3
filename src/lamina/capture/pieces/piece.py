"""The piece that becomes a passage, and where a text that is too long for one is split."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.text.sentences import sentences

PARAGRAPH_LIMIT = 4_000
TURN_LIMIT = 12_000
"""A turn or a fenced block is one piece up to the size of a whole segment."""

_JOINERS = "\u200c\u200d"
_LONGEST_CLUSTER = 32


@dataclass(frozen=True, slots=True)
class Piece:
    """One turn, paragraph or definition before it is stored in a segment.

    `context` is what is above it and not part of its words ("Setup > Install", "class Store"); `page` is the page,
    slide or sheet it comes from.
    """

    text: str
    speaker: str | None = None
    at: datetime | None = None
    context: str = ""
    page: str = ""


def cut_spans(
    text: str, start: int, end: int, limit: int, stops: Sequence[int], better: Sequence[int] = ()
) -> Iterator[tuple[int, int]]:
    """Yield the span in parts of at most `limit` characters, each ending at the last stop that fits, else at a space.

    Stops are sorted positions where a part may begin; `preferred_stops` are taken if the part is at least half full.
    Together the parts contain every character except line ends at cuts. Without a stop or space, a part ends at any
    character.
    """
    while end - start > limit:
        cut = _last(better, start + limit // 2, start + limit) or _last(stops, start, start + limit)
        cut = cut or _space(text, start, start + limit)
        yield from _trimmed(text, start, cut)
        start = cut
    yield from _trimmed(text, start, end)


def _last(stops: Sequence[int], after: int, limit: int) -> int | None:
    at = bisect_right(stops, limit) - 1
    return stops[at] if at >= 0 and stops[at] > after else None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start] == "\n":
        start += 1
    while start < end and text[end - 1] == "\n":
        end -= 1
    if start < end and not text[start:end].isspace():
        yield start, end


def _space(text: str, start: int, end: int) -> int:
    cut = max(text.rfind(space, start + 1, end) for space in " \n\t\u3000") + 1
    return cut if cut > start + 1 else _between_characters(text, start, end)


def _between_characters(text: str, start: int, end: int) -> int:
    """Return a position that separates no letter from its marks and no emoji from its modifiers."""
    for cut in range(end, max(start, end - _LONGEST_CLUSTER), -1):
        if not (_extends(text[cut]) or text[cut - 1] in _JOINERS):
            return cut
    return end


def _extends(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"


_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


def paragraphs(text: str) -> Iterator[Piece]:
    """Yield the paragraphs of a text: split at blank lines, very long ones at sentence or line ends."""
    start = 0
    for blank in _BLANK.finditer(text):
        yield from _cut(text, start, blank.start())
        start = blank.end()
    yield from _cut(text, start, len(text))


def cut_turn(text: str, limit: int) -> Iterator[str]:
    """Yield the words of a turn, whole unless they exceed the limit."""
    stops = sentence_starts(text, 0, len(text)) if len(text) > limit else []
    yield from (text[a:b] for a, b in cut_spans(text, 0, len(text), limit, stops))


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Return where the sentences of a span begin."""
    return [start + first for first, _ in sentences(text[start:end])]


def _cut(text: str, start: int, end: int) -> Iterator[Piece]:
    stops = sentence_starts(text, start, end) if end - start > PARAGRAPH_LIMIT else []
    for first, last in cut_spans(text, start, end, PARAGRAPH_LIMIT, stops):
        yield Piece(text[first:last])
