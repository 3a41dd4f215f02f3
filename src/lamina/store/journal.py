"""The journal: commits as they are written, entries and versions as they are read, and the `Journal` port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NewType, Protocol

from lamina.atom.atom import Atom, AtomId
from lamina.atom.json_record import Record
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status, TransitionCause

CommitId = NewType("CommitId", str)
TICK = timedelta(milliseconds=1)
"""The least time between two commits: the journal is the order of time, whatever the clock says."""


@dataclass(frozen=True, slots=True)
class AtomChange:
    """One atom as it is to be stored. Its revision is the one the change is based on; 0 creates a new atom."""

    atom: Atom


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One atomic, attributed, undoable group of changes; nothing changes in any other way."""

    actor: str
    origin: Origin
    verb: str
    reason: str
    scope: Scope
    changes: tuple[AtomChange, ...]
    way: TransitionCause = TransitionCause.ORDINARY
    key: str | None = None
    batch: str | None = None
    undoes: CommitId | None = None


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The result of a commit.

    `is_repeat`: the idempotency key was known and nothing was written again; `seq` 0: no field differed.
    """

    id: CommitId | None
    seq: int
    at: datetime
    atoms: tuple[Atom, ...]
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class EntryChange:
    """The part of one atom in a journal entry: the fields set (none once erased), the status before and after."""

    atom_id: AtomId
    revision: int
    fields: Record
    old_status: Status | None
    new_status: Status


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One commit as read from the journal."""

    seq: int
    id: CommitId
    at: datetime
    scope: Scope
    actor: str
    origin: Origin
    verb: str
    reason: str
    batch: str | None
    undoes: CommitId | None
    changes: tuple[EntryChange, ...]


@dataclass(frozen=True, slots=True)
class AtomVersion:
    """An atom as one commit left it, and the names of the fields that the commit set."""

    atom: Atom
    fields: frozenset[str]
    seq: int
    commit: CommitId
    at: datetime
    actor: str
    verb: str
    reason: str
    old_status: Status | None

    @property
    def revision(self) -> int:
        """Return the revision of the atom in this version."""
        return self.atom.revision


class Journal(Protocol):
    """The append-only list of commits. What it returns is never older than the last acknowledged commit."""

    def append(self, commit: Commit, expected_position: int | None = None) -> CommitResult:
        """Check the commit against the rules and apply it completely or not at all; durable when it returns.

        With `expected_position`, StalePosition if another commit was appended after that position. Also raises
        `Refused`, `StaleRevision`, `ClaimTaken`, `NotFound`, `InvalidInput` or `InvalidScope` if a rule is broken.
        """

    def read(
        self,
        scopes: Sequence[Scope],
        since: int = 0,
        *,
        until: int | None = None,
        commit: str | None = None,
        key: str | None = None,
        limit: int | None = None,
    ) -> list[JournalEntry]:
        """Return the commits in (`since`, `until`] that touched these scopes, oldest first.

        With `key`, only the one that was made in one of these scopes with this idempotency key. With `limit`, only the
        newest.
        """

    def versions(self, atom_id: AtomId) -> list[AtomVersion]:
        """Return every version of an atom, oldest first. `Erased` if its text was erased."""

    def position(self, before: datetime | None = None) -> int:
        """Return the sequence number of the last commit, or of the last one before a moment."""

    def last_commit_at(self) -> datetime | None:
        """Return the time of the last commit; None before the first one."""

    def count(self, scopes: Sequence[Scope]) -> int:
        """Return how many commits were made in these scopes."""
