"""The interface between text and statements: what an extractor receives and what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import AtomId, Evidence, RelationName
from lamina.capture.llm.counts import ModelCounts


@dataclass(frozen=True, slots=True)
class CapturedTurn:
    """One stored turn or paragraph: its segment and number, its text, its speaker and its time."""

    segment: str
    n: int
    text: str
    speaker: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class StoredStatement:
    """A stored statement that an extractor may relate new ones to, and the sentence it rests on."""

    id: AtomId
    content: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """The relation of a statement to another: a stored one, `stored_id`, or one extracted from the same turns."""

    name: RelationName
    evidence: Evidence
    content: str
    stored_id: AtomId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedStatement:
    """One extracted statement, with the sentence it came from as evidence.

    Its claim ends other values of the slot only if `may_end_others`; otherwise it is added beside them.
    """

    content: str
    kind: str
    evidence: Evidence
    subject: str = ""
    attribute: str | None = None
    value: str | None = None
    confidence: float = 0.95
    valid_from: datetime | None = None
    may_end_others: bool = True
    relations: tuple[StatedRelation, ...] = ()


class Extractor(Protocol):
    """Extracts statements from turns. An `instant` one calls no service and never fails."""

    @property
    def name(self) -> str:
        """The name that receipts show."""

    @property
    def instant(self) -> bool:
        """Return whether it works without calling a service."""

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        """Return every statement of the turns, in their order; `before` are the turns before them, as context."""


class ExplicitRequestExtractor:
    """Extracts nothing, for when no model can be loaded: only explicit requests to remember become statements."""

    name = "explicit requests only"
    instant = True

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        """Return an empty list."""
        return []


class DisabledExtractor(ExplicitRequestExtractor):
    """Switched off: only explicit requests to remember become statements, and changes are not detected."""

    name = "no extractor"


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The statements that an extractor found, and its name.

    `failure` says why the language model, or the extractor itself, contributed nothing; `counts` is None if no language
    model was called.
    """

    statements: tuple[ExtractedStatement, ...]
    extractor_name: str
    failure: str | None = None
    counts: ModelCounts | None = None


class CountingExtractor(ABC):
    """An extractor that also counts what a language model contributed."""

    @abstractmethod
    def extract_with_counts(
        self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = (), stored: Sequence[StoredStatement] = ()
    ) -> ExtractionResult:
        """Return every statement of the turns, in their order, with its relations to `stored` ones, and counts."""


def run_extractor(
    extractor: Extractor,
    turns: Sequence[CapturedTurn],
    before: Sequence[CapturedTurn] = (),
    stored: Sequence[StoredStatement] = (),
) -> ExtractionResult:
    """Return what any extractor finds, with relations and counts if a language model was called."""
    if isinstance(extractor, CountingExtractor):
        return extractor.extract_with_counts(turns, before, stored)
    return ExtractionResult(tuple(extractor.extract(turns, before)), extractor.name)
