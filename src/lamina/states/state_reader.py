"""Sentence states with a small cache: the model reads a turn once for statements, changes and requests."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Protocol

from lamina.models.state_model import QuestionState, SentenceState
from lamina.vectors.levels import Floats

CACHED_TEXTS = 512


class SentenceModel(Protocol):
    """What is needed of the state model."""

    @property
    def id(self) -> str:
        """The name of its weights."""

    def read(self, text: str) -> list[SentenceState]:
        """Return the states of a text's sentences, in order."""

    def ask(self, question: str) -> QuestionState:
        """Return what a question asks for."""


class StateReader:
    """Reads texts with a state model and remembers the last results. Threads may share it."""

    def __init__(self, model: SentenceModel) -> None:
        self._model, self._lock = model, Lock()
        self._cache: OrderedDict[str, tuple[SentenceState, ...]] = OrderedDict()

    @property
    def model_id(self) -> str:
        """The name of the model's weights."""
        return self._model.id

    def read(self, text: str) -> Sequence[SentenceState]:
        """Return the states of a text's sentences, in order."""
        with self._lock:
            if text in self._cache:
                self._cache.move_to_end(text)
                return self._cache[text]
        states = tuple(self._model.read(text))
        with self._lock:
            self._cache[text] = states
            while len(self._cache) > CACHED_TEXTS:
                self._cache.popitem(last=False)
        return states

    def read_sentence(self, sentence: str) -> SentenceState | None:
        """Return the state of a text that is one sentence: its first that asserts something, else its first."""
        states = self.read(sentence)
        return max(states, key=lambda state: (state.asserts >= 0.5, -state.start), default=None)

    def topic_slot(self, topic: str) -> Floats:
        """Return the slot vector of a topic such as "my address", in the space of the sentences about it."""
        return self._model.ask(f"What is {topic}?").slot
