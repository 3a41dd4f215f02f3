"""What a store is: commits in, atoms, journal and passages out. Every backend passes `lamina.testing.StoreContract`."""

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
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.store.buffer import Buffer
from lamina.store.dreams import Dreams
from lamina.store.encodings import Encodings, Near
from lamina.store.erasure import Erasures
from lamina.store.fingerprints import Fingerprints
from lamina.store.jobs import Jobs
from lamina.store.ledger import Ledger
from lamina.store.lives import Lives
from lamina.store.recalls import Recalls
from lamina.store.usage import Usage
from lamina.vault.files import Stamp

CommitId = NewType("CommitId", str)


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as a person left it; what is written next is written into these bytes.

    `swapped_for`: the SHA-256 of our own bytes that stand at the path already, because the person's came out of an
    exchange.
    """

    path: str
    data: bytes
    stamp: Stamp
    checked_ns: int
    swapped_for: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One atom as it shall be. Its revision is the one the change was made on; 0 makes a new atom."""

    atom: Atom
    seen: Seen | None = None
    file_gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One atomic, attributed, undoable group of changes; the only way anything changes."""

    actor: str
    origin: Origin
    verb: str
    reason: str
    scope: Scope
    changes: tuple[Change, ...]
    way: Way = Way.ORDINARY
    key: str | None = None
    batch: str | None = None
    undoes: CommitId | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit did. `repeated`: the key was known and nothing was done again; `seq` 0: nothing differed."""

    id: CommitId | None
    seq: int
    at: datetime
    atoms: tuple[Atom, ...]
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Changed:
    """One atom's part in a journal entry: the fields set (none once erased), and the status before and after."""

    atom_id: AtomId
    revision: int
    fields: Record
    old_status: Status | None
    new_status: Status


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit as the journal tells it."""

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
    changes: tuple[Changed, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """An atom as one commit left it, and the names of the fields that commit set."""

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
        return self.atom.revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which atoms. Scopes are required: an empty list selects nothing. `core`: pinned ones and those that never age.

    `notes`: whether the notes of runs are among them. `over_by`: active ones whose time is over at a moment.
    """

    scopes: tuple[Scope, ...]
    ids: tuple[AtomId, ...] | None = None
    id_ending: str | None = None
    statuses: frozenset[Status] | None = None
    kinds: frozenset[str] | None = None
    memory_types: frozenset[MemoryType] | None = None
    subject: str | None = None
    claims: tuple[str, ...] | None = None
    session_id: str | None = None
    run_id: str | None = None
    notes: bool = True
    contents: tuple[str, ...] | None = None
    valid_at: datetime | None = None
    over_by: datetime | None = None
    core: bool = False
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """Which passages: those that hold any of the tokens and all of `holding`, filtered before they are ranked.

    `exhaustive` scores every match of the commonest word too; it is what pruning is measured against. Two moments take
    the place of `valid_at`: `true_at` lets through what held then, replaced or not, `known_by` what was there by then,
    whatever became of it.
    """

    scopes: tuple[Scope, ...]
    tokens: tuple[str, ...]
    statuses: frozenset[Status]
    memory_types: frozenset[MemoryType]
    valid_at: datetime
    limit: int
    holding: tuple[str, ...] = ()
    exhaustive: bool = False
    true_at: datetime | None = None
    known_by: datetime | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """A passage that holds some of the tokens: its BM25 score, what each token adds to it, and its atom's status."""

    atom_id: AtomId
    n: int
    status: Status
    score: float
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """A link as the graph walks it: to another atom, or to what atoms share (`subject:…`, `entity:…`, `session:…`)."""

    source: AtomId
    name: str
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Rest:
    """An atom that rests on characters start to end of passage `n` of a segment."""

    atom_id: AtomId
    segment: AtomId
    n: int
    start: int
    end: int


