"""Ends a hook after a fixed time, whatever hangs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable


class Timeout:
    """A time limit that starts now."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds left, at least a millisecond: a socket reads zero as no limit."""
        return max(0.001, self._ends_at - time.monotonic())


class Deadline(Timeout):
    """A time limit at which the process exits with code 0."""

    def __init__(self, seconds: float, on_expiry: Callable[[], None] = lambda: None) -> None:
        super().__init__(seconds)
        self._on_expiry = on_expiry
        signal.signal(signal.SIGALRM, self._exit)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def cancel(self) -> None:
        """Stop the timer: the remaining work is short."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _exit(self, number: int, frame: object) -> None:
        # What hangs may also hang at a normal exit, so handlers, buffers and threads are skipped.
        self._on_expiry()
        os._exit(0)
