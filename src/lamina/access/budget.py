"""How much one principal may ask in a minute: a memory that is asked without end can be asked empty."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

MINUTE = 60.0
MOST_PRINCIPALS = 10_000


@dataclass(slots=True)
class _Bucket:
    """Fills up evenly, a minute's worth at most."""

    left: float
    at: float


class Budgets:
    """Reads and writes a minute for each principal; safe in many threads."""

    def __init__(self, reads: int = 600, writes: int = 60, now: Callable[[], float] = time.monotonic) -> None:
        self._most = {False: float(reads), True: float(writes)}
        self._now, self._turn = now, threading.Lock()
        self._buckets: dict[tuple[str, bool], _Bucket] = {}

    def take(self, principal: str, *, write: bool) -> float:
        """Take one; 0 where there was one, else the seconds after which there is."""
        most, now = self._most[write], self._now()
        rate = most / MINUTE
        with self._turn:
            bucket = self._buckets.get((principal, write))
            if bucket is None:
                self._make_room(now)
                bucket = self._buckets[principal, write] = _Bucket(most, now)
            bucket.left, bucket.at = min(most, bucket.left + (now - bucket.at) * rate), now
            if bucket.left >= 1:
                bucket.left -= 1
                return 0.0
            return (1 - bucket.left) / rate

    def _make_room(self, now: float) -> None:
        """Let go of principals whose budget is full again: nothing is known of them that a new one would not have."""
        if len(self._buckets) >= MOST_PRINCIPALS:
            self._buckets = {name: each for name, each in self._buckets.items() if now - each.at < MINUTE}
