"""How long a chat server is waited for: a few tries with pauses, and then a rest in which nobody asks it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from lamina.models.errors import ModelUnreachable

TIMEOUT = 60.0
PAUSES = (0.5, 2.0)
LONGEST_PAUSE = 20.0
REST = 30.0
"""A server that does not answer is left alone so long: a thousand turns must not knock a thousand times."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timing:
    """How long one call may take, and the clock and the pauses between calls, which a test may own."""

    timeout: float = TIMEOUT
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic


class Busy(Exception):
    """A call that may go better soon; `wait` is what the server asks for, in seconds. `again`: whether to try."""

    def __init__(self, why: str, wait: float = 0.0, *, again: bool = True) -> None:
        super().__init__(why)
        self.why, self.wait, self.again = why, wait, again


class Patience:
    """Calls a server a few times at most, and after that not at all for a while. Threads share it."""

    def __init__(self, host: str, timing: Timing) -> None:
        self._host, self._timing = host, timing
        self._lock = threading.Lock()
        self._rests_until, self._why = 0.0, ""

    def call(self, once: Callable[[], T]) -> T:
        """What the call gives; ModelUnreachable where it stays busy or silent."""
        self._must_be_awake()
        for pause in (*PAUSES, None):
            try:
                return once()
            except Busy as busy:
                if pause is None or not busy.again or busy.wait > LONGEST_PAUSE:
                    raise self._rest(busy) from busy
                self._timing.sleep(max(pause, busy.wait))
        raise AssertionError("the last try returns or raises")

    def _must_be_awake(self) -> None:
        with self._lock:
            left = self._rests_until - self._timing.monotonic()
            if left > 0:
                raise ModelUnreachable(f"{self._why}; it is asked again in {left:.0f} s")

    def _rest(self, busy: Busy) -> ModelUnreachable:
        why = f"{self._host} {busy.why}"
        with self._lock:
            self._rests_until, self._why = self._timing.monotonic() + max(REST, busy.wait), why
        return ModelUnreachable(f"{why}; is it running? Nothing asks it for {max(REST, busy.wait):.0f} s")
