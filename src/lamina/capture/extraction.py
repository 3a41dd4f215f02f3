"""The interface between text and statements: what an extractor receives and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import Evidence


@dataclass(frozen=True, slots=True)
class CapturedTurn:
    """One stored turn or paragraph: its segment and number, its text, its speaker and its time."""

    segment: str
    n: int
    text: str
    speaker: str | None
    at: datetime


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


class Extractor(Protocol):
    """Extracts statements from turns. An `instant` one calls no service and never fails."""

    @property
    def name(self) -> str:
        """The name that receipts show."""

    @property
    def instant(self) -> bool:
        """Whether it works without calling a service."""

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
