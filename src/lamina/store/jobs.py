"""Background work that one process does for all: a lease has a token, and expires if it is not renewed."""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.worker import Worker


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
        """Delete jobs that finished before a moment, or whose lease expired before it; return how many."""


def new_lease_token() -> str:
    """Return a token that no other holder has; it begins with the host and the process."""
    return f"{socket.gethostname()}:{os.getpid()}-{secrets.token_hex(8)}"


def has_ended(holder: str) -> bool:
    """Return whether the process of a holder is known to have ended: it ran on this machine and is not there."""
    host, _, token = holder.rpartition(":")
    if host != socket.gethostname() or sys.platform == "win32":
        return False
    try:
        os.kill(int(token.partition("-")[0]), 0)
    except ProcessLookupError:
        return True
    except (ValueError, OSError):
        return False
    return False


class LeaseRenewal:
    """Renews the lease of a job in the background, so that a long step does not lose it."""

    def __init__(self, jobs: Jobs, name: str, holder: str, seconds: float) -> None:
        self._jobs, self._name, self._holder, self._seconds = jobs, name, holder, seconds
        self._done = self._total = 0

    def report(self, done: int, total: int) -> bool:
        """Store the progress and renew the lease; return False if it was lost, and the holder must stop."""
        self._done, self._total = done, total
        return self._jobs.renew(self._name, self._holder, self._seconds, done, total)

    @contextmanager
    def run(self) -> Iterator[None]:
        """Renew the lease three times in its duration until the block ends."""
        worker = Worker("lease", self._renew)
        worker.wake()
        try:
            yield
        finally:
            worker.stop()

    def _renew(self, should_stop: object) -> float | None:
        return self._seconds / 3 if self.report(self._done, self._total) else None
