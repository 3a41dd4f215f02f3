"""Ends a hook after a fixed time, whatever hangs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable


class Moment:
    """A time limit that starts now."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds left, at least a millisecond: a socket reads zero as no limit."""
        return max(0.001, self._ends - time.monotonic())


class Deadline(Moment):
    """A time limit at which the process exits with code 0."""

    def __init__(self, seconds: float, at_the_end: Callable[[], None] = lambda: None) -> None:
        super().__init__(seconds)
        self._last_words = at_the_end
        signal.signal(signal.SIGALRM, self._end)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def lift(self) -> None:
        """Stop the timer: the remaining work is short."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _end(self, number: int, frame: object) -> None:
        # What hangs may also hang at a normal exit, so handlers, buffers and threads are skipped.
        self._last_words()
        os._exit(0)
