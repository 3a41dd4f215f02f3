"""The piece that becomes a passage, where a text that is too long for one is split, and the fences that are not."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.text.sentences import find_sentences

_FENCE = re.compile(r"(?m)^ {0,3}(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$")


def find_code_fences(text: str, *, only_closed: bool = False) -> list[tuple[int, int]]:
    """Return the spans of fenced blocks, in order; an unclosed one runs to the end, unless `only_closed`."""
    spans: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            opening = line
        elif _closes(line, opening["mark"]):
            spans.append((opening.start(), line.end()))
            opening = None
    if opening is not None and not only_closed:
        spans.append((opening.start(), len(text)))
    return spans


def positions_outside(positions: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the positions that are in none of the spans; both are sorted."""
    result, at = [], 0
    for stop in positions:
        while at < len(spans) and spans[at][1] <= stop:
            at += 1
        if at == len(spans) or stop <= spans[at][0]:
            result.append(stop)
    return result


def _closes(line: re.Match[str], mark: str) -> bool:
    return line["mark"][0] == mark[0] and len(line["mark"]) >= len(mark) and not line["info"].strip()


PARAGRAPH_LIMIT = 4_000
TURN_LIMIT = 12_000
"""A turn or a fenced block is one piece up to the size of a whole segment."""

_JOINERS = "\u200c\u200d"
_MAX_CLUSTER_CHARS = 32


@dataclass(frozen=True, slots=True)
class TextPiece:
    """One turn, paragraph or definition before it is stored in a segment.

    `context` is what is above it and not part of its words ("Setup > Install", "class Store"); `page` is the page,
    slide or sheet it comes from.
    """

    text: str
    speaker: str | None = None
    at: datetime | None = None
    context: str = ""
    page: str = ""


def split_span(
    text: str, start: int, end: int, limit: int, stops: Sequence[int], preferred_stops: Sequence[int] = ()
) -> Iterator[tuple[int, int]]:
    """Yield the span in parts of at most `limit` characters, each ending at the last stop that fits, else at a space.

    Stops are sorted positions where a part may begin; `preferred_stops` are taken if the part is at least half full.
    Together the parts contain every character except line ends at cuts. Without a stop or space, a part ends at any
    character.
    """
    while end - start > limit:
        cut = _find_last_stop(preferred_stops, start + limit // 2, start + limit) or _find_last_stop(
            stops, start, start + limit
        )
        cut = cut or _find_space(text, start, start + limit)
        yield from _trim_line_ends(text, start, cut)
        start = cut
    yield from _trim_line_ends(text, start, end)


def _find_last_stop(stops: Sequence[int], after: int, limit: int) -> int | None:
    at = bisect_right(stops, limit) - 1
    return stops[at] if at >= 0 and stops[at] > after else None


def _trim_line_ends(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start] == "\n":
        start += 1
    while start < end and text[end - 1] == "\n":
        end -= 1
    if start < end and not text[start:end].isspace():
        yield start, end


def _find_space(text: str, start: int, end: int) -> int:
    cut = max(text.rfind(space, start + 1, end) for space in " \n\t\u3000") + 1
    return cut if cut > start + 1 else _find_character_boundary(text, start, end)


def _find_character_boundary(text: str, start: int, end: int) -> int:
    """Return a position that separates no letter from its marks and no emoji from its modifiers."""
    for cut in range(end, max(start, end - _MAX_CLUSTER_CHARS), -1):
        if not (_is_combining(text[cut]) or text[cut - 1] in _JOINERS):
            return cut
    return end


def _is_combining(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char)[0] == "M" or "\U0001f3fb" <= char <= "\U0001f3ff"


_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


def split_paragraphs(text: str) -> Iterator[TextPiece]:
    """Yield the paragraphs of a text: split at blank lines, very long ones at sentence or line ends."""
    start = 0
    for blank in _BLANK.finditer(text):
        yield from _split_paragraph(text, start, blank.start())
        start = blank.end()
    yield from _split_paragraph(text, start, len(text))


def split_turn(text: str, limit: int) -> Iterator[str]:
    """Yield the words of a turn, whole unless they exceed the limit."""
    stops = sentence_starts(text, 0, len(text)) if len(text) > limit else []
    yield from (text[a:b] for a, b in split_span(text, 0, len(text), limit, stops))


def sentence_starts(text: str, start: int, end: int) -> list[int]:
    """Return where the sentences of a span begin."""
    return [start + first for first, _ in find_sentences(text[start:end])]


def _split_paragraph(text: str, start: int, end: int) -> Iterator[TextPiece]:
    stops = sentence_starts(text, start, end) if end - start > PARAGRAPH_LIMIT else []
    for first, last in split_span(text, start, end, PARAGRAPH_LIMIT, stops):
        yield TextPiece(text[first:last])
