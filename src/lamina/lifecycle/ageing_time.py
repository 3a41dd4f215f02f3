"""Define time as ageing counts it: time in which the store was not used does not age memories."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class AgeingTime:
    """The current time, and when the store was last written, used or reviewed by someone other than maintenance."""

    now: datetime
    last_activity_at: datetime | None = None

    @property
    def active_now(self) -> datetime:
        """Return the time by which memories are archived: the last activity, if it is earlier than now."""
        return self.now if self.last_activity_at is None else min(self.now, self.last_activity_at)


def add_clamped(at: datetime, delta: timedelta) -> datetime:
    """Return a time plus a duration; the last possible time if the sum is out of range."""
    try:
        return at + delta
    except OverflowError:
        return datetime.max.replace(tzinfo=at.tzinfo)


def days_since(then: datetime, now: datetime) -> float:
    """Return the days between two times; 0 if the first is in the future."""
    return max(0.0, (now - then) / DAY)
