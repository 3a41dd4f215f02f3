"""A rate limit for each principal, so that no client can read out a memory or overload it with requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from lamina.store.access import AccessState


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The number of reads and writes that a principal may make in a minute."""

    reads: int = 600
    writes: int = 60


class RateLimiter:
    """Limits the reads and writes of each principal per minute, in all processes that serve the store."""

    def __init__(self, state: AccessState, limits: RateLimits, now: Callable[[], float] = time.time) -> None:
        self._state, self._limits, self._now = state, limits, now

    def take(self, principal: str, *, write: bool) -> float:
        """Count one request and return 0.0, or return the seconds to wait until one is allowed."""
        kind, per_minute = ("write", self._limits.writes) if write else ("read", self._limits.reads)
        return self._state.take(f"{kind} {principal}", per_minute, self._now())
