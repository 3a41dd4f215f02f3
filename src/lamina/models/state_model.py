"""The state model: what each sentence asserts about which slot, and what a question asks for.

A slot is an attribute of a person or thing ("my phone", "staging's database version"). Sentences and questions about
the same slot have similar slot vectors, whatever the value and the wording. The weights are made by `make train`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

import numpy as np

from lamina.models.chunks import split_into_chunks
from lamina.models.onnx_session import open_weights, read_weights
from lamina.models.state_trunk import StateTrunk
from lamina.models.tokeniser import WordPieces
from lamina.text.sentences import find_sentences
from lamina.vectors.integer_vectors import Floats

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
