"""Passages that were kept and wait to be read for statements: durable, so that a crash loses no turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope


@dataclass(frozen=True, slots=True)
class Waiting:
    """One passage of a session that nobody has read for statements yet. `urgent`: it should not wait for others."""

    scope: Scope
    session_id: str
    segment: AtomId
    n: int
    since: datetime
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits of one session, at a glance."""

    scope: Scope
    session_id: str
    length: int
    oldest: datetime
    urgent: bool


class Buffer(Protocol):
    """The waiting passages. Inside `Store.alone()` it changes with the commits made there, or not at all."""

    def add(self, waiting: Iterable[Waiting]) -> None:
        """Let passages wait; one that waits already is left as it is."""

    def queues(self) -> list[Queue]:
        """Every session of which something waits, the longest waiting first."""

    def of(self, scope: Scope, session_id: str) -> list[Waiting]:
        """What waits of one session, in the order it was said."""

    def take(self, waiting: Iterable[Waiting]) -> bool:
        """Take these out, all or none: False where somebody else took some of them already."""

    def lease(self, scope: Scope, session_id: str, holder: str, now: datetime, until: datetime) -> bool:
        """Reserve a session for one reader, or renew that; False where another holder's lease has not run out."""

    def release(self, scope: Scope, session_id: str, holder: str) -> None:
        """Give a lease back; nothing happens where the holder has none."""

    def taken(self, scope: Scope) -> int:
        """How many passages of a scope were ever taken out."""
