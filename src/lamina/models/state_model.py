"""The state model: what each sentence asserts about which slot, and what a question asks for.

A slot is an attribute of a person or thing ("my phone", "staging's database version"). Sentences and questions about
the same slot have similar slot vectors, whatever the value and the wording. The weights are made by `make train`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lamina.models.light_embedder import WordLlama
from lamina.models.minilm import DIMENSIONS, open_network
from lamina.models.onnx_models import open_weights, read_weights
from lamina.models.tokeniser import WordPieces, split_into_chunks
from lamina.text.sentences import find_sentences
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


MAX_CHARACTERS = 20_000
"""Characters of a text that are read."""
MAX_CHUNKS = 32
CACHED_TEXTS = 1024


class SentenceMood(StrEnum):
    """A mood of a sentence; only CURRENT asserts that a value holds now."""

    NONE = "none"
    CURRENT = "current"
    PAST = "past"
    PLAN = "plan"
    HYPOTHETICAL = "hyp"
    JOKE = "joke"
    QUOTE = "quote"
    QUESTION = "ask"


class QuestionTarget(StrEnum):
    """A type of thing that a question asks for."""

    CURRENT = "current"
    PAST = "past"
    LIST = "list"
    YES_NO = "yesno"
    NO_STATE = "none"


@dataclass(frozen=True, slots=True)
class SentenceState:
    """The model's reading of one sentence; `start`, `end` and `value` are offsets in the text.

    `asserts` is the probability that it asserts a current value; `is_own` that the value is the speaker's own;
    `is_many` that the slot has several values at once; `forget`, `keep_out` and `secret` that it asks to forget
    something said earlier, asks not to store what is being said, or contains a password, code or login.
    """

    start: int
    end: int
    slot: Floats
    mood: SentenceMood
    asserts: float
    is_own: float
    is_many: float
    forget: float
    keep_out: float
    secret: float
    value: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class QuestionState:
    """The model's reading of a question: the probability of each target, and the slot it asks about."""

    slot: Floats
    asks: dict[QuestionTarget, float]

    @property
    def asks_current(self) -> float:
        """The probability that the current value of a slot is wanted."""
        return self.asks[QuestionTarget.CURRENT] + self.asks[QuestionTarget.YES_NO]


class StateModel:
    """Reads texts and questions. Loaded at first use; threads may share it. The same text always gives the same result,
    whatever is read beside it."""

    def __init__(self, trunk: StateTrunk) -> None:
        self._trunk, self.name = trunk, f"state_{trunk.name}.onnx"
        self._read_cached = lru_cache(CACHED_TEXTS)(self._read_uncached)

    @property
    def dimensions(self) -> int:
        """The width of a slot vector."""
        return self._trunk.dimensions

    @cached_property
    def id(self) -> str:
        """The name of the weights: their kind and the first digits of their SHA-256."""
        return f"{self.name.removesuffix('.onnx')}@{hashlib.sha256(read_weights(self.name)).hexdigest()[:8]}"

    def read(self, text: str) -> Sequence[SentenceState]:
        """Return the states of a text's sentences, in order; sentences beyond the length limits are left out.

        A turn is read for statements, for requests and for the index, so the last results are cached.
        """
        return self._read_cached(text)

    def _read_uncached(self, text: str) -> tuple[SentenceState, ...]:
        text = text[:MAX_CHARACTERS]
        tokens = self._trunk.tokens(text)
        spans = find_sentences(text)
        states: list[SentenceState] = []
        for first, last in split_into_chunks(text, tokens.spans)[:MAX_CHUNKS]:
            states += self._read_chunk(spans, tokens.between(first, last))
        return tuple(states)

    def ask(self, question: str) -> QuestionState:
        """Return what a question asks for; the whole question is read as one sentence."""
        tokens = self._trunk.tokens(question).first(64)
        outputs = self._run(tokens, [(0, len(tokens.ids))]) if len(tokens.ids) else None
        if outputs is None:
            return QuestionState(
                np.zeros(self._trunk.dimensions, np.float32),
                {target: float(target is QuestionTarget.NO_STATE) for target in QuestionTarget},
            )
        asks = _softmax(outputs["ask"][0])
        return QuestionState(outputs["slot"][0], {target: float(asks[n]) for n, target in enumerate(QuestionTarget)})

    def _read_chunk(self, spans: Sequence[tuple[int, int]], tokens: WordPieces) -> list[SentenceState]:
        """Return the states of the sentences that have tokens in this chunk."""
        starts = np.array([start for start, _ in tokens.spans])
        bounds = [
            (start, end, first, last)
            for start, end in spans
            if (first := int(np.searchsorted(starts, start))) < (last := int(np.searchsorted(starts, end)))
        ]
        if not bounds:
            return []
        outputs = self._run(tokens, [(first, last) for _, _, first, last in bounds])
        moods = _softmax(outputs["mood"])
        is_own, many, requests = _sigmoid(outputs["own"]), _sigmoid(outputs["many"]), _sigmoid(outputs["requests"])
        every_mood = list(SentenceMood)
        return [
            SentenceState(
                start=start,
                end=end,
                slot=outputs["slot"][n],
                mood=every_mood[int(moods[n].argmax())],
                asserts=float(moods[n][every_mood.index(SentenceMood.CURRENT)]),
                is_own=float(is_own[n]),
                is_many=float(many[n]),
                forget=float(requests[n][0]),
                keep_out=float(requests[n][1]),
                secret=float(requests[n][2]),
                value=_value_span(outputs["tokens"][0][1 + first : 1 + last], tokens.spans[first:last]),
            )
            for n, (start, end, first, last) in enumerate(bounds)
        ]

    def _run(self, tokens: WordPieces, bounds: Sequence[tuple[int, int]]) -> dict[str, Floats]:
        """Run the network over one chunk; each sentence is given by its first token and the one after its last."""
        states = self._trunk.states(tokens.ids)
        inside = np.zeros((len(bounds), len(states)), np.float32)
        for row, (first, last) in enumerate(bounds):
            inside[row, 1 + first : 1 + last] = 1.0
        session = open_weights(self.name)
        names = [output.name for output in session.get_outputs()]
        results = session.run(None, {"states": states[None], "inside": inside})
        return dict(zip(names, (np.asarray(result, np.float32) for result in results), strict=True))


def _value_span(tokens: Floats, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the most likely value of a sentence: from its surest beginning on while tokens continue it."""
    if not len(tokens):
        return None
    chances = _softmax(tokens)
    first = int(chances[:, 1].argmax())
    if chances[first, 1] < 0.3:
        return None
    last = first
    while last + 1 < len(spans) and chances[last + 1, 2] > 0.5:
        last += 1
    return spans[first][0], spans[last][1]


def _softmax(logits: Floats) -> Floats:
    exponents = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(exponents / exponents.sum(-1, keepdims=True), np.float32)


def _sigmoid(logits: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-logits)), np.float32)
