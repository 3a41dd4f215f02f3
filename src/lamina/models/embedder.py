"""What an embedder is: passages and questions in, vectors and token states out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import Floats, Rows


class TokenStates(StrEnum):
    """How an embedder's token states are packed for late interaction."""

    NONE = "none"
    """It gives none: one vector a chunk is all there is."""
    SIGNS = "signs"
    """The sign of every dimension of every token's contextual state, a bit each (`vectors/packed.py`)."""
    NIBBLES = "nibbles"
    """One of sixteen levels for every dimension of every token's contextual state, half a byte each."""
    PIECES = "pieces"
    """The distinct token ids as little-endian uint16; each id has one fixed vector in the embedder's table."""
    SENTENCES = "sentences"
    """What the state model says of each sentence (`models/state_encoder.py`); not for late interaction."""


CONTEXTUAL = frozenset({TokenStates.SIGNS, TokenStates.NIBBLES})
"""States of a token in its sentence; the same state packed more or less finely."""


@dataclass(frozen=True, slots=True)
class Model:
    """Which model a vector came from, and how it packs token states. Vectors of different ids are never compared."""

    id: str
    dimensions: int
    states: TokenStates


@dataclass(frozen=True, slots=True)
class Piece:
    """A text to be embedded; `chunks` is how many chunks of it count at most; `is_quoted`: its words are part of
    captured words that are embedded themselves."""

    text: str
    chunks: int
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class Encoded:
    """A passage as an embedder sees it: a unit vector a chunk (at least one), and its tokens' states, packed."""

    vectors: Floats
    states: bytes


@dataclass(frozen=True, slots=True)
class Probe:
    """A question as an embedder sees it: one unit vector, and for each token its unit state and its place in the text.

    Special tokens and punctuation are left out; an embedder without token states gives no tokens. Where states are
    ids, `rows` gives the unit vectors of ids.
    """

    vector: Floats
    tokens: Floats
    spans: tuple[tuple[int, int], ...]
    rows: Callable[[NDArray[np.int64]], Rows] | None = None


class Embedder(Protocol):
    """Turns text into numbers; the same text always gives the same numbers, whatever is asked beside it."""

    @property
    def model(self) -> Model:
        """Which model this is."""

    def passages(self, pieces: Sequence[Piece]) -> list[Encoded]:
        """What is stored, in the order given."""

    def question(self, text: str) -> Probe:
        """What is asked."""
