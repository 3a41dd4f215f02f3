"""The answer model: reads a question and a passage together and says how likely the passage answers it.

It reads the token states that late interaction keeps of every passage, a bit a dimension, so a passage is not encoded
again when a question comes. The weights are made by `make train`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.models.chunks import MOST, chunks
from lamina.models.minilm_network import DIMENSIONS, MiniLmNetwork, open_session
from lamina.models.pair_text import PairText, Readable
from lamina.models.tokeniser import Tokens
from lamina.models.unit import unit
from lamina.vectors.levels import Floats
from lamina.vectors.packed import to_signs

WEIGHTS = "answer_minilm.onnx"
LONGEST = 64
"""Word pieces of a text that are read; of a longer passage those around what is nearest to the question."""
SHORT, CONTEXT = 16, 24
"""A passage of at most so many words is read with so many of the words said before it: "no, make that 15"."""
LONGEST_CHARS = 6_000
SCALE = 4.0
"""The length of a token state: its dimensions are then about as large as the network's weights expect."""
FIRST_WORD = 1000
"""Word pieces below this number are punctuation, letters and other signs: that both texts hold one means nothing."""
CACHED_TEXTS = 2048
"""Texts whose packed states are remembered: a few MB."""


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

    def last(self, most: int) -> TokenRows:
        """Return the last rows, so many at most."""
        return TokenRows(self.ids[-most:], self.states[-most:])


NO_ROWS = TokenRows(np.zeros(0, np.int64), np.zeros((0, DIMENSIONS), np.float32))


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


class AnswerModel:
    """Reads a question beside passages, one passage a run. Loaded at first use; threads may share it."""

    def __init__(self, network: MiniLmNetwork, weights: str = WEIGHTS) -> None:
        self._network, self._weights, self._lock = network, weights, Lock()
        self._pieces: OrderedDict[str, WordPieces] = OrderedDict()

    def answers(self, question: str, passages: Sequence[Readable]) -> list[float]:
        """Return for each passage the probability that it answers a question, now or at another time."""
        asked = question_rows(question, self._network)
        if not len(asked.ids):
            return [0.0] * len(passages)
        passage_rows = [self._with_context(each, asked) for each in passages]
        return [self._run(asked, *each) for each in passage_rows]

    def _with_context(self, passage: Readable, asked: TokenRows) -> tuple[TokenRows, TokenRows]:
        """Return the rows of what was said before a passage, none if it is long or empty, and its own."""
        text = PairText(passage) if isinstance(passage, str) else passage
        rows = self._rows(text).around(asked.states.mean(axis=0))
        has_context = text.before is not None and 0 < len(rows.ids) <= SHORT
        return self._rows(text.before).last(CONTEXT) if has_context and text.before else NO_ROWS, rows

    def _run(self, question: TokenRows, context: TokenRows, passage: TokenRows) -> float:
        if not len(passage.ids):
            return 0.0
        kinds = token_kinds(question, context, passage)
        states = np.concatenate((question.states, context.states, passage.states))
        [[output]] = self._session.run(None, {"states": states[None], "kinds": kinds[None]})
        return float(1.0 / (1.0 + np.exp(-np.float64(output.item()))))

    def _rows(self, wanted: PairText) -> TokenRows:
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


def token_kinds(question: TokenRows, context: TokenRows, passage: TokenRows) -> NDArray[np.int64]:
    """Return the kind of each word piece: 0 in the question, 6 in what was said before the passage, 2 in the passage or
    4 if its speaker is named in the question; one more if the other side holds the same piece."""
    told = np.concatenate((context.ids, passage.ids))
    return np.concatenate((
        _shared(question.ids, told), 6 + _shared(context.ids, question.ids),
        (4 if passage.is_named else 2) + _shared(passage.ids, question.ids),
    ))  # fmt: skip


def _shared(ids: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    return (np.isin(ids, others) & (ids >= FIRST_WORD)).astype(np.int64)
