"""A rate limit for each principal, so that no client can read out a memory or overload it with requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

MINUTE = 60.0
MAX_PRINCIPALS = 10_000


@dataclass(slots=True)
class _Bucket:
    """A token bucket: refilled evenly, up to the allowance of one minute."""

    tokens: float
    updated_at: float


class RateLimiter:
    """Limits the reads and writes of each principal per minute; safe to use from many threads."""

    def __init__(self, reads: int = 600, writes: int = 60, now: Callable[[], float] = time.monotonic) -> None:
        self._capacity = {False: float(reads), True: float(writes)}
        self._now, self._lock = now, threading.Lock()
        self._buckets: dict[tuple[str, bool], _Bucket] = {}

    def take(self, principal: str, *, write: bool) -> float:
        """Take one token and return 0.0, or return the seconds to wait until a token is available."""
        capacity, now = self._capacity[write], self._now()
        rate = capacity / MINUTE
        with self._lock:
            bucket = self._buckets.get((principal, write))
            if bucket is None:
                self._drop_full_buckets(now)
                bucket = self._buckets[principal, write] = _Bucket(capacity, now)
            bucket.tokens, bucket.updated_at = min(capacity, bucket.tokens + (now - bucket.updated_at) * rate), now
            if bucket.tokens >= 1:
                bucket.tokens -= 1
                return 0.0
            return (1 - bucket.tokens) / rate

    def _drop_full_buckets(self, now: float) -> None:
        """Drop buckets that have been full for a minute; a new bucket would be the same."""
        if len(self._buckets) >= MAX_PRINCIPALS:
            self._buckets = {name: bucket for name, bucket in self._buckets.items() if now - bucket.updated_at < MINUTE}
