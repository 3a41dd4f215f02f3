"""The `Store` Protocol and the values that cross it: commits in; atoms, journal entries and passages out.

Every backend passes `lamina.testing.StoreContract`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import NewType, Protocol

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import MemoryType
from lamina.atom.record import Record
from lamina.atom.relation import RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import Status, TransitionCause
from lamina.atom.trust import Origin
from lamina.store.ageing_state import AgeingStates
from lamina.store.buffer import Buffer
from lamina.store.dream_progress import DreamProgress
from lamina.store.encodings import Encodings, NearPassage
from lamina.store.erasure import Erasures
from lamina.store.fingerprints import Fingerprints
from lamina.store.jobs import Jobs
from lamina.store.ledger import Ledger
from lamina.store.recalls import Recalls
from lamina.store.usage import Usage
from lamina.vault.disk import Stamp

CommitId = NewType("CommitId", str)


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as a person saved it; the next version of the file is rendered from these bytes.

    `replaced_by_sha256`: the SHA-256 of the engine's bytes that are at the path already, because the person's bytes
    came out of an atomic exchange of the two files.
    """

    path: str
    data: bytes
    stamp: Stamp
    checked_ns: int
    replaced_by_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class AtomChange:
    """One atom as it is to be stored. Its revision is the one the change is based on; 0 creates a new atom."""

    atom: Atom
    snapshot: FileSnapshot | None = None
    is_file_deleted: bool = False


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
    """What a commit did.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomFilter:
    """Which atoms to read. Scopes are required: an empty tuple selects nothing.

    `core_only`: only pinned atoms and those that never age. `include_run_notes`: whether the notes of runs are
    included. `expired_by`: only active atoms whose valid time ended by this moment.
    """

    scopes: tuple[Scope, ...]
    ids: tuple[AtomId, ...] | None = None
    id_suffix: str | None = None
    statuses: frozenset[Status] | None = None
    kinds: frozenset[str] | None = None
    memory_types: frozenset[MemoryType] | None = None
    subject: str | None = None
    claims: tuple[str, ...] | None = None
    session_id: str | None = None
    run_id: str | None = None
    include_run_notes: bool = True
    contents: tuple[str, ...] | None = None
    valid_at: datetime | None = None
    expired_by: datetime | None = None
    core_only: bool = False
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """Which passages to find: those with any of the tokens and all of `required_tokens`, filtered before ranking.

    `is_exhaustive` scores every match of the most common word too; pruning is measured against it. Two moments replace
    `valid_at`: `true_at` selects what was valid then, superseded or not; `known_by` selects what was recorded by then,
    whatever its status is now.
    """

    scopes: tuple[Scope, ...]
    tokens: tuple[str, ...]
    statuses: frozenset[Status]
    memory_types: frozenset[MemoryType]
    valid_at: datetime
    limit: int
    required_tokens: tuple[str, ...] = ()
    is_exhaustive: bool = False
    true_at: datetime | None = None
    known_by: datetime | None = None


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A passage that contains some of the tokens: its BM25 score, what each token adds to it, and its atom's status."""

    atom_id: AtomId
    n: int
    status: Status
    score: float
    token_scores: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """A link of the graph: to another atom, or to something atoms share (`subject:…`, `entity:…`, `session:…`)."""

    source: AtomId
    name: str
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """One piece of evidence: the atom rests on characters `start` to `end` of passage `n` of a segment."""

    atom_id: AtomId
    segment: AtomId
    n: int
    start: int
    end: int


