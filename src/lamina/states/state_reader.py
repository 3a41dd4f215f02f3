"""What capture asks of the state model, of the pair model and of the list reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lamina.models.list_reader import AnswerReading
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
        """Return what the model says of an earlier and a later statement."""


class TextListReader(Protocol):
    """What is needed of the list reader; candidates are given oldest first."""

    def answers(self, question: str, candidates: Sequence[str]) -> Sequence[AnswerReading]:
        """Return for each candidate whether it answers a question or states an earlier value."""

    def forgets(self, request: str, statements: Sequence[str]) -> Sequence[float]:
        """Return the probability that a request to forget means each statement."""


class StateReader:
    """Reads sentences with a state model, and several together where there are models for that. Threads may share
    it."""

    def __init__(
        self, model: SentenceModel, pairs: TextPairModel | None = None, lists: TextListReader | None = None
    ) -> None:
        self._model, self.pairs, self.lists = model, pairs, lists

    @property
    def model_id(self) -> str:
        """The name of the state model's weights."""
        return self._model.id

    def read(self, text: str) -> Sequence[SentenceState]:
        """Return the states of a text's sentences, in order."""
        return self._model.read(text)
