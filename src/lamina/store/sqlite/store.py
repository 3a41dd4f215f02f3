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
from lamina.atom.record import diff_atoms
from lamina.atom.relation import RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import Status, TransitionCause
from lamina.atom.trust import Origin
from lamina.clock import Clock
from lamina.errors import Refused, StoreBusy, StoreError
from lamina.store import commit_rules
from lamina.store.base import (
    AtomChange,
    AtomFilter,
    AtomVersion,
    Commit,
    CommitId,
    CommitResult,
    Edge,
    EvidenceSpan,
    JournalEntry,
    TextMatch,
    TextQuery,
)
from lamina.store.encodings import NearPassage
from lamina.store.sqlite.ageing_state import SqliteAgeingStates
from lamina.store.sqlite.buffer import SqliteBuffer
from lamina.store.sqlite.database import CorruptDatabase
from lamina.store.sqlite.dream_progress import SqliteDreamProgress
from lamina.store.sqlite.encodings import SqliteEncodings
from lamina.store.sqlite.erasures import SqliteErasures
from lamina.store.sqlite.fingerprints import SqliteFingerprints
from lamina.store.sqlite.index import SqliteIndex
from lamina.store.sqlite.jobs import SqliteJobs
from lamina.store.sqlite.journal import NewVersion, SqliteJournal
from lamina.store.sqlite.ledger import SqliteLedger
from lamina.store.sqlite.past_passages import past_passages_of
from lamina.store.sqlite.precision import move_all
from lamina.store.sqlite.recalls import SqliteRecalls
from lamina.store.sqlite.state_at import atoms_at
from lamina.store.sqlite.usage import SqliteUsage

REPLAY_BATCH = 2000

T = TypeVar("T")


