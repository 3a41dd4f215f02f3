"""The embedded store: history.db is the source of truth, index.db follows it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.record import difference
from lamina.atom.relation import RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.clock import Clock
from lamina.errors import Refused, StoreBusy, StoreError
from lamina.store import rules
from lamina.store.base import Change, Commit, CommitId, Committed, Edge, Entry, Filter, Match, Rest, TextQuery, Version
from lamina.store.encodings import Near
from lamina.store.sqlite.believed import believed
from lamina.store.sqlite.buffer import SqliteBuffer
from lamina.store.sqlite.database import Corrupt
from lamina.store.sqlite.dreams import SqliteDreams
from lamina.store.sqlite.encodings import SqliteEncodings
from lamina.store.sqlite.erasures import SqliteErasures
from lamina.store.sqlite.fingerprints import SqliteFingerprints
from lamina.store.sqlite.former import former_of
from lamina.store.sqlite.history import History, Written
from lamina.store.sqlite.index import Index
from lamina.store.sqlite.jobs import SqliteJobs
from lamina.store.sqlite.ledger import SqliteLedger
from lamina.store.sqlite.lives import SqliteLives
from lamina.store.sqlite.precision import move_all
from lamina.store.sqlite.recalls import SqliteRecalls
from lamina.store.sqlite.usage import SqliteUsage

REPLAY_AT_ONCE = 2000

T = TypeVar("T")


class SqliteStore:
    """Two SQLite files in one folder. Threads share it through one lock, processes through SQLite's locks."""

    def __init__(self, folder: Path, clock: Clock, *, vfs: str | None = None) -> None:
        self._folder, self._clock, self._vfs = folder, clock, vfs
        self._lock = threading.RLock()
        self._trying = self._steady = False
        self._ids = IdSource(os.urandom)
        self._history = History(folder / "history.db", vfs=vfs)
        with self._history.db.or_closed():
            self._index = self._open_index()
        self.ledger = SqliteLedger(self._history.db, self._clock)
        self.fingerprints = SqliteFingerprints(self._history.db, self._history.meta("store_key"))
        self.erasures = SqliteErasures(
            self._history, self.ledger, self.fingerprints, self._next_commit, self._scrub_index
        )
        self.buffer = SqliteBuffer(self._history.db)
        self.jobs = SqliteJobs(self._history.db, self._clock)
        self.lives = SqliteLives(self._history.db)
        self.dreams = SqliteDreams(self._history.db)
        self.recalls = SqliteRecalls(folder / "recalls.db", vfs=vfs)
        self.usage = SqliteUsage(folder / "usage.db", vfs=vfs)
        self.encodings = SqliteEncodings(self._on_index, self._heads, folder / "board")

    def commit(self, commit: Commit) -> Committed:
        """Check the idempotency key and every change, append the commit, and put its files into the outbox."""
        rules.check_once(commit)
        with self._lock, self._history.db.writing(durable=True):
            before = self._history.commit_of_key(commit.scope, commit.key) if commit.key else None
            if before is not None:
                return self._repeated(*before)
            at = self._next_time()
            erased = self._history.any_erased(change.atom.id for change in commit.changes if not change.atom.revision)
            if erased is not None:
                raise Refused(str(self._history.erased(erased)))
            heads = self._history.heads(change.atom.id for change in commit.changes)
            pairs = [
                (heads.get(change.atom.id), rules.accepted(change, heads, commit, at)) for change in commit.changes
            ]
            written = _versions(pairs)
            if not written:
                self.ledger.publish([pair for pair in pairs if pair[1].seen or pair[1].file_gone])
                return Committed(None, 0, at, tuple(change.atom for _, change in pairs))
            commit_id = self._commit_id(at)
            seq = self._history.append(commit, commit_id, at, written)
            rules.check_chains(written, self._history.heads)
            rules.check_claims(written, self._history.holders)
            rules.check_trust(commit, written, self._history.heads, self._history.hands)
            self.ledger.publish(pairs)
        return Committed(commit_id, seq, at, tuple(change.atom for _, change in pairs))

    def _repeated(self, commit_id: CommitId, seq: int, at: datetime) -> Committed:
        """Return the result for a commit whose idempotency key was used before."""
        ids = [row[0] for row in self._history.db.rows("SELECT atom_id FROM versions WHERE seq=? ORDER BY n", (seq,))]
        heads = self._history.heads(AtomId(atom_id) for atom_id in ids)
        if ids and not heads:
            raise self._history.erased(AtomId(ids[0]))
        atoms = tuple(heads[AtomId(atom_id)] for atom_id in ids if atom_id in heads)
        return Committed(commit_id, seq, at, atoms, repeated=True)

    def _commit_id(self, at: datetime) -> CommitId:
        return CommitId(self._ids.new(at))

    def _next_commit(self) -> tuple[CommitId, datetime]:
        at = self._next_time()
        return self._commit_id(at), at

    def _scrub_index(self) -> None:
        """Remove every byte of erased text from the index, with the vectors computed from it."""
        with self._lock:
            self.catch_up()
            self.encodings.scrub()
            self._index.db.scrub()

    def _next_time(self) -> datetime:
        """Return the time of the next commit, never before the last one."""
        now, (_, last, _) = self._clock.now(), self._history.tip()
        return max(now, last) if last else now

    def read(self, wanted: Filter) -> list[Atom]:
        with self._lock:
            return self._history.read(wanted)

    def count(self, wanted: Filter) -> int:
        with self._lock:
            return self._history.count(wanted)

    def heads_at(self, ids: Iterable[AtomId], seq: int, scopes: Sequence[Scope]) -> dict[AtomId, Atom]:
        with self._lock:
            atoms = believed(self._history.db, ids, seq)
        return {atom_id: atom for atom_id, atom in atoms.items() if atom.scope in scopes}

    def guard(self, atom: Atom) -> float:
        with self._lock:
            return rules.guard(atom, self._history.heads, self._history.hands)

    def objection(self, atom: Atom, by: Origin) -> str | None:
        with self._lock:
            old = self._history.heads([atom.id]).get(atom.id)
            return rules.objection(old, atom, by, Way.ORDINARY, self._history.heads, self._history.hands)

    def versions(self, atom_id: AtomId) -> list[Version]:
        with self._lock:
            return self._history.versions(atom_id)

    def journal(
        self,
        scopes: Sequence[Scope],
        since: int = 0,
        *,
        until: int | None = None,
        commit: str | None = None,
        limit: int | None = None,
    ) -> list[Entry]:
        with self._lock:
            return self._history.entries(scopes, since, until, commit, limit)

    def search(self, query: TextQuery) -> list[Match]:
        if not query.tokens:
            return []
        with self._lock:
            return self._following(lambda: self._index.search(query))

    def former(self, query: TextQuery) -> list[tuple[Match, Near]]:
        if not query.tokens:
            return []
        with self._lock:
            return self._following(lambda: self._index.former(query))

    def _on_index(self, work: Callable[[Index], T]) -> T:
        with self._lock:
            return self._following(lambda: work(self._index))

    def _heads(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        with self._lock:
            return self._history.heads(ids)

    def edges(
        self, ids: Iterable[str], scopes: Sequence[Scope], statuses: Collection[Status] | None = None
    ) -> list[Edge]:
        id_list = list(ids)
        with self._lock:
            return self._following(lambda: self._index.edges(id_list, scopes, statuses))

    def links(
        self,
        name: RelationName,
        scopes: Sequence[Scope],
        statuses: Collection[Status],
        to: Collection[AtomId] | None = None,
    ) -> list[Edge]:
        with self._lock:
            return self._following(lambda: self._index.links(name, scopes, statuses, to))

    def followed(self, ids: Collection[AtomId], scopes: Sequence[Scope]) -> dict[AtomId, list[AtomId]]:
        with self._lock:
            return self._following(lambda: self._index.followed(ids, scopes))

    def resting(self, keys: Collection[tuple[AtomId, int]], scopes: Sequence[Scope]) -> list[Rest]:
        key_list = list(keys)
        if not key_list:
            return []
        with self._lock:
            return self._following(lambda: self._index.resting(key_list, scopes))

    def subjects(self, scope: Scope, words: Sequence[str]) -> list[str]:
        with self._lock:
            return self._history.subjects(scope, words)

    def has_key(self, scope: Scope, key: str) -> bool:
        with self._lock:
            return self._history.commit_of_key(scope, key) is not None

    def position(self, before: datetime | None = None) -> int:
        with self._lock:
            return self._history.position(before)

    def commits(self, scopes: Sequence[Scope]) -> int:
        with self._lock:
            return self._history.commits(scopes)

    def counts(self, scopes: Sequence[Scope], by: str) -> dict[str, int]:
        with self._lock:
            return self._history.counts(scopes, by)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Run a write transaction in which no one else commits; its commits are durable at the end."""
        with self._lock, self._history.db.alone():
            yield

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Run a transaction whose commits are rolled back at the end; the index stays as it is."""
        with self._lock, self._history.db.trial():
            self._trying = True
            try:
                yield
            finally:
                self._trying = False

    def catch_up(self) -> None:
        """Bring the index to the last commit; cheap if it is there already."""
        with self._lock:
            if not self._trying:
                self._mending(self._replay)

    def rebuild(self) -> int:
        with self._lock:
            self._mending(self._make_anew)
            return len(self._history.all_ids())

    def _make_anew(self) -> None:
        with self._index.db.writing(durable=False):
            self._apply_all()

    def _apply_all(self) -> None:
        self._index.empty()
        self._apply_since(0)
        self._index.drop_orphans()

    def check(self) -> list[str]:
        with self._lock:
            faults = self._history.broken_links() or self._history.strayed_heads()
            before = self.dump()
            self.rebuild()
            if before != self.dump():
                faults.append("index: it differed from the journal and was rebuilt")
            return faults

    def dump(self) -> list[str]:
        """Return everything that the index contains, in canonical order."""
        with self._lock:
            self.catch_up()
            return self._mending(lambda: list(self._index.dump()))

    def close(self) -> None:
        with self._lock:
            self.recalls.close()
            self.usage.close()
            self._index.db.close()
            self._history.db.close()

    def _replay(self) -> None:
        if self._index.applied == self._history.position():
            return
        with self._index.db.writing(durable=False):
            applied = self._index.applied
            if applied > self._history.position():
                self._apply_all()
            else:
                self._apply_since(applied)

    def _apply_since(self, applied: int) -> None:
        with self._history.db.reading():
            position = self._history.position()
            ids = self._history.changed_since(applied) if applied else self._history.all_ids()
            if applied and self._history.any_erased(ids) is not None:
                self._apply_all()
                return
            for start in range(0, len(ids), REPLAY_AT_ONCE):
                heads = self._history.heads(ids[start : start + REPLAY_AT_ONCE])
                with_past = self._index.with_former(list(heads))
                past = former_of(self._history.db, heads, applied, with_past)
                self._index.apply((heads[atom_id] for atom_id in sorted(heads)), position, past)
            self._index.apply((), position)
            if not applied:
                move_all(self._index.db, self.lives.coded())

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Bring the index to the last commit once, while other threads wait, for many queries of one reader."""
        with self._lock:
            self._steady = self._is_current()
            self.encodings.hold_still(self._steady)
            try:
                yield
            finally:
                self._steady = False
                self.encodings.hold_still(False)

    def _is_current(self) -> bool:
        """Bring the index to the last commit; return False if the disk does not allow it."""
        try:
            self.catch_up()
        except StoreBusy:
            raise
        except StoreError:
            return False
        return True

    def _following(self, work: Callable[[], T]) -> T:
        """Run a query on an index that knows the last commit.

        If the index cannot be written, it is caught up in a rolled-back transaction: a full disk stops no read.
        """
        if self._steady or self._is_current():
            return self._mending(work)
        self.encodings.forget_board()
        try:
            with self._index.db.trial():
                self._replay()
                return work()
        finally:
            self.encodings.forget_board()

    def _mending(self, work: Callable[[], T]) -> T:
        """Run a function; if the index is damaged or deleted, rebuild it and run the function again."""
        try:
            if self._index.db.is_there():
                return work()
        except Corrupt:
            # Another process may have rebuilt it already: then the file is its new one.
            if self._index.db.is_there():
                self._discard_files()
        self._index.db.close()
        self._index = self._open_index()
        self.encodings.forget_board()
        self._replay()
        return work()

    def _open_index(self) -> Index:
        store_id = str(self._history.meta("store_id"))
        try:
            return Index(self._folder / "index.db", store_id, vfs=self._vfs)
        except Corrupt:
            self._discard_files()
            return Index(self._folder / "index.db", store_id, vfs=self._vfs)

    def _discard_files(self) -> None:
        for suffix in ("-wal", "-shm", ""):
            (self._folder / f"index.db{suffix}").unlink(missing_ok=True)


def _versions(pairs: Sequence[tuple[Atom | None, Change]]) -> list[Written]:
    written = []
    for old, change in pairs:
        fields = difference(old, change.atom)
        if fields:
            written.append(Written(old, change.atom, fields))
    return written
