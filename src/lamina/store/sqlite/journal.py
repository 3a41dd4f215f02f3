"""The journal port in SQLite. `append` is the story of a commit."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, IdSource
from lamina.atom.json_record import diff_atoms
from lamina.atom.provenance import Scope
from lamina.clock import Clock
from lamina.errors import Refused, StalePosition
from lamina.store import commit_rules
from lamina.store.journal import TICK, AtomVersion, Commit, CommitId, CommitResult, JournalEntry
from lamina.store.sqlite.history import HistoryFile, NewVersion, Tip


class SqliteJournal:
    """Appends commits to history.db after checking the rules."""

    def __init__(self, history: HistoryFile, clock: Clock, lock: threading.RLock) -> None:
        self._history, self._clock, self._lock = history, clock, lock
        self._ids = IdSource(os.urandom)

    def append(self, commit: Commit, expected_position: int | None = None) -> CommitResult:
        """Check the idempotency key and every change, and append the commit; durable when it returns."""
        commit_rules.check_unique_atoms(commit)
        history = self._history
        with self._lock, history.db.write_transaction(durable=True):
            before = history.find_commit_by_key(commit.scope, commit.key) if commit.key else None
            if before is not None:
                return self._repeat_result(*before)
            self._check_position(expected_position)
            tip = history.tip()
            at = self._time_after(tip)
            erased = history.find_erased(change.atom.id for change in commit.changes if not change.atom.revision)
            if erased is not None:
                raise Refused(str(history.erasure_error(erased)))
            heads = history.heads.get(change.atom.id for change in commit.changes)
            pairs = [
                (heads.get(change.atom.id), commit_rules.validate_change(change, heads, commit, at).atom)
                for change in commit.changes
            ]
            atoms = tuple(atom for _, atom in pairs)
            written = _new_versions(pairs)
            if not written:
                return CommitResult(None, 0, at, atoms)
            commit_id = self._commit_id(at)
            seq = history.append(commit, commit_id, at, written, tip)
            commit_rules.check_chains(written, history.heads.get)
            commit_rules.check_claims(written, history.heads.claim_holders)
            commit_rules.check_trust(commit, written, history.heads.get, history.editor_origins)
        return CommitResult(commit_id, seq, at, atoms)

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
        with self._lock:
            return self._history.read_entries(scopes, since, until, commit, key, limit)

    def versions(self, atom_id: AtomId) -> list[AtomVersion]:
        with self._lock:
            return self._history.versions(atom_id)

    def position(self, before: datetime | None = None) -> int:
        with self._lock:
            return self._history.position(before)

    def last_commit_at(self) -> datetime | None:
        with self._lock:
            return self._history.tip()[1]

    def count(self, scopes: Sequence[Scope]) -> int:
        with self._lock:
            return self._history.count_commits(scopes)

    def next_commit(self) -> tuple[CommitId, datetime, Tip]:
        """Return the next commit's id, its time, and the commit before; the caller has the write transaction open."""
        tip = self._history.tip()
        at = self._time_after(tip)
        return self._commit_id(at), at, tip

    def _check_position(self, expected: int | None) -> None:
        if expected is not None and (actual := self._history.position()) != expected:
            raise StalePosition(expected, actual)

    def _repeat_result(self, commit_id: CommitId, seq: int, at: datetime) -> CommitResult:
        """Return the result for a commit whose idempotency key was used before."""
        history = self._history
        ids = [row[0] for row in history.db.rows("SELECT atom_id FROM versions WHERE seq=? ORDER BY n", (seq,))]
        heads = history.heads.get(AtomId(atom_id) for atom_id in ids)
        if ids and not heads:
            raise history.erasure_error(AtomId(ids[0]))
        atoms = tuple(heads[AtomId(atom_id)] for atom_id in ids if atom_id in heads)
        return CommitResult(commit_id, seq, at, atoms, is_repeat=True)

    def _commit_id(self, at: datetime) -> CommitId:
        return CommitId(self._ids.new(at))

    def _time_after(self, tip: Tip) -> datetime:
        """Return the time of the next commit, later than the last one whatever the clock says."""
        now, (_, last, _) = self._clock.now(), tip
        return max(now, last + TICK) if last else now


def _new_versions(pairs: Sequence[tuple[Atom | None, Atom]]) -> list[NewVersion]:
    written = []
    for old, atom in pairs:
        fields = diff_atoms(old, atom)
        if fields:
            written.append(NewVersion(old, atom, fields))
    return written
