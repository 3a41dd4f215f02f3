"""The models that read sentences, as capture and recall use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lamina.models.list_reader import AnswerReading
from lamina.models.pair_model import RelationReading
from lamina.models.state_model import QuestionState, SentenceState


class SentenceModel(Protocol):
    """The interface of a state model."""

    @property
    def id(self) -> str:
        """The name of its weights."""

    def read(self, text: str) -> Sequence[SentenceState]:
        """Return the states of a text's sentences, in order."""

    def ask(self, question: str) -> QuestionState:
        """Return what a question asks for."""


class StatementPairModel(Protocol):
    """The interface of a pair model."""

    def read(self, earlier: str, new: str) -> RelationReading:
        """Return what a new statement does to an earlier one."""


class TextListReader(Protocol):
    """The interface of a list reader; candidates are given oldest first."""

    def answers(self, question: str, candidates: Sequence[str]) -> Sequence[AnswerReading]:
        """Return for each candidate whether it answers a question or states an earlier value."""

    def forgets(self, request: str, statements: Sequence[str]) -> Sequence[float]:
        """Return the probability that a request to forget means each statement."""


class StateReader:
    """Reads sentences with a state model, and several together if there are models for that. Threads may share it."""

    def __init__(
        self, model: SentenceModel, pairs: StatementPairModel | None = None, lists: TextListReader | None = None
    ) -> None:
        self._model, self.pairs, self.lists = model, pairs, lists

    @property
    def is_light(self) -> bool:
        """Return whether the state model reads static vectors, which are less precise."""
        return self._model.id.startswith("state_light")

    def read(self, text: str) -> Sequence[SentenceState]:
        """Return the states of a text's sentences, in order."""
        return self._model.read(text)
