"""Splits a text into chunks short enough for one vector to represent each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from lamina.text.sentences import find_sentences

Span = tuple[int, int]

MAX_CHUNK_PIECES = 64
"""The most word pieces of a chunk."""


def split_into_chunks(text: str, pieces: Sequence[Span], limit: int = MAX_CHUNK_PIECES) -> list[Span]:
    """Return the (first, after last) word piece of each chunk: as many sentences as fit; a sentence that is too long is
    cut.

    `pieces` are the positions of the word pieces in the text. Every piece is in exactly one chunk, in order.
    """
    parts: list[Span] = []
    start = end = 0
    for bound in _sentence_bounds(text, pieces):
        if bound - start > limit and end > start:
            parts.append((start, end))
            start = end
        while bound - start > limit:
            parts.append((start, start + limit))
            start += limit
        end = bound
    return [*parts, (start, end)] if end > start else parts


def _sentence_bounds(text: str, pieces: Sequence[Span]) -> list[int]:
    """Return how many pieces there are up to the end of each sentence."""
    starts = [start for start, _ in pieces]
    ends = [bisect_left(starts, end) for _, end in find_sentences(text)]
    return [*ends[:-1], len(pieces)]
