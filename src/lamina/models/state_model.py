"""The state model: what each sentence asserts about which slot, and what a question asks for.

A slot is an attribute of a person or thing ("my phone", "staging's database version"). Sentences and questions about
the same slot have similar slot vectors, whatever the value and the wording. The weights are made by `make train`.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib.resources import files
from threading import Lock
from typing import Any

import numpy as np

from lamina.models.chunks import split_into_chunks
from lamina.models.minilm_network import open_session
from lamina.models.state_trunk import LightTrunk, MiniLmTrunk, StateTrunk
from lamina.models.tokeniser import WordPieces
from lamina.text.sentences import find_sentences
from lamina.vectors.levels import Floats

MAX_CHARACTERS = 20_000
"""Characters of a text that are read."""
MAX_CHUNKS = 32
CACHED_TEXTS = 1024


class SentenceMood(StrEnum):
    """What a sentence does; only CURRENT asserts that a value holds now."""

    NONE = "none"
    CURRENT = "current"
    PAST = "past"
    PLAN = "plan"
    HYPOTHETICAL = "hyp"
    JOKE = "joke"
    QUOTE = "quote"
    QUESTION = "ask"


class QuestionTarget(StrEnum):
    """What a question asks for."""

    CURRENT = "current"
    PAST = "past"
    LIST = "list"
    YES_NO = "yesno"
    NO_STATE = "none"


@dataclass(frozen=True, slots=True)
class SentenceState:
    """What the model reads from one sentence; `start`, `end` and `value` are offsets in the text.

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
    """What a question asks for, with the probability of each kind, and the slot it asks about."""

    slot: Floats
    asks: dict[QuestionTarget, float]

    @property
    def asks_current(self) -> float:
        """The probability that the current value of a slot is wanted."""
        return self.asks[QuestionTarget.CURRENT] + self.asks[QuestionTarget.YES_NO]


class StateModel:
    """Reads texts and questions. Loaded at first use; threads may share it. The same text always gives the same result,
    whatever is read beside it."""

    def __init__(self, trunk: StateTrunk, weights: str) -> None:
        self._trunk, self._weights, self._lock = trunk, weights, Lock()
        self._cache: OrderedDict[str, tuple[SentenceState, ...]] = OrderedDict()

    @classmethod
    def on_transformer(cls, trunk: MiniLmTrunk) -> StateModel:
        """Return the model that is based on the transformer."""
        return cls(trunk, "state_minilm.onnx")

    @classmethod
    def on_static_vectors(cls, trunk: LightTrunk) -> StateModel:
        """Return the model that is based on static vectors."""
        return cls(trunk, "state_light.onnx")

    @property
    def name(self) -> str:
        """The name of the weights file."""
        return self._weights

    @property
    def dimensions(self) -> int:
        """The width of a slot vector."""
        return self._trunk.dimensions

    @cached_property
    def id(self) -> str:
        """The name of the weights: their kind and the first digits of their SHA-256."""
        return f"{self._weights.removesuffix('.onnx')}@{hashlib.sha256(self._file).hexdigest()[:8]}"

    def read(self, text: str) -> Sequence[SentenceState]:
        """Return the states of a text's sentences, in order; sentences beyond the length limits are left out.

        A turn is read for statements, for requests and for the index, so the last results are cached.
        """
        with self._lock:
            cached = self._cache.get(text)
            if cached is not None:
                self._cache.move_to_end(text)
                return cached
        states = tuple(self._read_uncached(text[:MAX_CHARACTERS]))
        with self._lock:
            self._cache[text] = states
            while len(self._cache) > CACHED_TEXTS:
                self._cache.popitem(last=False)
        return states

    def _read_uncached(self, text: str) -> list[SentenceState]:
        tokens = self._trunk.tokens(text)
        spans = find_sentences(text)
        states: list[SentenceState] = []
        for first, last in split_into_chunks(text, tokens.spans)[:MAX_CHUNKS]:
            states += self._read_chunk(spans, tokens.between(first, last))
        return states

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
        own, many, requests = _sigmoid(outputs["own"]), _sigmoid(outputs["many"]), _sigmoid(outputs["requests"])
        every_mood = list(SentenceMood)
        return [
            SentenceState(
                start=start,
                end=end,
                slot=outputs["slot"][n],
                mood=every_mood[int(moods[n].argmax())],
                asserts=float(moods[n][every_mood.index(SentenceMood.CURRENT)]),
                is_own=float(own[n]),
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
        session = self._session
        names = [output.name for output in session.get_outputs()]
        results = session.run(None, {"states": states[None], "inside": inside})
        return dict(zip(names, (np.asarray(result, np.float32) for result in results), strict=True))

    @cached_property
    def _file(self) -> bytes:
        return (files("lamina.models") / "weights" / self._weights).read_bytes()

    @property
    def _session(self) -> Any:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        return open_session(self._file)


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