class Store(Protocol):
    """The journal and its views. Whatever a method returns is no older than the last acknowledged commit."""

    @property
    def ledger(self) -> Ledger:
        """What the store knows of the vault's files."""

    @property
    def encodings(self) -> Encodings:
        """What models made of the passages."""

    @property
    def recalls(self) -> Recalls:
        """What the last recalls returned."""

    @property
    def buffer(self) -> Buffer:
        """Passages that wait to be read for statements."""

    @property
    def usage(self) -> Usage:
        """What chat models have used."""

    @property
    def fingerprints(self) -> Fingerprints:
        """By what erased words are known again."""

    @property
    def erasures(self) -> Erasures:
        """How words are taken out for good."""

    @property
    def jobs(self) -> Jobs:
        """Work that one process does on behalf of all."""

    @property
    def dreams(self) -> Dreams:
        """What dreams remember from one to the next."""

    @property
    def lives(self) -> Lives:
        """What maintenance knows of each atom."""

    def commit(self, commit: Commit) -> Committed:
        """Check the commit against the rules and apply it whole or not at all; durable when it returns."""

    def alone(self) -> AbstractContextManager[None]:
        """Nobody else commits meanwhile, so what is read inside still stands when it is committed; all or nothing."""

    def trial(self) -> AbstractContextManager[None]:
        """What is committed inside is checked and can be read, and is gone at the end."""

    def steady(self) -> AbstractContextManager[None]:
        """For a reader who asks many things: they are looked up once for the last commit there is at the beginning."""

    def read(self, wanted: Filter) -> list[Atom]:
        """The atoms as they are, newest record first, then by id."""

    def count(self, wanted: Filter) -> int:
        """How many there are, whatever the limit."""

    def heads_at(self, ids: Iterable[AtomId], seq: int, scopes: Sequence[Scope]) -> dict[AtomId, Atom]:
        """Those of these atoms that were there at a journal position, as they were then."""

    def guard(self, atom: Atom) -> float:
        """How trusted one must be to change how an atom stands."""

    def objection(self, atom: Atom, by: Origin) -> str | None:
        """Why somebody of this origin may not write an atom so; None where trust forbids nothing."""

    def versions(self, atom_id: AtomId) -> list[Version]:
        """Every version of an atom, oldest first."""

    def journal(
        self,
        scopes: Sequence[Scope],
        since: int = 0,
        *,
        until: int | None = None,
        commit: str | None = None,
        limit: int | None = None,
    ) -> list[Entry]:
        """Commits after a position, up to another, that touched these scopes, oldest first; `limit`: the newest."""

    def search(self, query: TextQuery) -> list[Match]:
        """The best passages for the tokens."""

    def former(self, query: TextQuery) -> list[tuple[Match, Near]]:
        """The best passages for the tokens among those that atoms had once and have no longer, by `known_by` alone."""

    def edges(
        self, ids: Iterable[str], scopes: Sequence[Scope], statuses: Collection[Status] | None = None
    ) -> list[Edge]:
        """Links from or to these atoms or shared things; with `statuses` only those of atoms that stand so."""

    def links(
        self,
        name: RelationName,
        scopes: Sequence[Scope],
        statuses: Collection[Status],
        to: Collection[AtomId] | None = None,
    ) -> list[Edge]:
        """Every relation of this name that atoms which stand so have to others, or `to` these, within the scopes."""

    def followed(self, ids: Collection[AtomId], scopes: Sequence[Scope]) -> dict[AtomId, list[AtomId]]:
        """For each of these atoms the first ones in the chain of what took its place whose status is no end; itself, if
        its own is none."""

    def resting(self, keys: Collection[tuple[AtomId, int]], scopes: Sequence[Scope]) -> list[Rest]:
        """Which atoms of these scopes rest on these passages, whatever their status, in the order of the words."""

    def rebuild(self) -> int:
        """Make the index anew from the journal; returns how many atoms it holds."""

    def subjects(self, scope: Scope, words: Sequence[str]) -> list[str]:
        """The subjects of a scope, in normal form, that begin as one of these words does."""

    def has_key(self, scope: Scope, key: str) -> bool:
        """Whether a commit of this scope has carried the key."""

    def position(self, before: datetime | None = None) -> int:
        """The sequence number of the last commit, or of the last one before a moment."""

    def commits(self, scopes: Sequence[Scope]) -> int:
        """How many commits were made in these scopes."""

    def counts(self, scopes: Sequence[Scope], by: str) -> dict[str, int]:
        """How many atoms there are of each status, kind, memory_type or layer."""

    def check(self) -> list[str]:
        """What is wrong inside: broken hash chain, index that differs from the journal. Empty is healthy."""

    def close(self) -> None:
        """Let go of every resource; the store cannot be used afterwards."""
