"""Provide the only source of time. Code that needs the time is given a Clock, so a test can control it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable


@runtime_checkable
class Clock(Protocol):
    """Returns the current time as an aware datetime in UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock, rounded down to the millisecond."""

    def now(self) -> datetime:
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


class FixedClock:
    """A clock that returns the same time until `at` is set."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


def disk_time_ns() -> int:
    """Return the machine's time on the scale of file timestamps; used only to decide whether a timestamp is recent."""
    return time.time_ns()
