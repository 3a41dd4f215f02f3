"""The pair model: reads two texts together, more exactly than their slot vectors can be compared, and at more cost.

It tells of an earlier and a later statement whether the later one replaces, ends or repeats the earlier one; of a
question and a passage whether the passage answers it; of a statement and a request to forget whether the request means
the statement. It reads the token states that late interaction keeps of every passage, a bit a dimension, so nothing is
encoded again. The weights are made by `make train`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.models.chunks import MOST, chunks
from lamina.models.minilm_network import DIMENSIONS, MiniLmNetwork, open_session
from lamina.models.tokeniser import Tokens
from lamina.models.unit import unit
from lamina.vectors.levels import Floats
from lamina.vectors.packed import to_signs

WEIGHTS = "pair_minilm.onnx"
LONGEST = 64
"""Word pieces of a text that are read; of a longer passage those around what is nearest to the question."""
LONGEST_CHARS = 6_000
SCALE = 4.0
"""The length of a token state: its dimensions are then about as large as the network's weights expect."""
FIRST_WORD = 1000
"""Word pieces below this number are punctuation, letters and other signs: that both texts hold one means nothing."""
CACHED_TEXTS = 2048
"""Texts whose packed states are remembered: a few MB."""


class PairReading(NamedTuple):
    """Probabilities. The first three say what a later statement does to an earlier one: gives another value, says that
    the value no longer holds, gives the same value again. `answers`: a passage answers a question; `forgets`: a request
    to forget means a statement."""

    replaces: float
    ends: float
    repeats: float
    answers: float
    forgets: float

    @property
    def outdates(self) -> float:
        """The probability that the earlier statement no longer holds."""
        return self.replaces + self.ends


