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
RETRY_DELAYS = (0.5, 2.0)
MAX_RETRY_DELAY = 20.0
MAX_FAILURES = 3
"""After this many failed calls in a row the server is not called for `BREAK_SECONDS`. One time-out is no outage."""
BREAK_SECONDS = 30.0
MAX_BREAK_SECONDS = 300.0
"""The longest break: a server that asks for a longer one is called again after this time."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CallTiming:
    """The time limit of one call, how often a failed one is repeated, and the clock and the sleep function."""

    timeout: float = TIMEOUT
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    retries: int = len(RETRY_DELAYS)


class RetryableError(Exception):
    """A call failed that may succeed later; `retry_after` is the delay the server asks for, in seconds, `can_retry`
    whether to retry."""

    def __init__(self, reason: str, retry_after: float = 0.0, *, can_retry: bool = True) -> None:
        super().__init__(reason)
        self.reason, self.retry_after, self.can_retry = reason, retry_after, can_retry


class RetryPolicy:
    """Retries a call a few times; stops all calls for a while after several failures in a row. Threads may share it."""

    def __init__(self, host: str, timing: CallTiming) -> None:
        self._host, self._timing = host, timing
        self._lock = threading.Lock()
        self._failures, self._paused_until, self._reason = 0, 0.0, ""

    def call(self, send: Callable[[], T]) -> T:
        """Return the result of the call. Raises ModelUnreachable if it keeps failing, ModelPaused during a break."""
        self._check_pause()
        for pause in (*RETRY_DELAYS[: self._timing.retries], None):
            try:
                result = send()
            except RetryableError as busy:
                if pause is None or not busy.can_retry or busy.retry_after > MAX_RETRY_DELAY:
                    raise self._count_failure(busy) from busy
                self._timing.sleep(max(pause, busy.retry_after))
            else:
                with self._lock:
                    self._failures = 0
                return result
        raise AssertionError("the last try returns or raises")

    def _check_pause(self) -> None:
        with self._lock:
            left = self._paused_until - self._timing.monotonic()
            if left > 0:
                raise ModelPaused(f"{self._reason}; it is called again in {left:.0f} s")

    def _count_failure(self, error: RetryableError) -> ModelUnreachable:
        """Count a failure; start a break if there were several, or if the server asks for one."""
        why = f"{self._host} {error.reason}"
        with self._lock:
            self._failures += 1
            if self._failures < MAX_FAILURES and error.retry_after <= MAX_RETRY_DELAY:
                return ModelUnreachable(f"{why}; is it running?")
            pause = min(max(BREAK_SECONDS, error.retry_after), MAX_BREAK_SECONDS)
            self._failures, self._paused_until, self._reason = 0, self._timing.monotonic() + pause, why
        return ModelUnreachable(f"{why}; is it running? It is not called for {pause:.0f} s")
