"""Stores what the state model reads from every passage beside its vectors, so that recall need not compute it."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.models.list_reader import ListReader
from lamina.models.pair_model import PairModel
from lamina.models.state_model import QuestionState, SentenceMood, SentenceState, StateModel
from lamina.vectors.integer_vectors import Floats

_HEADER = struct.Struct("<HHHH7Bx")
"""Start, end, start and end of the value; mood and six probabilities in steps of 1/255; a spare byte."""
_PROBABILITIES = ("asserts", "is_own", "is_many", "forget", "keep_out", "secret")
_NO_VALUE = 0xFFFF
_LAST_OFFSET = 0xFFFE
MAY_ASSERT = 0.3
"""Sentences that assert with at least this probability are indexed by their slot."""


class StateEncoder:
    """The state model as an embedder: the background worker encodes passages with it as with any other."""

    def __init__(self, states: StateModel, pairs: PairModel | None = None, lists: ListReader | None = None) -> None:
        self.states, self.pairs, self.lists = states, pairs, lists
        self._questions: dict[str, QuestionState] = {}

    @property
    def model(self) -> EmbeddingModel:
        """The model, by the id of its weights."""
        return EmbeddingModel(self.states.id, self.states.dimensions, TokenStates.SENTENCES)

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        """Read each text: its vectors are the slots of the sentences that may assert something.

        A statement is found and ranked by the captured passage it was extracted from and is not read again.
        """
        return [self._encode_sentences([] if piece.is_quoted else self.states.read(piece.text)) for piece in texts]

    def _encode_sentences(self, sentences: Sequence[SentenceState]) -> EncodedText:
        slots = [sentence.slot for sentence in sentences if sentence.asserts >= MAY_ASSERT]
        none = np.zeros((1, self.states.dimensions), np.float32)
        return EncodedText(np.stack(slots) if slots else none, pack_states(sentences))

    def encode_question(self, text: str) -> EncodedQuestion:
        """Read a question ahead of time; `read_question` returns everything that was read."""
        return EncodedQuestion(self.read_question(text).slot, np.zeros((0, self.states.dimensions), np.float32), ())

    def read_question(self, text: str) -> QuestionState:
        """Return what a question asks for; the last few are cached."""
        if text not in self._questions:
            if len(self._questions) >= 64:
                self._questions.clear()
            self._questions[text] = self.states.ask(text)
        return self._questions[text]


def pack_states(sentences: Sequence[SentenceState]) -> bytes:
    """Return sentence states as bytes: a header and the slot vector in eight bits per dimension for each sentence."""
    parts: list[bytes] = []
    for sentence in sentences:
        if sentence.end > _LAST_OFFSET:
            break
        first, last = sentence.value or (_NO_VALUE, _NO_VALUE)
        steps = (round(255 * min(1.0, max(0.0, getattr(sentence, name)))) for name in _PROBABILITIES)
        mood = list(SentenceMood).index(sentence.mood)
        parts.append(_HEADER.pack(sentence.start, sentence.end, first, last, mood, *steps))
        parts.append(np.clip(np.round(sentence.slot * 127 / _peak(sentence.slot)), -127, 127).astype(np.int8).tobytes())
    return b"".join(parts)


def unpack_states(data: bytes, dimensions: int) -> list[SentenceState]:
    """Return what `pack_states` packed; slot vectors become unit vectors again."""
    moods, size = list(SentenceMood), _HEADER.size + dimensions
    states: list[SentenceState] = []
    for offset in range(0, len(data) - size + 1, size):
        start, end, first, last, mood, *steps = _HEADER.unpack_from(data, offset)
        levels = np.frombuffer(data, np.int8, dimensions, offset + _HEADER.size).astype(np.float32)
        states.append(
            SentenceState(
                start,
                end,
                levels / max(1e-9, float(np.linalg.norm(levels))),
                moods[mood],
                value=None if first == _NO_VALUE else (first, last),
                **{name: step / 255 for name, step in zip(_PROBABILITIES, steps, strict=True)},
            )
        )
    return states


def _peak(vector: Floats) -> float:
    return max(1e-9, float(np.abs(vector).max()))
