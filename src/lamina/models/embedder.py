"""The interface of embedding models: passages and questions in, vectors and token states out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats, LevelRows

CACHED_QUESTIONS = 1_000


class TokenStates(StrEnum):
    """The packing of an embedder's token states for late interaction."""

    NONE = "none"
    """No token states: one vector for each chunk is all there is."""
    SIGNS = "signs"
    """The sign of every dimension of every token's contextual state, one bit each (`vectors/stored_vectors.py`)."""
    NIBBLES = "nibbles"
    """One of sixteen levels for every dimension of every token's contextual state, half a byte each."""
    PIECES = "pieces"
    """The distinct token ids as little-endian uint16; each id has one fixed vector in the embedder's table."""
    SENTENCES = "sentences"
    """What the state model reads from each sentence (`models/sentence_state_encoder.py`); not for late interaction."""


CONTEXTUAL = frozenset({TokenStates.SIGNS, TokenStates.NIBBLES})
"""States of a token in its sentence; the same state packed with more or fewer bits."""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """The model that a vector came from, and how it packs token states. Vectors of different ids are never compared."""

    id: str
    dimensions: int
    states: TokenStates


@dataclass(frozen=True, slots=True)
class TextToEncode:
    """A text to be encoded; `chunks` is how many of its chunks count at most; `is_quoted`: its words are part of a
    captured passage that is encoded itself."""

    text: str
    chunks: int
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class EncodedText:
    """An encoded passage: a unit vector for each chunk (at least one), and the packed states of its tokens."""

    vectors: Floats
    states: bytes


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """An encoded question: one unit vector, and for each token its unit state and its position in the text.

    Special tokens and punctuation are left out; an embedder without token states returns no tokens. If states are ids,
    `rows` returns the unit vectors of ids.
    """

    vector: Floats
    tokens: Floats
    spans: tuple[tuple[int, int], ...]
    rows: Callable[[NDArray[np.int64]], LevelRows] | None = None


class Embedder(Protocol):
    """Turns text into numbers; the same text always gives the same numbers, whatever is encoded with it."""

    @property
    def model(self) -> EmbeddingModel:
        """The model."""

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        """Encode passages, in the order given."""

    def encode_question(self, text: str) -> EncodedQuestion:
        """Encode a question."""


class CachingEmbedder:
    """An embedder that caches the last questions, because results are paged and agents repeat themselves."""

    def __init__(self, embedder: Embedder, limit: int = CACHED_QUESTIONS) -> None:
        self.embedder = embedder
        self._cached_question = lru_cache(limit)(self._encode_question)

    @property
    def model(self) -> EmbeddingModel:
        """The model of the wrapped embedder."""
        return self.embedder.model

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        """Encode passages; they are not cached."""
        return self.embedder.encode_passages(texts)

    def encode_question(self, text: str) -> EncodedQuestion:
        """Encode a question, or return it from the cache. Threads may share it."""
        return self._cached_question(text)

    def _encode_question(self, text: str) -> EncodedQuestion:
        encoded = self.embedder.encode_question(text)
        encoded.vector.setflags(write=False)
        encoded.tokens.setflags(write=False)
        return encoded
