"""Passages that are waiting for extraction. They are durable, so that a crash loses no turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope


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
    """A summary of the waiting passages of one session."""

    scope: Scope
    session_id: str
    passage_count: int
    oldest_at: datetime
    is_urgent: bool


class Buffer(Protocol):
    """The waiting passages.

    Inside a write transaction it changes together with the commits made there, or not at all.
    """

    def add(self, passages: Iterable[BufferedPassage]) -> None:
        """Add passages; one that is waiting already stays as it is."""

    def backlogs(self) -> list[SessionBacklog]:
        """Return a summary of every session with waiting passages, the longest waiting first."""

    def session_passages(self, scope: Scope, session_id: str) -> list[BufferedPassage]:
        """Return the waiting passages of one session, in the order they were said."""

    def take(self, passages: Iterable[BufferedPassage]) -> bool:
        """Remove these passages, all or none; return False if another worker removed some of them already."""

    def lease(self, scope: Scope, session_id: str, holder: str, now: datetime, until: datetime) -> bool:
        """Reserve a session for one reader, or renew the lease; return False while another holder's lease is valid."""

    def release(self, scope: Scope, session_id: str, holder: str) -> None:
        """Give a lease back; do nothing if the holder has none."""

    def count_taken(self, scope: Scope) -> int:
        """Return how many passages of a scope were ever removed."""
