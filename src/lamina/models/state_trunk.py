"""The token states that the state model reads: those of the transformer, or static vectors without it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lamina.models.light_embedder import WordLlama
from lamina.models.minilm import DIMENSIONS, open_network
from lamina.models.tokeniser import WordPieces
from lamina.vectors.integer_vectors import Floats

FIRST_WORD = 1000
"""The transformer's word pieces with a lower id are punctuation, letters and other signs."""


class StateTrunk(Protocol):
    """Turns a text into token states; the first and the last row belong to no word."""

    @property
    def name(self) -> str:
        """The name by which the weights for these states are stored."""

    @property
    def dimensions(self) -> int:
        """The width of a state."""

    def tokens(self, text: str) -> WordPieces:
        """Return the word pieces of a text."""

    def is_word(self, tokens: WordPieces) -> NDArray[np.bool_]:
        """Return which word pieces are neither punctuation nor a single letter or other sign."""

    def states(self, ids: NDArray[np.int64]) -> Floats:
        """Return the state of every word piece, with one row in front and one behind for the special tokens."""

    def meanings(self, ids: NDArray[np.int64]) -> Floats:
        """Return for each word piece the vector by which texts are matched, in the same order."""


class MiniLmTrunk:
    """The states of the transformer's middle layer, which the embedder's run computes as well."""

    name, dimensions = "minilm", DIMENSIONS

    def __init__(self, folder: Path) -> None:
        self.network = open_network(folder)

    def tokens(self, text: str) -> WordPieces:
        return self.network.tokeniser.encode(text)

    def is_word(self, tokens: WordPieces) -> NDArray[np.bool_]:
        return np.asarray(tokens.ids >= FIRST_WORD, np.bool_)

    def states(self, ids: NDArray[np.int64]) -> Floats:
        return self.network.states(ids).middle

    def meanings(self, ids: NDArray[np.int64]) -> Floats:
        return self.network.states(ids).last


class LightTrunk:
    """Static vectors of word pieces and their positions, for machines without the transformer's files."""

    name, dimensions = "light", 256

    def __init__(self, words: WordLlama) -> None:
        self._words = words

    def tokens(self, text: str) -> WordPieces:
        return self._words.tokens(text)

    def is_word(self, tokens: WordPieces) -> NDArray[np.bool_]:
        return np.asarray(tokens.is_word, np.bool_)

    def states(self, ids: NDArray[np.int64]) -> Floats:
        return self.meanings(ids) + _position_vectors(len(ids) + 2, self.dimensions)

    def meanings(self, ids: NDArray[np.int64]) -> Floats:
        edge = np.zeros((1, self.dimensions), np.float32)
        return np.concatenate((edge, self._words.piece_vectors(ids), edge))


POSITION_SCALE = 0.3
"""How strong a word's position is relative to its meaning: with 1 it would be as strong as the longest vectors."""


@cache
def _position_vectors(count: int, dimensions: int) -> Floats:
    """Return a vector for each position: sines and cosines of many wavelengths."""
    rates = 10_000.0 ** (-np.arange(dimensions // 2) / (dimensions // 2))
    angles = np.arange(count)[:, None] * rates
    vectors = POSITION_SCALE * np.concatenate((np.sin(angles), np.cos(angles)), axis=1).astype(np.float32)
    vectors.setflags(write=False)
    return np.asarray(vectors, np.float32)
