"""Time as ageing counts it. A clock that jumps must not age a memory that nobody had a chance to use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """The clock, and when somebody last did something with the store: wrote, used or reviewed; not maintenance."""

    now: datetime
    seen: datetime | None = None

    @property
    def lived(self) -> datetime:
        """The moment by which memories are laid aside: time in which nobody was there lays nothing aside."""
        return self.now if self.seen is None else min(self.now, self.seen)


def later(at: datetime, by: timedelta) -> datetime:
    """A moment so much later; the last there is where time ends before."""
    try:
        return at + by
    except OverflowError:
        return datetime.max.replace(tzinfo=at.tzinfo)


def days_since(then: datetime, now: datetime) -> float:
    """The days between two moments; what lies ahead is no time ago."""
    return max(0.0, (now - then) / DAY)