class SqliteStore:
    """Two SQLite files in one folder. Threads share it through one lock, processes through SQLite's locks."""

    def __init__(self, folder: Path, clock: Clock, *, vfs: str | None = None) -> None:
        self._folder, self._clock, self._vfs = folder, clock, vfs
        self._lock = threading.RLock()
        self._in_trial = self._in_snapshot = False
        self._ids = IdSource(os.urandom)
        self._journal = SqliteJournal(folder / "history.db", vfs=vfs)
        with self._journal.db.close_on_error():
            self._index = self._open_index()
        self.ledger = SqliteLedger(self._journal.db, self._clock)
        self.fingerprints = SqliteFingerprints(self._journal.db, self._journal.meta("store_key"))
        self.erasures = SqliteErasures(
            self._journal, self.ledger, self.fingerprints, self._next_commit, self._scrub_index
        )
        self.buffer = SqliteBuffer(self._journal.db)
        self.jobs = SqliteJobs(self._journal.db, self._clock)
        self.ageing_states = SqliteAgeingStates(self._journal.db)
        self.dream_progress = SqliteDreamProgress(self._journal.db)
        self.recalls = SqliteRecalls(folder / "recalls.db", vfs=vfs)
        self.usage = SqliteUsage(folder / "usage.db", vfs=vfs)
        self.encodings = SqliteEncodings(self._on_index, self._read_heads, folder / "board")

    def commit(self, commit: Commit) -> CommitResult:
        """Check the idempotency key and every change, append the commit, and put its files into the outbox."""
        commit_rules.check_unique_atoms(commit)
        with self._lock, self._journal.db.write_transaction(durable=True):
            before = self._journal.find_commit_by_key(commit.scope, commit.key) if commit.key else None
            if before is not None:
                return self._repeat_result(*before)
            at = self._next_time()
            erased = self._journal.find_erased(change.atom.id for change in commit.changes if not change.atom.revision)
            if erased is not None:
                raise Refused(str(self._journal.erasure_error(erased)))
            heads = self._journal.heads(change.atom.id for change in commit.changes)
            pairs = [
                (heads.get(change.atom.id), commit_rules.validate_change(change, heads, commit, at))
                for change in commit.changes
            ]
            written = _new_versions(pairs)
            if not written:
                self.ledger.enqueue_files([pair for pair in pairs if pair[1].snapshot or pair[1].is_file_deleted])
                return CommitResult(None, 0, at, tuple(change.atom for _, change in pairs))
            commit_id = self._commit_id(at)
            seq = self._journal.append(commit, commit_id, at, written)
            commit_rules.check_chains(written, self._journal.heads)
            commit_rules.check_claims(written, self._journal.claim_holders)
            commit_rules.check_trust(commit, written, self._journal.heads, self._journal.editor_origins)
            self.ledger.enqueue_files(pairs)
        return CommitResult(commit_id, seq, at, tuple(change.atom for _, change in pairs))

    def _repeat_result(self, commit_id: CommitId, seq: int, at: datetime) -> CommitResult:
        """Return the result for a commit whose idempotency key was used before."""
        ids = [row[0] for row in self._journal.db.rows("SELECT atom_id FROM versions WHERE seq=? ORDER BY n", (seq,))]
        heads = self._journal.heads(AtomId(atom_id) for atom_id in ids)
        if ids and not heads:
            raise self._journal.erasure_error(AtomId(ids[0]))
        atoms = tuple(heads[AtomId(atom_id)] for atom_id in ids if atom_id in heads)
        return CommitResult(commit_id, seq, at, atoms, is_repeat=True)

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
        now, (_, last, _) = self._clock.now(), self._journal.tip()
        return max(now, last) if last else now

    def read(self, atom_filter: AtomFilter) -> list[Atom]:
        with self._lock:
            return self._journal.read(atom_filter)

    def count(self, atom_filter: AtomFilter) -> int:
        with self._lock:
            return self._journal.count(atom_filter)

    def heads_at(self, ids: Iterable[AtomId], seq: int, scopes: Sequence[Scope]) -> dict[AtomId, Atom]:
        with self._lock:
            atoms = atoms_at(self._journal.db, ids, seq)
        return {atom_id: atom for atom_id, atom in atoms.items() if atom.scope in scopes}

    def required_trust(self, atom: Atom) -> float:
        with self._lock:
            return commit_rules.required_trust(atom, self._journal.heads, self._journal.editor_origins)

    def find_refusal_reason(self, atom: Atom, origin: Origin) -> str | None:
        with self._lock:
            old = self._journal.heads([atom.id]).get(atom.id)
            return commit_rules.find_refusal_reason(
                old, atom, origin, TransitionCause.ORDINARY, self._journal.heads, self._journal.editor_origins
            )

    def versions(self, atom_id: AtomId) -> list[AtomVersion]:
        with self._lock:
            return self._journal.versions(atom_id)

    def read_journal(
        self,
        scopes: Sequence[Scope],
        since: int = 0,
        *,
        until: int | None = None,
        commit: str | None = None,
        limit: int | None = None,
    ) -> list[JournalEntry]:
        with self._lock:
            return self._journal.read_entries(scopes, since, until, commit, limit)

    def search_text(self, query: TextQuery) -> list[TextMatch]:
        if not query.tokens:
            return []
        with self._lock:
            return self._on_current_index(lambda: self._index.search_text(query))

    def search_past_passages(self, query: TextQuery) -> list[tuple[TextMatch, NearPassage]]:
        if not query.tokens:
            return []
        with self._lock:
            return self._on_current_index(lambda: self._index.search_past(query))

    def _on_index(self, work: Callable[[SqliteIndex], T]) -> T:
        with self._lock:
            return self._on_current_index(lambda: work(self._index))

    def _read_heads(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        with self._lock:
            return self._journal.heads(ids)

    def edges(
        self, ids: Iterable[str], scopes: Sequence[Scope], statuses: Collection[Status] | None = None
    ) -> list[Edge]:
        id_list = list(ids)
        with self._lock:
            return self._on_current_index(lambda: self._index.edges(id_list, scopes, statuses))

    def find_relations(
        self,
        name: RelationName,
        scopes: Sequence[Scope],
        statuses: Collection[Status],
        targets: Collection[AtomId] | None = None,
    ) -> list[Edge]:
        with self._lock:
            return self._on_current_index(lambda: self._index.find_relations(name, scopes, statuses, targets))

    def find_successors(self, ids: Collection[AtomId], scopes: Sequence[Scope]) -> dict[AtomId, list[AtomId]]:
        with self._lock:
            return self._on_current_index(lambda: self._index.find_successors(ids, scopes))

    def find_evidence_spans(self, keys: Collection[tuple[AtomId, int]], scopes: Sequence[Scope]) -> list[EvidenceSpan]:
        key_list = list(keys)
        if not key_list:
            return []
        with self._lock:
            return self._on_current_index(lambda: self._index.find_evidence_spans(key_list, scopes))

    def find_subjects(self, scope: Scope, words: Sequence[str]) -> list[str]:
        with self._lock:
            return self._journal.find_subjects(scope, words)

    def has_key(self, scope: Scope, key: str) -> bool:
        with self._lock:
            return self._journal.find_commit_by_key(scope, key) is not None

    def position(self, before: datetime | None = None) -> int:
        with self._lock:
            return self._journal.position(before)

    def count_commits(self, scopes: Sequence[Scope]) -> int:
        with self._lock:
            return self._journal.count_commits(scopes)

    def count_by(self, scopes: Sequence[Scope], field: str) -> dict[str, int]:
        with self._lock:
            return self._journal.count_by(scopes, field)

    @contextmanager
    def exclusive_transaction(self) -> Iterator[None]:
        """Run a write transaction in which no one else commits; its commits are durable at the end."""
        with self._lock, self._journal.db.exclusive_transaction():
            yield

    @contextmanager
    def trial_transaction(self) -> Iterator[None]:
        """Run a transaction whose commits are rolled back at the end; the index stays as it is."""
        with self._lock, self._journal.db.trial_transaction():
            self._in_trial = True
            try:
                yield
            finally:
                self._in_trial = False

    def catch_up(self) -> None:
        """Bring the index to the last commit; cheap if it is there already."""
        with self._lock:
            if not self._in_trial:
                self._with_repair(self._replay)

    def rebuild_index(self) -> int:
        with self._lock:
            self._with_repair(self._rebuild_index)
            return len(self._journal.all_ids())

    def _rebuild_index(self) -> None:
        with self._index.db.write_transaction(durable=False):
            self._apply_all()

    def _apply_all(self) -> None:
        self._index.reset()
        self._apply_since(0)
        self._index.drop_orphans()

    def check(self) -> list[str]:
        with self._lock:
            faults = self._journal.find_broken_links() or self._journal.find_wrong_heads()
            before = self.dump()
            self.rebuild_index()
            if before != self.dump():
                faults.append("index: it differed from the journal and was rebuilt")
            return faults

    def dump(self) -> list[str]:
        """Return everything that the index contains, in canonical order."""
        with self._lock:
            self.catch_up()
            return self._with_repair(lambda: list(self._index.dump()))

    def close(self) -> None:
        with self._lock:
            self.recalls.close()
            self.usage.close()
            self._index.db.close()
            self._journal.db.close()

    def _replay(self) -> None:
        if self._index.position == self._journal.position():
            return
        with self._index.db.write_transaction(durable=False):
            applied = self._index.position
            if applied > self._journal.position():
                self._apply_all()
            else:
                self._apply_since(applied)

    def _apply_since(self, applied: int) -> None:
        with self._journal.db.read_transaction():
            position = self._journal.position()
            ids = self._journal.changed_since(applied) if applied else self._journal.all_ids()
            if applied and self._journal.find_erased(ids) is not None:
                self._apply_all()
                return
            for start in range(0, len(ids), REPLAY_BATCH):
                heads = self._journal.heads(ids[start : start + REPLAY_BATCH])
                with_past = self._index.find_with_past(list(heads))
                past = past_passages_of(self._journal.db, heads, applied, with_past)
                self._index.apply((heads[atom_id] for atom_id in sorted(heads)), position, past)
            self._index.apply((), position)
            if not applied:
                move_all(self._index.db, self.ageing_states.reduced_bits())

    @contextmanager
    def read_snapshot(self) -> Iterator[None]:
        """Bring the index to the last commit once, while other threads wait, for many queries of one reader."""
        with self._lock:
            self._in_snapshot = self._is_current()
            self.encodings.hold_snapshot(self._in_snapshot)
            try:
                yield
            finally:
                self._in_snapshot = False
                self.encodings.hold_snapshot(False)

    def _is_current(self) -> bool:
        """Bring the index to the last commit; return False if the disk does not allow it."""
        try:
            self.catch_up()
        except StoreBusy:
            raise
        except StoreError:
            return False
        return True

    def _on_current_index(self, work: Callable[[], T]) -> T:
        """Run a query on an index that knows the last commit.

        If the index cannot be written, it is caught up in a rolled-back transaction: a full disk stops no read.
        """
        if self._in_snapshot or self._is_current():
            return self._with_repair(work)
        self.encodings.reset_search()
        try:
            with self._index.db.trial_transaction():
                self._replay()
                return work()
        finally:
            self.encodings.reset_search()

    def _with_repair(self, work: Callable[[], T]) -> T:
        """Run a function; if the index is damaged or deleted, rebuild it and run the function again."""
        try:
            if self._index.db.is_current_file():
                return work()
        except CorruptDatabase:
            # Another process may have rebuilt it already: then the file is its new one.
            if self._index.db.is_current_file():
                self._discard_files()
        self._index.db.close()
        self._index = self._open_index()
        self.encodings.reset_search()
        self._replay()
        return work()

    def _open_index(self) -> SqliteIndex:
        store_id = str(self._journal.meta("store_id"))
        try:
            return SqliteIndex(self._folder / "index.db", store_id, vfs=self._vfs)
        except CorruptDatabase:
            self._discard_files()
            return SqliteIndex(self._folder / "index.db", store_id, vfs=self._vfs)

    def _discard_files(self) -> None:
        for suffix in ("-wal", "-shm", ""):
            (self._folder / f"index.db{suffix}").unlink(missing_ok=True)


def _new_versions(pairs: Sequence[tuple[Atom | None, AtomChange]]) -> list[NewVersion]:
    written = []
    for old, change in pairs:
        fields = diff_atoms(old, change.atom)
        if fields:
            written.append(NewVersion(old, change.atom, fields))
    return written
