"""The token states that the state model reads: those of the transformer, or static vectors without it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lamina.models.light import WordLlama
from lamina.models.minilm_network import DIMENSIONS, open_network
from lamina.models.tokeniser import Tokens
from lamina.vectors.levels import Floats


class Trunk(Protocol):
    """Turns a text into token states; the first and the last row belong to no word."""

    @property
    def dimensions(self) -> int:
        """The width of a state."""

    def tokens(self, text: str) -> Tokens:
        """Return the word pieces of a text."""

    def states(self, ids: NDArray[np.int64]) -> Floats:
        """Return the state of every word piece, with one row in front and one behind for the special tokens."""


class MiniLmTrunk:
    """The states of the transformer's middle layer, which the embedder's run gives as well."""

    dimensions = DIMENSIONS

    def __init__(self, folder: Path) -> None:
        self.network = open_network(folder)

    def tokens(self, text: str) -> Tokens:
        return self.network.tokeniser.encode(text)

    def states(self, ids: NDArray[np.int64]) -> Floats:
        return self.network.states(ids).middle


class LightTrunk:
    """Static vectors of word pieces, for machines without the transformer's files."""

    dimensions = 256

    def __init__(self, words: WordLlama) -> None:
        self._words = words

    def tokens(self, text: str) -> Tokens:
        return self._words.tokens(text)

    def states(self, ids: NDArray[np.int64]) -> Floats:
        edge = np.zeros((1, self.dimensions), np.float32)
        return np.concatenate((edge, self._words.piece_vectors(ids), edge))
