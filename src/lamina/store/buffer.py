"""Passages that are waiting for extraction. They are durable, so that a crash loses no turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope


@dataclass(frozen=True, slots=True)
class Waiting:
    """One passage of a session that was not read for statements yet. `is_urgent`: do not wait for more passages."""

    scope: Scope
    session_id: str
    segment: AtomId
    n: int
    since: datetime
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """A summary of the waiting passages of one session."""

    scope: Scope
    session_id: str
    length: int
    oldest: datetime
    urgent: bool


class Buffer(Protocol):
    """The waiting passages.

    Inside `Store.exclusive_transaction()` it changes together with the commits made there, or not at all.
    """

    def add(self, waiting: Iterable[Waiting]) -> None:
        """Add passages; one that is waiting already stays as it is."""

    def queues(self) -> list[Queue]:
        """Return a summary of every session with waiting passages, the longest waiting first."""

    def of(self, scope: Scope, session_id: str) -> list[Waiting]:
        """Return the waiting passages of one session, in the order they were said."""

    def take(self, waiting: Iterable[Waiting]) -> bool:
        """Remove these passages, all or none; return False if another worker removed some of them already."""

    def lease(self, scope: Scope, session_id: str, holder: str, now: datetime, until: datetime) -> bool:
        """Reserve a session for one reader, or renew the lease; return False while another holder's lease is valid."""

    def release(self, scope: Scope, session_id: str, holder: str) -> None:
        """Give a lease back; do nothing if the holder has none."""

    def taken(self, scope: Scope) -> int:
        """Return how many passages of a scope were ever removed."""
