"""Background work that one process does for all: a lease names the worker, and expires if the worker dies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Job:
    """The progress of a piece of background work. `holder` is empty while no one works on it."""

    name: str
    holder: str
    until: datetime | None
    done: int
    total: int
    started_at: datetime | None
    finished_at: datetime | None
    error: str


class Jobs(Protocol):
    """Leases on named work. Acquiring one never waits."""

    def acquire(self, name: str, holder: str, seconds: float) -> bool:
        """Lease the work for so many seconds; return False if another holder's lease is still valid."""

    def renew(self, name: str, holder: str, seconds: float, done: int, total: int) -> bool:
        """Extend a lease and report progress; return False if the lease was lost, and the holder must stop."""

    def release(self, name: str, holder: str, error: str = "") -> None:
        """Give the lease back, finished or with an error; do nothing if the lease was lost."""

    def list(self) -> list[Job]:
        """Return all jobs, by name."""

    def prune(self, before: datetime) -> int:
        """Delete jobs that finished before a moment and have no holder; return how many."""
