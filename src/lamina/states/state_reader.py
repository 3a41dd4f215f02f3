"""What capture asks of the state model and of the pair model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lamina.models.pair_model import PairReading
from lamina.models.state_model import QuestionState, SentenceState


class SentenceModel(Protocol):
    """What is needed of the state model."""

    @property
    def id(self) -> str:
        """The name of its weights."""

    def read(self, text: str) -> Sequence[SentenceState]:
        """Return the states of a text's sentences, in order."""

    def ask(self, question: str) -> QuestionState:
        """Return what a question asks for."""


class TextPairModel(Protocol):
    """What is needed of the pair model."""

    def read(self, first: str, second: str) -> PairReading:
        """Return what the model says of two texts, the earlier one or the question first."""


class StateReader:
    """Reads sentences with a state model, and pairs of sentences where there is a model for them. Threads
    may share it."""

    def __init__(self, model: SentenceModel, pairs: TextPairModel | None = None) -> None:
        self._model, self.pairs = model, pairs

    @property
    def model_id(self) -> str:
        """The name of the state model's weights."""
        return self._model.id

    def read(self, text: str) -> Sequence[SentenceState]:
        """Return the states of a text's sentences, in order."""
        return self._model.read(text)
