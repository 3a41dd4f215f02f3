"""Splits text into word pieces, with the position of each and whether it is a word or only punctuation, and into chunks
short enough for one vector to represent each."""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

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


_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ASCII_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True, slots=True)
class WordPieces:
    """The word pieces of a text, without special tokens."""

    ids: NDArray[np.int64]
    spans: tuple[Span, ...]
    is_word: NDArray[np.bool_]
    """Which pieces are more than punctuation or white space."""

    def first(self, count: int) -> WordPieces:
        """Return the first so many pieces."""
        return self.between(0, count)

    def between(self, first: int, last: int) -> WordPieces:
        """Return the pieces from one index up to another."""
        return WordPieces(self.ids[first:last], self.spans[first:last], self.is_word[first:last])


class Tokeniser:
    """A tokenizer.json, loaded. Safe to share between threads."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def id_of(self, token: str) -> int:
        """Return the id of a token that the tokenizer must have."""
        token_id = self._tokenizer.token_to_id(token)
        assert token_id is not None, f"a tokenizer without {token}"
        return int(token_id)

    def count(self, text: str) -> int:
        """Return how many word pieces a text has."""
        return len(self._tokenizer.encode(_SURROGATE.sub("?", text), add_special_tokens=False).ids)

    def encode(self, text: str) -> WordPieces:
        """Return the word pieces of a text."""
        # Unpaired surrogates cannot be encoded; each is replaced by one character, so that positions stay right.
        text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        spans = tuple(_trim_space(text, start, end) for start, end in encoded.offsets)
        words = np.fromiter((_has_word_character(text[start:end]) for start, end in spans), np.bool_, len(spans))
        return WordPieces(np.array(encoded.ids, np.int64), spans, words)


def _trim_space(text: str, start: int, end: int) -> Span:
    """Return the span without the white space that some tokenizers include before a word."""
    while start < end and text[start].isspace():
        start += 1
    return start, end


def _has_word_character(text: str) -> bool:
    return text.isalnum() or any(category(char)[0] not in "PZC" and char not in _ASCII_PUNCTUATION for char in text)
