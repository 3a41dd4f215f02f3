"""The labels of a hit: that it has ended, is disputed or announced, or where a value changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import AtomId
from lamina.atom.status import Status

SHORT_ID_LENGTH = 6
"""How many characters of an id, from its end, identify it in a text."""


class HitMark(StrEnum):
    """A label of a sentence, computed from the standing of the statements that rest on it."""

    SUPERSEDED = "superseded"
    WRONG = "wrong"
    RETRACTED = "taken back"
    DISPUTED = "disputed"
    OUTDATED = "possibly outdated"
    HISTORICAL = "historical"
    ANNOUNCED = "announced"
    DEPENDENCY_CHANGED = "rests on something that changed"
    TRANSITION = "transition"
    EARLIER = "earlier value"


FLAGGING_MARKS = frozenset(mark.value for mark in HitMark if mark is not HitMark.TRANSITION) | frozenset(
    status.value for status in Status if status not in (Status.ACTIVE, Status.ARCHIVED)
)
"""Marks that tell a reader not to take a hit as current."""
DISPUTE_MARKS = frozenset({HitMark.DISPUTED.value, Status.CHALLENGED.value})
"""Marks of hits that are packed into the section for disputed ones."""


def is_flagged(marks: Iterable[str]) -> bool:
    """Return whether any of the marks says that the words may not hold."""
    return not FLAGGING_MARKS.isdisjoint(marks)


def short_id(atom_id: str) -> str:
    """Return an id in the short form used in texts."""
    return f"…{atom_id[-SHORT_ID_LENGTH:]}"


@dataclass(frozen=True, slots=True)
class ValueTransition:
    """A change that a sentence states: the old value, the new value, and since when."""

    was: str
    now: str
    since: datetime

    def __str__(self) -> str:
        return f"was {self.was}, now {self.now}"


@dataclass(frozen=True, slots=True)
class EarlierValue:
    """The passage that likely states a newer value of the same slot, since when, and the probability of that."""

    atom_id: AtomId
    n: int
    until: datetime
    probability: float

    def __str__(self) -> str:
        return f"{HitMark.EARLIER}, until {self.until:%Y-%m-%d}, see {short_id(self.atom_id)} ({self.probability:.0%})"


@dataclass(frozen=True, slots=True)
class MovedBefore:
    """A result that a hit was moved in front of, whatever the scores, and why."""

    atom_id: AtomId
    reason: str

    def __str__(self) -> str:
        return f"before {short_id(self.atom_id)}, {self.reason}"


@dataclass(frozen=True, slots=True)
class ReplacedPassage:
    """The passage whose place a hit took: its atom, its number there, and why it lost its place."""

    atom_id: AtomId
    n: int
    reason: str

    def __str__(self) -> str:
        return f"in place of {short_id(self.atom_id)} ({self.reason})"
