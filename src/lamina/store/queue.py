"""The `Queue` port: work that waits, who is doing it, and how far it has come."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.worker import Worker


@dataclass(frozen=True, slots=True)
class BufferedPassage:
    """One passage of a session that was not read for statements yet. `is_urgent`: do not wait for more passages."""

    scope: Scope
    session_id: str
    segment: AtomId
    n: int
    buffered_at: datetime
    is_urgent: bool = False


@dataclass(frozen=True, slots=True)
class SessionBacklog:
    """A summary of the waiting passages of one session. `taken_in_scope`: how many of its scope were ever taken."""

    scope: Scope
    session_id: str
    passage_count: int
    oldest_at: datetime
    is_urgent: bool
    taken_in_scope: int = 0


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeQuery:
    """A query for statements to probe: of these kinds, neither recorded nor used after `unused_since`, nor probed after
    `unprobed_since`; at most `limit`, those included that were probed after `counted_since`.
    """

    scope: Scope
    kinds: Collection[str]
    unused_since: datetime
    unprobed_since: datetime
    limit: int
    counted_since: datetime


class Queue(Protocol):
    """Work in the background. Whoever does it has a lease: a random token that expires unless it is renewed.

    Inside a write transaction the waiting passages change together with the commits made there, or not at all. Leases
    and progress never wait for the disk: what is lost is done again.
    """

    def add_passages(self, passages: Iterable[BufferedPassage]) -> None:
        """Add passages that wait for extraction; one that is waiting already stays as it is."""

    def list_backlogs(self) -> list[SessionBacklog]:
        """Return a summary of every session with waiting passages, the longest waiting first."""

    def read_passages(self, scope: Scope, session_id: str) -> list[BufferedPassage]:
        """Return the waiting passages of one session, in the order they were said."""

    def take_passages(self, passages: Iterable[BufferedPassage]) -> bool:
        """Remove these passages, all or none; return False if another worker removed some of them already."""

    def lease(self, name: str, holder: str, seconds: float, progress: tuple[int, int] | None = None) -> bool:
        """Take the lease of named work for so many seconds, or renew it; False while another holder's lease is valid.

        `progress`: how much is done and how much there is. It never waits.
        """

    def release(self, name: str, holder: str, error: str | None = None) -> None:
        """Give a lease back; do nothing if it was lost. With an error, or "" for none, it stays listed as a job."""

    def list_jobs(self) -> list[Job]:
        """Return all jobs, by name."""

    def get_position(self, scope: Scope, step: str) -> int | None:
        """Return the journal position up to which a dream step has processed a scope; None if it never has."""

    def set_position(self, scope: Scope, step: str, seq: int) -> None:
        """Store that a dream step has processed a scope up to a journal position."""

    def find_unused(self, query: ProbeQuery) -> list[AtomId]:
        """Return unused beliefs and lasting statements that were not probed lately, without what dreams created.

        Never probed ones first, then by the oldest use, then by id.
        """

    def mark_probed(self, scope: Scope, ids: Iterable[AtomId], at: datetime) -> None:
        """Store that these atoms were probed."""


def new_lease_token() -> str:
    """Return a token that no other holder has."""
    return secrets.token_hex(12)


class LeaseRenewal:
    """Renews a lease in the background, so that a long step does not lose it."""

    def __init__(self, queue: Queue, name: str, holder: str, seconds: float) -> None:
        self._queue, self._name, self._holder, self._seconds = queue, name, holder, seconds
        self._progress = (0, 0)

    def report(self, done: int, total: int) -> bool:
        """Store the progress and renew the lease; return False if it was lost, and the holder must stop."""
        self._progress = (done, total)
        return self._queue.lease(self._name, self._holder, self._seconds, self._progress)

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
        return self._seconds / 3 if self.report(*self._progress) else None
