"""history.db: the journal. Headers form a hash chain; all text is stored apart from them and can be erased."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from lamina.atom.atom import Atom, AtomId
from lamina.atom.json_record import Record, apply_diff
from lamina.atom.provenance import Origin, Scope, readable_scopes
from lamina.atom.status import Status
from lamina.errors import Erased, LaminaError, NotFound
from lamina.store.journal import AtomVersion, Commit, CommitId, EntryChange, JournalEntry
from lamina.store.sqlite.hash_chain import canonical, chain_hash, dump_json, find_broken_links, seal
from lamina.store.sqlite.heads import HeadTable
from lamina.store.sqlite.history_schema import open_history
from lamina.text.timestamps import from_millis, to_millis

Tip: TypeAlias = tuple[int, datetime | None, bytes]
"""The sequence number, the time and the hash of the last commit."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version about to be written: the atom before and after, and the fields set."""

    old: Atom | None
    new: Atom
    fields: Record


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A row of the journal: an atom as it is after the commit, its status before, and the fields set as JSON."""

    atom: Atom
    old_status: Status | None
    body: str


class HistoryFile:
    """Reads and appends the journal; it checks no rules. A store with a newer format raises `StoreTooNew`."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        self.db = open_history(path, vfs=vfs)
        self.heads = HeadTable(self.db)

    def meta(self, key: str) -> Any:
        """Return a value of the store's metadata; None if it is not set."""
        row = self.db.one("SELECT value FROM meta WHERE key=?", (key,))
        return row[0] if row else None

    def tip(self) -> Tip:
        """Return the last sequence number, its time and its hash."""
        row = self.db.one("SELECT seq, at, hash FROM commits ORDER BY seq DESC LIMIT 1")
        return (row[0], from_millis(row[1]), row[2]) if row else (0, None, b"")

    def position(self, before: datetime | None = None) -> int:
        """Return the last sequence number, or the last one before a moment; 0 if there is none."""
        if before is None:
            row = self.db.one("SELECT max(seq) FROM commits")
        else:
            row = self.db.one("SELECT max(seq) FROM commits WHERE at<?", (to_millis(before),))
        return int(row[0] or 0) if row else 0

    def count_commits(self, scopes: Sequence[Scope]) -> int:
        """Return how many commits were made in these scopes."""
        marks = ",".join("?" * len(scopes))
        row = self.db.one(f"SELECT count(*) FROM commits WHERE scope IN ({marks})", scopes)
        return int(row[0]) if row else 0

    def find_commit_by_key(self, scope: Scope, key: str) -> tuple[CommitId, int, datetime] | None:
        """Return id, position and time of the commit with this idempotency key; None if there is none."""
        row = self.db.one(
            "SELECT id, seq, at FROM commits WHERE scope=? AND key IN (?, ?)", (scope, key, self._key_digest(key))
        )
        return (CommitId(row[0]), row[1], from_millis(row[2])) if row else None

    def editor_origins(self, atom_id: AtomId) -> list[Origin]:
        """Return the origins that have changed an atom since it was created."""
        rows = self.db.rows(
            "SELECT DISTINCT c.origin FROM versions v JOIN commits c ON c.seq=v.seq WHERE v.atom_id=? AND v.revision>1 "
            "AND c.verb<>'erase'",  # erasing a sentence does not confirm the rest of the text
            (atom_id,),
        )
        return [Origin(row[0]) for row in rows]

    def changes_since(self, seq: int) -> tuple[int, list[AtomId], bool]:
        """Return the last position, the atoms that changed after the given one, and whether any of them was erased."""
        rows = self.db.rows(
            "SELECT atom_id, atom_id IN (SELECT atom_id FROM erased), (SELECT max(seq) FROM commits) "
            "FROM versions WHERE seq>? GROUP BY atom_id ORDER BY atom_id",
            (seq,),
        )
        position = int(rows[0][2]) if rows else self.position()
        return position, [AtomId(row[0]) for row in rows], any(row[1] for row in rows)

    def append(
        self, commit: Commit, commit_id: CommitId, at: datetime, versions: Sequence[NewVersion], tip: Tip
    ) -> int:
        """Append a commit, its versions and their heads; the caller has the write transaction open."""
        rows = [
            VersionRow(version.new, version.old.status if version.old else None, dump_json(version.fields))
            for version in versions
        ]
        seq = self.append_rows(commit, commit_id, at, rows, tip)
        self.heads.put(version.new for version in versions)
        return seq

    def append_rows(
        self, commit: Commit, commit_id: CommitId, at: datetime, versions: Sequence[VersionRow], tip: Tip
    ) -> int:
        """Append a commit and its versions, chained to the previous commit, the `tip`; return its position."""
        last_seq, _, previous = tip
        seq = last_seq + 1
        salt, commitment = seal(commit.reason)
        self.db.run("INSERT INTO reasons VALUES(?,?,?,?)", (seq, commitment, salt, commit.reason))
        root = hashlib.sha256(commitment)
        rows = []
        for n, version in enumerate(versions, 1):
            salt, commitment = seal(version.body)
            old_status, atom = version.old_status.value if version.old_status else None, version.atom
            row = (n, atom.id, atom.revision, atom.scope, old_status, atom.status.value, commitment)
            root.update(canonical(row))
            rows.append((seq, *row, salt, version.body))
        self.db.run_many("INSERT INTO versions VALUES(?,?,?,?,?,?,?,?,?,?)", rows)
        key = self._key_digest(commit.key) if commit.key else None
        header = (
            seq,
            commit_id,
            to_millis(at),
            commit.scope,
            commit.actor,
            commit.origin.value,
            commit.verb,
            key,
            commit.batch,
            commit.undoes,
            root.digest(),
        )
        self.db.run("INSERT INTO commits VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", (*header, chain_hash(previous, header)))
        return seq

    def _key_digest(self, key: str) -> str:
        """Return the digest of an idempotency key, as the chained header stores it.

        Callers and importers build keys from words, which must not stay after an erasure.
        """
        return hmac.digest(self.meta("store_key"), b"key\0" + key.encode(), "sha256").hex()

    def erasure_error(self, atom_id: AtomId) -> LaminaError:
        """Return the error for an atom whose text was erased."""
        row = self.db.one("SELECT at, actor, reason FROM erased WHERE atom_id=?", (atom_id,))
        return Erased(atom_id, from_millis(row[0]), *row[1:]) if row else NotFound(f"the text of {atom_id} was erased")

    def find_erased(self, ids: Iterable[AtomId]) -> AtomId | None:
        """Return one of these atoms that was erased; None if none was."""
        row = self.db.one(
            "SELECT atom_id FROM erased WHERE atom_id IN (SELECT value FROM json_each(?)) LIMIT 1",
            (dump_json(list(ids)),),
        )
        return AtomId(row[0]) if row else None

    def read_entries(
        self,
        scopes: Sequence[Scope],
        since: int,
        until: int | None,
        commit: str | None,
        key: str | None,
        limit: int | None,
    ) -> list[JournalEntry]:
        """Return the commits of a range that touched these scopes, or were made in one of them with a key."""
        made_in = list(scopes)
        if key is not None:  # a commit may change only atoms of its organisation
            scopes = list(dict.fromkeys(visible for scope in scopes for visible in readable_scopes(scope)))
        marks = ",".join("?" * len(scopes))
        where = f"c.seq>? AND EXISTS(SELECT 1 FROM versions v WHERE v.seq=c.seq AND v.scope IN ({marks}))"
        values: list[Any] = [since, *scopes]
        if until is not None:
            where += " AND c.seq<=?"
            values.append(until)
        if commit is not None:
            where += " AND c.id=?"
            values.append(commit)
        if key is not None:
            where += f" AND c.scope IN ({','.join('?' * len(made_in))}) AND c.key IN (?, ?)"
            values += [*made_in, key, self._key_digest(key)]
        newest = f"ORDER BY c.seq DESC LIMIT {int(limit)}" if limit is not None else ""
        rows = self.db.rows(
            "SELECT c.*, v.atom_id, v.revision, v.old_status, v.status, v.body FROM ("
            "SELECT c.seq, c.id, c.at, c.scope, c.actor, c.origin, c.verb, r.body, c.batch, c.undoes "
            "FROM commits c LEFT JOIN reasons r ON r.seq=c.seq "
            f"WHERE {where} {newest}) c JOIN versions v ON v.seq=c.seq AND v.scope IN ({marks}) ORDER BY c.seq, v.n",
            (*values, *scopes),
        )
        return [_to_entry(header, list(group)) for header, group in groupby(rows, key=lambda row: row[:10])]

    def versions(self, atom_id: AtomId) -> list[AtomVersion]:
        """Return every version of an atom, oldest first. `Erased` if its text was erased."""
        versions: list[AtomVersion] = []
        atom: Atom | None = None
        for seq, revision, old, body, id_, at, actor, verb, reason in self.db.rows(
            "SELECT v.seq, v.revision, v.old_status, v.body, c.id, c.at, c.actor, c.verb, r.body FROM versions v "
            "JOIN commits c ON c.seq=v.seq LEFT JOIN reasons r ON r.seq=v.seq WHERE v.atom_id=? ORDER BY v.revision",
            (atom_id,),
        ):
            if body is None:
                raise self.erasure_error(atom_id)
            fields = json.loads(body)
            atom = apply_diff(atom, fields, revision)
            versions.append(
                AtomVersion(
                    atom,
                    frozenset(fields),
                    seq,
                    CommitId(id_),
                    from_millis(at),
                    actor,
                    verb,
                    reason or "",
                    Status(old) if old else None,
                )
            )
        return versions

    def find_broken_links(self) -> list[str]:
        """Return where the hash chain is broken: an entry edited, removed, reordered or cut off."""
        return find_broken_links(self.db)


def _to_entry(header: tuple[Any, ...], rows: Sequence[tuple[Any, ...]]) -> JournalEntry:
    """Return one commit with the changes of its rows."""
    seq, id_, at, scope, actor, origin, verb, reason, batch, undoes = header
    return JournalEntry(
        seq,
        CommitId(id_),
        from_millis(at),
        Scope(scope),
        actor,
        Origin(origin),
        verb,
        reason or "",
        batch,
        CommitId(undoes) if undoes else None,
        tuple(
            EntryChange(
                AtomId(atom_id), revision, json.loads(body) if body else {}, Status(old) if old else None, Status(new)
            )
            for atom_id, revision, old, new, body in (row[10:] for row in rows)
        ),
    )
