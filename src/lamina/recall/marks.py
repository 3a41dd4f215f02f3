"""What a reader is told of a hit besides its words: that it is over, doubted, announced, or where a change was made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.atom.identity import AtomId
from lamina.atom.status import Status

SHORT = 6
"""How many characters of an id, from its end, stand for it in a text."""


class Mark(StrEnum):
    """What may be said of a sentence, from where the statements stand that rest on it."""

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


FLAGS = frozenset(each.value for each in Mark if each is not Mark.TRANSITION) | frozenset(
    each.value for each in Status if each not in (Status.ACTIVE, Status.ARCHIVED)
)
"""Marks by which a reader is told not to take a hit as what holds."""
DISPUTES = frozenset({Mark.DISPUTED.value, Status.CHALLENGED.value})
"""Marks of what is told apart, because it is doubted."""


def is_flagged(marks: Iterable[str]) -> bool:
    """Whether any of the marks says that the words may not hold."""
    return not FLAGS.isdisjoint(marks)


def ending(atom_id: str) -> str:
    """An id as a text points to it."""
    return f"…{atom_id[-SHORT:]}"


@dataclass(frozen=True, slots=True)
class Transition:
    """What a sentence that makes a change says was so, what is so instead, and since when."""

    was: str
    now: str
    since: datetime

    def __str__(self) -> str:
        return f"was {self.was}, now {self.now}"


@dataclass(frozen=True, slots=True)
class Earlier:
    """The passage that likely states a newer value of the same slot, since when, and how likely that is."""

    atom_id: AtomId
    n: int
    until: datetime
    chance: float

    def __str__(self) -> str:
        return f"{Mark.EARLIER}, until {self.until:%Y-%m-%d}, see {ending(self.atom_id)} ({self.chance:.0%})"


@dataclass(frozen=True, slots=True)
class Before:
    """What a hit stands in front of, whatever the scores, and why."""

    atom_id: AtomId
    why: str

    def __str__(self) -> str:
        return f"before {ending(self.atom_id)}, {self.why}"


@dataclass(frozen=True, slots=True)
class Instead:
    """The passage whose slot a hit took: its atom, its place there, and what had become of it."""

    atom_id: AtomId
    n: int
    why: str

    def __str__(self) -> str:
        return f"in place of {ending(self.atom_id)} ({self.why})"
