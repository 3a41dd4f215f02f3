"""The moment by which a hook has ended, whatever happens."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable


class Moment:
    """So many seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, never none at all: a socket would take that for no limit."""
        return max(0.001, self._ends - time.monotonic())


class Deadline(Moment):
    """A moment at which the process ends, at once and in peace."""

    def __init__(self, seconds: float, at_the_end: Callable[[], None] = lambda: None) -> None:
        super().__init__(seconds)
        self._last_words = at_the_end
        signal.signal(signal.SIGALRM, self._end)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def lift(self) -> None:
        """What is left to do is done in one go."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _end(self, number: int, frame: object) -> None:
        # Whatever hangs may also hang on the way out, so no handler, buffer or thread is waited for.
        self._last_words()
        os._exit(0)
