"""Retries of calls to a chat server, and a circuit breaker: after several failures in a row it is not called for a
while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from lamina.models.errors import ModelPaused, ModelUnreachable

TIMEOUT = 60.0
PAUSES = (0.5, 2.0)
LONGEST_PAUSE = 20.0
FAILURES = 3
"""After this many failed calls in a row the server is not called for `BREAK_SECONDS`. One time-out is no outage."""
REST = 30.0
LONGEST_REST = 300.0
"""The longest break: a server that asks for a longer one is called again after this time."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one call may take, and the clock and the sleep function, which a test can replace."""

    timeout: float = TIMEOUT
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic


class Busy(Exception):
    """A call failed that may succeed later; `retry_after` is the delay the server asks for, in seconds, `can_retry`
    whether to retry."""

    def __init__(self, why: str, wait: float = 0.0, *, again: bool = True) -> None:
        super().__init__(why)
        self.why, self.wait, self.again = why, wait, again


class Patience:
    """Retries a call a few times; stops all calls for a while after several failures in a row. Threads may share it."""

    def __init__(self, host: str, timing: Timing) -> None:
        self._host, self._timing = host, timing
        self._lock = threading.Lock()
        self._failures, self._rests_until, self._why = 0, 0.0, ""

    def call(self, once: Callable[[], T]) -> T:
        """Return the result of the call. Raises ModelUnreachable if it keeps failing, ModelPaused during a break."""
        self._check_pause()
        for pause in (*PAUSES, None):
            try:
                result = once()
            except Busy as busy:
                if pause is None or not busy.again or busy.wait > LONGEST_PAUSE:
                    raise self._failed(busy) from busy
                self._timing.sleep(max(pause, busy.wait))
            else:
                with self._lock:
                    self._failures = 0
                return result
        raise AssertionError("the last try returns or raises")

    def _check_pause(self) -> None:
        with self._lock:
            left = self._rests_until - self._timing.monotonic()
            if left > 0:
                raise ModelPaused(f"{self._why}; it is called again in {left:.0f} s")

    def _failed(self, busy: Busy) -> ModelUnreachable:
        """Count a failure; start a break if there were several, or if the server asks for one."""
        why = f"{self._host} {busy.why}"
        with self._lock:
            self._failures += 1
            if self._failures < FAILURES and busy.wait <= LONGEST_PAUSE:
                return ModelUnreachable(f"{why}; is it running?")
            pause = min(max(REST, busy.wait), LONGEST_REST)
            self._failures, self._rests_until, self._why = 0, self._timing.monotonic() + pause, why
        return ModelUnreachable(f"{why}; is it running? It is not called for {pause:.0f} s")