NOTHING = PairReading(0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class PairText:
    """A text, or the part of it from `start` to `end`; `signs` are the stored token states of the text, if known;
    `is_named`: its speaker is named in the question it is read beside."""

    text: str
    start: int = 0
    end: int | None = None
    is_named: bool = False
    signs: bytes | None = field(default=None, compare=False, repr=False)

    @property
    def words(self) -> str:
        """The part that is read."""
        return self.text[self.start : self.end]


Readable: TypeAlias = str | PairText


class TokenRows(NamedTuple):
    """The word pieces of a text that are words, and their states."""

    ids: NDArray[np.int64]
    states: Floats
    is_named: bool = False

    def around(self, vector: Floats) -> TokenRows:
        """Return the rows around the one that is nearest to a vector, as many as are read."""
        if len(self.ids) <= LONGEST:
            return self
        nearest = int((self.states @ vector).argmax())
        start = min(max(0, nearest - LONGEST // 2), len(self.ids) - LONGEST)
        return TokenRows(self.ids[start : start + LONGEST], self.states[start : start + LONGEST], self.is_named)


class WordPieces(NamedTuple):
    """The word pieces of a text that are words: where each begins and ends, and the signs of their states, packed."""

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    signs: bytes

    def part(self, text: PairText) -> TokenRows:
        """Return those within a part of the text."""
        inside = self.starts >= text.start
        if text.end is not None:
            inside &= self.ends <= text.end
        return TokenRows(self.ids[inside], unpack_signs(self.signs)[inside], text.is_named)


class PairModel:
    """Reads pairs of texts, one pair a run. Loaded at first use; threads may share it."""

    def __init__(self, network: MiniLmNetwork, weights: str = WEIGHTS) -> None:
        self._network, self._weights, self._lock = network, weights, Lock()
        self._pieces: OrderedDict[str, WordPieces] = OrderedDict()

    def read(self, first: Readable, second: Readable) -> PairReading:
        """Return what the model says of two statements, or of a statement and a request; the earlier one first."""
        one, other = self._rows(first), self._rows(second)
        if not len(one.ids) or not len(other.ids):
            return NOTHING
        vector = one.states.mean(axis=0)
        return self._run(one.around(vector), other.around(vector))

    def answers(self, question: str, passages: Sequence[Readable]) -> list[float]:
        """Return for each passage the probability that it answers a question, now or at another time."""
        asked = question_rows(question, self._network)
        if not len(asked.ids):
            return [0.0] * len(passages)
        vector = asked.states.mean(axis=0)
        rows = [self._rows(each).around(vector) for each in passages]
        return [self._run(asked, each).answers if len(each.ids) else 0.0 for each in rows]

    def _run(self, one: TokenRows, other: TokenRows) -> PairReading:
        kinds = token_kinds(one, other)
        states = np.concatenate((one.states, other.states))
        outputs = np.asarray(self._session.run(None, {"states": states[None], "kinds": kinds[None]})[0][0], np.float64)
        relations = np.exp(outputs[:4] - outputs[:4].max())
        replaces, ends, repeats, _ = (relations / relations.sum()).tolist()
        answers, forgets = (1.0 / (1.0 + np.exp(-outputs[4:]))).tolist()
        return PairReading(replaces, ends, repeats, answers, forgets)

    def _rows(self, text: Readable) -> TokenRows:
        wanted = PairText(text) if isinstance(text, str) else text
        with self._lock:
            pieces = self._pieces.get(wanted.text)
            if pieces is not None:
                self._pieces.move_to_end(wanted.text)
        if pieces is None:
            pieces = word_pieces(wanted, self._network)
            with self._lock:
                self._pieces[wanted.text] = pieces
                while len(self._pieces) > CACHED_TEXTS:
                    self._pieces.popitem(last=False)
        return pieces.part(wanted)

    @property
    def _session(self) -> Any:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        return open_session((files("lamina.models") / "weights" / self._weights).read_bytes())


def word_pieces(text: PairText, network: MiniLmNetwork) -> WordPieces:
    """Return the word pieces of a text, with its stored states where it has some."""
    whole = text.text[:LONGEST_CHARS]
    tokens = network.tokeniser.encode(whole)
    signs = text.signs if text.signs is not None else to_signs(_word_states(whole, tokens, network))
    count = min(int(tokens.words.sum()), len(signs) // (DIMENSIONS // 8))
    spans = np.array(tokens.spans, np.int64).reshape(-1, 2)[tokens.words][:count]
    return WordPieces(tokens.ids[tokens.words][:count], spans[:, 0], spans[:, 1], signs[: count * (DIMENSIONS // 8)])


def question_rows(question: str, network: MiniLmNetwork) -> TokenRows:
    """Return the word pieces of a question with their exact states."""
    whole = question[:LONGEST_CHARS]
    tokens = network.tokeniser.encode(whole).first(MOST)
    return TokenRows(tokens.ids[tokens.words], SCALE * _word_states(whole, tokens, network))


def _word_states(text: str, tokens: Tokens, network: MiniLmNetwork) -> Floats:
    """The unit states of the words, computed a chunk at a time as the embedder does."""
    parts = chunks(text, tokens.spans)
    states = [network.states(tokens.ids[first:last]).last[1:-1][tokens.words[first:last]] for first, last in parts]
    return unit(np.concatenate(states)) if states else np.zeros((0, DIMENSIONS), np.float32)


def unpack_signs(packed: bytes) -> Floats:
    """Return stored signs as token states."""
    bits = np.unpackbits(np.frombuffer(packed, np.uint8).reshape(-1, DIMENSIONS // 8), axis=1)
    return (bits.astype(np.float32) * 2 - 1) * np.float32(SCALE / DIMENSIONS**0.5)


def token_kinds(one: TokenRows, other: TokenRows) -> NDArray[np.int64]:
    """Return the kind of each word piece of two texts: 0 in the first, 2 in the second or 4 if its speaker is named in
    the first; one more if the other text holds the same piece."""
    return np.concatenate((_shared(one.ids, other.ids), (4 if other.is_named else 2) + _shared(other.ids, one.ids)))


def _shared(ids: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    return (np.isin(ids, others) & (ids >= FIRST_WORD)).astype(np.int64)
