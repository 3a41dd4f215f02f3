"""A rate limit for each principal, so that no client can read out a memory or overload it with requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

MINUTE = 60.0
MOST_PRINCIPALS = 10_000


@dataclass(slots=True)
class _Bucket:
    """A token bucket: refilled evenly, up to the allowance of one minute."""

    left: float
    at: float


class Budgets:
    """Limits the reads and writes of each principal per minute; safe to use from many threads."""

    def __init__(self, reads: int = 600, writes: int = 60, now: Callable[[], float] = time.monotonic) -> None:
        self._most = {False: float(reads), True: float(writes)}
        self._now, self._turn = now, threading.Lock()
        self._buckets: dict[tuple[str, bool], _Bucket] = {}

    def take(self, principal: str, *, write: bool) -> float:
        """Take one token and return 0.0, or return the seconds to wait until a token is available."""
        capacity, now = self._most[write], self._now()
        rate = capacity / MINUTE
        with self._turn:
            bucket = self._buckets.get((principal, write))
            if bucket is None:
                self._make_room(now)
                bucket = self._buckets[principal, write] = _Bucket(capacity, now)
            bucket.left, bucket.at = min(capacity, bucket.left + (now - bucket.at) * rate), now
            if bucket.left >= 1:
                bucket.left -= 1
                return 0.0
            return (1 - bucket.left) / rate

    def _make_room(self, now: float) -> None:
        """Drop buckets that have been full for a minute; a new bucket would be the same."""
        if len(self._buckets) >= MOST_PRINCIPALS:
            self._buckets = {name: bucket for name, bucket in self._buckets.items() if now - bucket.at < MINUTE}