class Store(Protocol):
    """The journal and its views. What a method returns is never older than the last acknowledged commit."""

    @property
    def ledger(self) -> Ledger:
        """Return the ledger: what the store knows of the vault's files."""

    @property
    def encodings(self) -> Encodings:
        """Return the vectors and token states that models computed for the passages."""

    @property
    def recalls(self) -> Recalls:
        """Return the log of the last recalls."""

    @property
    def buffer(self) -> Buffer:
        """Return the passages that are waiting for extraction."""

    @property
    def usage(self) -> Usage:
        """Return the usage counts of chat models."""

    @property
    def fingerprints(self) -> Fingerprints:
        """Return the fingerprints by which erased text is recognised."""

    @property
    def erasures(self) -> Erasures:
        """Return what removes text for good."""

    @property
    def jobs(self) -> Jobs:
        """Return the leases on work that one process does for all."""

    @property
    def dream_progress(self) -> DreamProgress:
        """Return how far the dream steps have progressed."""

    @property
    def ageing_states(self) -> AgeingStates:
        """Return what maintenance knows of each atom."""

    def commit(self, commit: Commit) -> CommitResult:
        """Check the commit against the rules and apply it completely or not at all; durable when it returns.

        Raises `Refused`, `StaleRevision`, `ClaimTaken`, `NotFound`, `InvalidInput` or `InvalidScope` if a rule is
        broken.
        """

    def exclusive_transaction(self) -> AbstractContextManager[None]:
        """Run a write transaction in which no one else commits; all commits inside are applied, or none.

        What is read inside is still current when it is committed.
        """

    def trial_transaction(self) -> AbstractContextManager[None]:
        """Run a transaction whose commits are checked and can be read inside, and are rolled back at the end."""

    def read_snapshot(self) -> AbstractContextManager[None]:
        """Bring the index to the last commit once, for a reader that sends many queries about one moment."""

    def read(self, atom_filter: AtomFilter) -> list[Atom]:
        """Return the current atoms that match, most recently recorded first, then by id."""

    def count(self, atom_filter: AtomFilter) -> int:
        """Return how many atoms match, ignoring the limit."""

    def heads_at(self, ids: Iterable[AtomId], seq: int, scopes: Sequence[Scope]) -> dict[AtomId, Atom]:
        """Return those of the atoms that existed at a journal position, as they were then."""

    def required_trust(self, atom: Atom) -> float:
        """Return the trust that is needed to change the status of an atom."""

    def find_refusal_reason(self, atom: Atom, origin: Origin) -> str | None:
        """Return why this origin may not write the atom; None if the trust rules allow it."""

    def versions(self, atom_id: AtomId) -> list[AtomVersion]:
        """Return every version of an atom, oldest first."""

    def read_journal(
        self,
        scopes: Sequence[Scope],
        since: int = 0,
        *,
        until: int | None = None,
        commit: str | None = None,
        limit: int | None = None,
    ) -> list[JournalEntry]:
        """Return the commits in (`since`, `until`] that touched these scopes, oldest first.

        With `limit`, only the newest.
        """

    def search_text(self, query: TextQuery) -> list[TextMatch]:
        """Return the best passages for the tokens."""

    def search_past_passages(self, query: TextQuery) -> list[tuple[TextMatch, NearPassage]]:
        """Return the best past passages for the tokens: those that atoms no longer have. Only `known_by` filters."""

    def edges(
        self, ids: Iterable[str], scopes: Sequence[Scope], statuses: Collection[Status] | None = None
    ) -> list[Edge]:
        """Return the links from or to these atoms or shared things; with `statuses`, only from atoms of these."""

    def find_relations(
        self,
        name: RelationName,
        scopes: Sequence[Scope],
        statuses: Collection[Status],
        targets: Collection[AtomId] | None = None,
    ) -> list[Edge]:
        """Return every relation of this name from atoms with these statuses, within the scopes.

        With `targets`, only the relations to those atoms.
        """

    def find_successors(self, ids: Collection[AtomId], scopes: Sequence[Scope]) -> dict[AtomId, list[AtomId]]:
        """Return for each atom its nearest successors whose status is not an end status.

        An atom whose own status is not an end status is its own result.
        """

    def find_evidence_spans(self, keys: Collection[tuple[AtomId, int]], scopes: Sequence[Scope]) -> list[EvidenceSpan]:
        """Return which atoms of these scopes rest on the passages, with any status, in text order."""

    def rebuild_index(self) -> int:
        """Rebuild the index from the journal; return how many atoms it contains."""

    def find_subjects(self, scope: Scope, words: Sequence[str]) -> list[str]:
        """Return the subjects of a scope, in normal form, that begin with the same letters as one of the words."""

    def has_key(self, scope: Scope, key: str) -> bool:
        """Return whether a commit of this scope had this idempotency key."""

    def position(self, before: datetime | None = None) -> int:
        """Return the sequence number of the last commit, or of the last one before a moment."""

    def count_commits(self, scopes: Sequence[Scope]) -> int:
        """Return how many commits were made in these scopes."""

    def count_by(self, scopes: Sequence[Scope], field: str) -> dict[str, int]:
        """Return the number of atoms for each value of `field`: status, kind, memory_type or layer."""

    def check(self) -> list[str]:
        """Return the faults found: a broken hash chain, an index that differs from the journal. Empty is healthy."""

    def close(self) -> None:
        """Release every resource; the store cannot be used afterwards."""
