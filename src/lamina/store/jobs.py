"""Work that one process does on behalf of all: a lease says who, and ends by itself when the worker dies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of background work as everybody sees it. `holder` is empty while nobody works on it."""

    name: str
    holder: str
    until: datetime | None
    done: int
    total: int
    started_at: datetime | None
    finished_at: datetime | None
    error: str


class Jobs(Protocol):
    """Leases on named work. Taking one never waits."""

    def take(self, name: str, holder: str, seconds: float) -> bool:
        """Lease the work for so long, or tell that somebody else has it; a lease that ran out is free."""

    def renew(self, name: str, holder: str, seconds: float, done: int, total: int) -> bool:
        """Hold on to a lease and say how far the work is; False if it was lost meanwhile, and the holder must stop."""

    def release(self, name: str, holder: str, error: str = "") -> None:
        """Give the work up, finished or with what went wrong; nothing happens where the lease was lost."""

    def list(self) -> list[Job]:
        """Every piece of work there has been, by name."""

    def prune(self, before: datetime) -> int:
        """Let go of work that was finished before a moment and that nobody holds; how many there were."""
