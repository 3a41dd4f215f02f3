"""The only source of time. Everything that needs the hour is given a Clock, so a test can own it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time in aware UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's wall clock, to the millisecond."""

    def now(self) -> datetime:
        moment = datetime.now(UTC)
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


class FixedClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


def disk_time_ns() -> int:
    """The machine's time on the scale of file stamps; used only to tell whether a stamp is fresh."""
    return time.time_ns()
