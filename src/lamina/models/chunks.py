"""A text cut into pieces short enough for one vector to say what each is about."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from lamina.text.sentences import sentences

Span = tuple[int, int]

MOST = 64
"""Word pieces a chunk."""


def chunks(text: str, pieces: Sequence[Span], most: int = MOST) -> list[Span]:
    """The (first, after last) word piece of each chunk: as many sentences as fit; one too long for a chunk is cut.

    `pieces` is where in the text each word piece stands. Every piece is in just one chunk, in order.
    """
    found: list[Span] = []
    start = end = 0
    for bound in _bounds(text, pieces):
        if bound - start > most and end > start:
            found.append((start, end))
            start = end
        while bound - start > most:
            found.append((start, start + most))
            start += most
        end = bound
    return [*found, (start, end)] if end > start else found


def _bounds(text: str, pieces: Sequence[Span]) -> list[int]:
    """How many pieces there are up to the end of each sentence."""
    starts = [start for start, _ in pieces]
    ends = [bisect_left(starts, end) for _, end in sentences(text)]
    return [*ends[:-1], len(pieces)]
