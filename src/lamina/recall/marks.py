"""The labels of a hit: that it has ended, is disputed or announced, or where a value changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.atom.identity import AtomId
from lamina.atom.status import Status

SHORT = 6
"""How many characters of an id, from its end, identify it in a text."""


class Mark(StrEnum):
    """A label of a sentence, computed from the standing of the statements that rest on it."""

    SUPERSEDED = "superseded"
    WRONG = "wrong"
    TAKEN_BACK = "taken back"
    DISPUTED = "disputed"
    OUTDATED = "possibly outdated"
    HISTORICAL = "historical"
    ANNOUNCED = "announced"
    UNSETTLED = "rests on something that changed"
    TRANSITION = "transition"
    EARLIER = "earlier value"


FLAGS = frozenset(mark.value for mark in Mark if mark is not Mark.TRANSITION) | frozenset(
    status.value for status in Status if status not in (Status.ACTIVE, Status.ARCHIVED)
)
"""Marks that tell a reader not to take a hit as current."""
DISPUTES = frozenset({Mark.DISPUTED.value, Status.CHALLENGED.value})
"""Marks of hits that are packed into the section for disputed ones."""


def is_flagged(marks: Iterable[str]) -> bool:
    """Return whether any of the marks says that the words may not hold."""
    return not FLAGS.isdisjoint(marks)


def ending(atom_id: str) -> str:
    """Return an id in the short form used in texts."""
    return f"…{atom_id[-SHORT:]}"


@dataclass(frozen=True, slots=True)
class Transition:
    """A change that a sentence states: the old value, the new value, and since when."""

    was: str
    now: str
    since: datetime

    def __str__(self) -> str:
        return f"was {self.was}, now {self.now}"


@dataclass(frozen=True, slots=True)
class Earlier:
    """The passage that likely states a newer value of the same slot, since when, and the probability of that."""

    atom_id: AtomId
    n: int
    until: datetime
    chance: float

    def __str__(self) -> str:
        return f"{Mark.EARLIER}, until {self.until:%Y-%m-%d}, see {ending(self.atom_id)} ({self.chance:.0%})"


@dataclass(frozen=True, slots=True)
class Before:
    """A result that a hit was moved in front of, whatever the scores, and why."""

    atom_id: AtomId
    why: str

    def __str__(self) -> str:
        return f"before {ending(self.atom_id)}, {self.why}"


@dataclass(frozen=True, slots=True)
class Instead:
    """The passage whose place a hit took: its atom, its number there, and why it lost its place."""

    atom_id: AtomId
    n: int
    why: str

    def __str__(self) -> str:
        return f"in place of {ending(self.atom_id)} ({self.why})"
