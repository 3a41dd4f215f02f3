"""history.db: the journal. Headers form a hash chain; all text is stored apart from them and can be erased."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.record import Record, apply_diff, from_record, to_record
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.errors import Erased, LaminaError, NotFound, StoreTooNew
from lamina.store.base import AtomFilter, AtomVersion, Commit, CommitId, EntryChange, JournalEntry
from lamina.store.sqlite.database import Database
from lamina.text.normal_form import normal_form

FORMAT = 6

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE commits(
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, scope TEXT NOT NULL, actor TEXT NOT NULL,
  origin TEXT NOT NULL, verb TEXT NOT NULL, key TEXT, batch TEXT, undoes TEXT,
  root BLOB NOT NULL, hash BLOB NOT NULL);
CREATE UNIQUE INDEX commits_by_key ON commits(scope, key) WHERE key IS NOT NULL;
CREATE TABLE reasons(seq INTEGER PRIMARY KEY, commitment BLOB NOT NULL, salt BLOB, body TEXT);
CREATE TABLE versions(
  seq INTEGER NOT NULL, n INTEGER NOT NULL, atom_id TEXT NOT NULL, revision INTEGER NOT NULL, scope TEXT NOT NULL,
  old_status TEXT, status TEXT NOT NULL, commitment BLOB NOT NULL, salt BLOB, body TEXT,
  PRIMARY KEY(seq, n)) WITHOUT ROWID;
CREATE UNIQUE INDEX versions_of ON versions(atom_id, revision);
CREATE TABLE heads(
  atom_id TEXT PRIMARY KEY, revision INTEGER NOT NULL, scope TEXT NOT NULL, status TEXT NOT NULL, kind TEXT NOT NULL,
  memory_type TEXT NOT NULL, subject TEXT NOT NULL, claim TEXT, session_id TEXT, content_hash BLOB,
  valid_from INTEGER, valid_until INTEGER, recorded_at INTEGER NOT NULL, record TEXT NOT NULL);
CREATE INDEX heads_by_claim ON heads(scope, claim) WHERE claim IS NOT NULL;
CREATE INDEX heads_by_session ON heads(scope, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX heads_by_content ON heads(scope, content_hash) WHERE content_hash IS NOT NULL;
CREATE INDEX heads_by_time ON heads(recorded_at DESC, atom_id);
CREATE TABLE files(
  path TEXT PRIMARY KEY, atom_id TEXT, state TEXT NOT NULL, data BLOB, size INTEGER, mtime_ns INTEGER,
  ctime_ns INTEGER, inode INTEGER, checked_ns INTEGER NOT NULL);
CREATE INDEX files_by_atom ON files(atom_id) WHERE atom_id IS NOT NULL;
CREATE TABLE outbox(
  path TEXT PRIMARY KEY, atom_id TEXT NOT NULL, base BLOB, ours TEXT NOT NULL, moved_from TEXT,
  written_ns INTEGER, boot TEXT);
CREATE TABLE swapped(sha256 TEXT PRIMARY KEY, data BLOB NOT NULL, at_ns INTEGER NOT NULL);
CREATE TABLE problems(
  path TEXT NOT NULL, kind TEXT NOT NULL, line INTEGER NOT NULL, atom_id TEXT, message TEXT NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY(path, kind)) WITHOUT ROWID;
CREATE TABLE signals(
  atom_id TEXT PRIMARY KEY, quality_score REAL NOT NULL, recall_count INTEGER NOT NULL, last_recalled_at INTEGER);
"""
_SINCE_FORMAT_1 = """
CREATE TABLE jobs(
  name TEXT PRIMARY KEY, holder TEXT NOT NULL, until INTEGER, done INTEGER NOT NULL, total INTEGER NOT NULL,
  started_at INTEGER, finished_at INTEGER, error TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX heads_of_the_core ON heads(scope)
  WHERE json_extract(record, '$.pinned')=1 OR json_extract(record, '$.durability')='core';
"""
_SINCE_FORMAT_2 = """
CREATE TABLE waiting(
  segment TEXT NOT NULL, n INTEGER NOT NULL, scope TEXT NOT NULL, session_id TEXT NOT NULL, since INTEGER NOT NULL,
  urgent INTEGER NOT NULL, PRIMARY KEY(segment, n)) WITHOUT ROWID;
CREATE INDEX waiting_of ON waiting(scope, session_id, since);
CREATE INDEX heads_by_subject ON heads(scope, subject, recorded_at DESC) WHERE subject<>'';
CREATE TABLE taken(scope TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX heads_of_runs ON heads(scope, json_extract(record, '$.run_id'))
  WHERE json_extract(record, '$.run_id') IS NOT NULL;
"""
_SINCE_FORMAT_3 = """
CREATE INDEX heads_that_end ON heads(scope, valid_until) WHERE status='active' AND valid_until IS NOT NULL;
CREATE TABLE fingerprints(mark BLOB PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE erased(
  atom_id TEXT PRIMARY KEY, scope TEXT NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL,
  fingerprint BLOB NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE retold(
  by_seq INTEGER NOT NULL, seq INTEGER NOT NULL, n INTEGER NOT NULL, digest BLOB NOT NULL,
  PRIMARY KEY(by_seq, seq, n)) WITHOUT ROWID;
CREATE TABLE erasing(
  seq INTEGER PRIMARY KEY, gone TEXT NOT NULL, touched TEXT NOT NULL, paths TEXT NOT NULL, sought TEXT NOT NULL,
  versions INTEGER NOT NULL);
"""
_SINCE_FORMAT_4 = """
ALTER TABLE signals ADD COLUMN uses TEXT NOT NULL DEFAULT '[]';
ALTER TABLE signals ADD COLUMN first_used_at INTEGER;
ALTER TABLE signals ADD COLUMN use_days INTEGER NOT NULL DEFAULT 0;
ALTER TABLE signals ADD COLUMN successes REAL NOT NULL DEFAULT 0;
ALTER TABLE signals ADD COLUMN failures REAL NOT NULL DEFAULT 0;
ALTER TABLE signals ADD COLUMN scope TEXT;
UPDATE signals SET scope=(SELECT h.scope FROM heads h WHERE h.atom_id=signals.atom_id);
CREATE INDEX signals_by_use ON signals(scope, last_recalled_at);
CREATE INDEX versions_by_scope ON versions(scope);
CREATE TABLE lives(
  atom_id TEXT PRIMARY KEY, scope TEXT NOT NULL, revision INTEGER NOT NULL, tier TEXT NOT NULL, look_at INTEGER,
  retention REAL NOT NULL, importance REAL NOT NULL, recency REAL NOT NULL, state TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX lives_by_look ON lives(scope, look_at) WHERE look_at IS NOT NULL;
CREATE TABLE dreamt(scope TEXT NOT NULL, step TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(scope, step))
  WITHOUT ROWID;
CREATE TABLE probes(atom_id TEXT PRIMARY KEY, scope TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE stirred(scope TEXT NOT NULL, atom_id TEXT NOT NULL, PRIMARY KEY(scope, atom_id)) WITHOUT ROWID;
INSERT INTO stirred SELECT scope, atom_id FROM heads WHERE status IN ('active', 'archived', 'challenged');
CREATE TRIGGER heads_stir AFTER INSERT ON heads WHEN new.status IN ('active', 'archived', 'challenged') BEGIN
  INSERT OR IGNORE INTO stirred VALUES(new.scope, new.atom_id);
END;
CREATE TRIGGER heads_rest AFTER INSERT ON heads WHEN new.status NOT IN ('active', 'archived', 'challenged') BEGIN
  DELETE FROM stirred WHERE scope=new.scope AND atom_id=new.atom_id;
  UPDATE lives SET look_at=NULL WHERE atom_id=new.atom_id;
END;
CREATE TRIGGER signals_stir AFTER INSERT ON signals BEGIN
  INSERT OR IGNORE INTO stirred SELECT scope, atom_id FROM heads
    WHERE atom_id=new.atom_id AND status IN ('active', 'archived', 'challenged');
END;
"""
_SINCE_FORMAT_5 = """
ALTER TABLE lives ADD COLUMN bits INTEGER NOT NULL DEFAULT 32;
ALTER TABLE lives ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
CREATE INDEX lives_untold ON lives(scope) WHERE bits<>told;
CREATE INDEX lives_coded ON lives(bits) WHERE bits<32;
"""
REWRITE_PREFIX = "retold:"
"""Prefix of the batch of an erasure that rewrote versions; the digest of the rewritten rows follows."""


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


class SqliteJournal:
    """Reads and appends the journal; it checks no rules. A store with a newer format raises `StoreTooNew`."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        _refuse_newer(path, _format_in_header(path))
        self.db = Database(path, vfs=vfs)
        with self.db.close_on_error():
            _refuse_newer(path, self._format())
            if self._format() < FORMAT:
                self._migrate()

    def _format(self) -> int:
        return int(self.db.rows("PRAGMA user_version")[0][0])

    def _migrate(self) -> None:
        """Create the tables, or those that a store of an older format does not have yet."""
        with self.db.write_transaction(durable=True):
            existing = self._format()
            if existing == 0:
                self.db.run(_SCHEMA)
                self.db.run("INSERT INTO meta VALUES('store_key', ?)", (os.urandom(32),))
                self.db.run("INSERT INTO meta VALUES('store_id', ?)", (os.urandom(16).hex(),))
            if existing < 2:
                self.db.run(_SINCE_FORMAT_1)
            if existing < 3:
                self.db.run(_SINCE_FORMAT_2)
            if existing < 4:
                self.db.run(_SINCE_FORMAT_3)
            if existing < 5:
                self.db.run(_SINCE_FORMAT_4)
            if existing < FORMAT:
                self.db.run(_SINCE_FORMAT_5)
                self.db.run(f"PRAGMA user_version={FORMAT}")

    def meta(self, key: str) -> Any:
        """Return a value of the store's metadata; None if it is not set."""
        row = self.db.one("SELECT value FROM meta WHERE key=?", (key,))
        return row[0] if row else None

    def tip(self) -> tuple[int, datetime | None, bytes]:
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

    def count_by(self, scopes: Sequence[Scope], field: str) -> dict[str, int]:
        """Return the number of atoms for each value of a field."""
        column = _COUNT_COLUMNS[field]
        marks = ",".join("?" * len(scopes))
        return dict(
            self.db.rows(
                f"SELECT {column}, count(*) FROM heads WHERE scope IN ({marks}) GROUP BY 1 ORDER BY 2 DESC, 1", scopes
            )
        )

    def find_commit_by_key(self, scope: Scope, key: str) -> tuple[CommitId, int, datetime] | None:
        """Return id, position and time of the commit with this idempotency key; None if there is none."""
        row = self.db.one(
            "SELECT id, seq, at FROM commits WHERE scope=? AND key IN (?, ?)", (scope, key, self._key_digest(key))
        )
        return (CommitId(row[0]), row[1], from_millis(row[2])) if row else None

    def heads(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        """Return the current state of those of the atoms that exist."""
        heads: dict[AtomId, Atom] = {}
        for batch in _batches(list(ids)):
            marks = ",".join("?" * len(batch))
            for record, revision in self.db.rows(
                f"SELECT record, revision FROM heads WHERE atom_id IN ({marks})", batch
            ):
                atom = from_record(json.loads(record), revision)
                heads[atom.id] = atom
        return heads

    def claim_holders(self, scope: Scope, claim: str) -> list[Atom]:
        """Return the active atoms that fill a claim."""
        return [
            from_record(json.loads(record), revision)
            for record, revision in self.db.rows(
                "SELECT record, revision FROM heads WHERE scope=? AND claim=? AND status='active'", (scope, claim)
            )
        ]

    def editor_origins(self, atom_id: AtomId) -> list[Origin]:
        """Return the origins that have changed an atom since it was created."""
        rows = self.db.rows(
            "SELECT DISTINCT c.origin FROM versions v JOIN commits c ON c.seq=v.seq WHERE v.atom_id=? AND v.revision>1 "
            "AND c.verb<>'erase'",  # erasing a sentence does not confirm the rest of the text
            (atom_id,),
        )
        return [Origin(row[0]) for row in rows]

    def read(self, atom_filter: AtomFilter) -> list[Atom]:
        """Return the current atoms that match, most recently recorded first, then by id."""
        where, values = _where(atom_filter)
        limit = f" LIMIT {-1 if atom_filter.limit is None else int(atom_filter.limit)} OFFSET {int(atom_filter.offset)}"
        return [
            from_record(json.loads(record), revision)
            for record, revision in self.db.rows(
                f"SELECT record, revision FROM heads WHERE {where} ORDER BY recorded_at DESC, atom_id{limit}", values
            )
        ]

    def count(self, atom_filter: AtomFilter) -> int:
        """Return how many atoms match, ignoring the limit."""
        where, values = _where(atom_filter)
        (number,) = self.db.one(f"SELECT count(*) FROM heads WHERE {where}", values) or (0,)
        return int(number)

    def find_subjects(self, scope: Scope, words: Sequence[str]) -> list[str]:
        """Return the subjects of a scope that begin with the same letters as one of the words."""
        subjects: set[str] = set()
        for start in {word[:_SUBJECT_PREFIX] for word in words if word}:
            subjects |= {
                row[0]
                for row in self.db.rows(
                    "SELECT DISTINCT subject FROM heads WHERE scope=? AND subject>=? AND subject<? AND subject<>''",
                    (scope, start, start + chr(0x10FFFF)),
                )
            }
        return sorted(subjects)

    def all_ids(self) -> list[AtomId]:
        """Return the ids of all atoms."""
        return [AtomId(row[0]) for row in self.db.rows("SELECT atom_id FROM heads ORDER BY atom_id")]

    def changed_since(self, seq: int) -> list[AtomId]:
        """Return the ids of the atoms that changed after a position."""
        return [
            AtomId(row[0])
            for row in self.db.rows("SELECT DISTINCT atom_id FROM versions WHERE seq>? ORDER BY atom_id", (seq,))
        ]

    def append(self, commit: Commit, commit_id: CommitId, at: datetime, versions: Sequence[NewVersion]) -> int:
        """Append a commit, its versions and their heads; the caller has the write transaction open."""
        rows = [
            VersionRow(version.new, version.old.status if version.old else None, _dump(version.fields))
            for version in versions
        ]
        seq = self.append_rows(commit, commit_id, at, rows)
        self.put_heads(version.new for version in versions)
        return seq

    def put_heads(self, atoms: Iterable[Atom]) -> None:
        """Write the current state of these atoms."""
        self.db.run_many(
            "INSERT OR REPLACE INTO heads VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", [_head_row(atom) for atom in atoms]
        )

    def append_rows(self, commit: Commit, commit_id: CommitId, at: datetime, versions: Sequence[VersionRow]) -> int:
        """Append a commit and its versions, chained to the previous commit; return its position."""
        last_seq, _, previous = self.tip()
        seq = last_seq + 1
        salt, commitment = _seal(commit.reason)
        self.db.run("INSERT INTO reasons VALUES(?,?,?,?)", (seq, commitment, salt, commit.reason))
        root = hashlib.sha256(commitment)
        rows = []
        for n, version in enumerate(versions, 1):
            salt, commitment = _seal(version.body)
            old_status, atom = version.old_status.value if version.old_status else None, version.atom
            row = (n, atom.id, atom.revision, atom.scope, old_status, atom.status.value, commitment)
            root.update(_canonical(row))
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
        self.db.run("INSERT INTO commits VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", (*header, _chain_hash(previous, header)))
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
            "SELECT atom_id FROM erased WHERE atom_id IN (SELECT value FROM json_each(?)) LIMIT 1", (_dump(list(ids)),)
        )
        return AtomId(row[0]) if row else None

    def read_entries(
        self, scopes: Sequence[Scope], since: int, until: int | None, commit: str | None, limit: int | None
    ) -> list[JournalEntry]:
        """Return the commits of a range that touched these scopes, oldest first."""
        marks = ",".join("?" * len(scopes))
        sql = (
            "SELECT c.seq, c.id, c.at, c.scope, c.actor, c.origin, c.verb, r.body, c.batch, c.undoes FROM commits c "
            "LEFT JOIN reasons r ON r.seq=c.seq WHERE c.seq>? AND EXISTS("
            f"SELECT 1 FROM versions v WHERE v.seq=c.seq AND v.scope IN ({marks}))"
        )
        values: list[Any] = [since, *scopes]
        if until is not None:
            sql += " AND c.seq<=?"
            values.append(until)
        if commit is not None:
            sql += " AND c.id=?"
            values.append(commit)
        sql += " ORDER BY c.seq DESC" + (f" LIMIT {int(limit)}" if limit is not None else "")
        with self.db.read_transaction():
            return [self._entry(row, scopes) for row in reversed(self.db.rows(sql, values))]

    def _entry(self, row: tuple[Any, ...], scopes: Sequence[Scope]) -> JournalEntry:
        """Return one commit with its changes in these scopes."""
        seq, id_, at, scope, actor, origin, verb, reason, batch, undoes = row
        changes = tuple(
            EntryChange(
                AtomId(atom_id), revision, json.loads(body) if body else {}, Status(old) if old else None, Status(new)
            )
            for atom_id, revision, in_scope, old, new, body in self.db.rows(
                "SELECT atom_id, revision, scope, old_status, status, body FROM versions WHERE seq=? ORDER BY n", (seq,)
            )
            if in_scope in scopes
        )
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
            changes,
        )

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
        faults: list[str] = []
        previous, expected = b"", 1
        with self.db.read_transaction():
            rewritten = self._rewritten_digests(faults)
            for row in self.db.rows("SELECT * FROM commits ORDER BY seq"):
                *header, digest = row
                seq = header[0]
                if seq != expected:
                    faults.append(f"journal: commits {expected} to {seq - 1} are missing")
                if digest != _chain_hash(previous, tuple(header)):
                    faults.append(f"journal: commit {seq} does not match the previous commit")
                if not self._is_entry_intact(seq, header[10], rewritten):
                    faults.append(f"journal: the content of commit {seq} was changed afterwards")
                previous, expected = digest, seq + 1
            for (seq,) in self.db.rows(
                "SELECT seq FROM reasons UNION SELECT seq FROM versions EXCEPT SELECT seq FROM commits ORDER BY 1"
            ):
                faults.append(f"journal: commit {seq} is missing, but its content exists")
        return faults

    def _rewritten_digests(self, faults: list[str]) -> dict[tuple[int, int], bytes]:
        """Return the digests that rewritten versions must have, as their erasures recorded them."""
        expected = dict(self.db.rows("SELECT seq, batch FROM commits WHERE batch LIKE ? || '%'", (REWRITE_PREFIX,)))
        rows = self.db.rows("SELECT by_seq, seq, n, digest FROM retold ORDER BY by_seq, seq, n")
        recorded = {seq: [row[1:] for row in group] for seq, group in groupby(rows, key=lambda row: row[0])}
        for seq in sorted(expected.keys() | recorded.keys()):
            if expected.get(seq) != rewrite_digest(recorded.get(seq, [])):
                faults.append(f"journal: what the erasure {seq} rewrote was changed afterwards")
        return {(seq, n): digest for _, seq, n, digest in rows}

    def _is_entry_intact(self, seq: int, root: bytes, rewritten: Mapping[tuple[int, int], bytes]) -> bool:
        """Return whether the payloads of a commit match its header, or were erased or rewritten."""
        reasons = self.db.rows("SELECT commitment, salt, body FROM reasons WHERE seq=?", (seq,))
        versions = self.db.rows(
            "SELECT n, atom_id, revision, scope, old_status, status, commitment, salt, body FROM versions "
            "WHERE seq=? ORDER BY n",
            (seq,),
        )
        if len(reasons) != 1 or not isinstance(reasons[0][0], bytes):
            return False
        headers = b"".join(_canonical(row[:7]) for row in versions)
        is_intact = all(_is_intact(*row[-3:]) for row in reasons) and all(
            _is_intact(*row[-3:]) or (row[-2] is None and digest_of_body(row[-1]) == rewritten.get((seq, row[0]), b""))
            for row in versions
        )
        return is_intact and hashlib.sha256(reasons[0][0] + headers).digest() == root

    def find_wrong_heads(self) -> list[str]:
        """Return atoms whose current state differs from what their versions lead to, except erased ones."""
        faults: list[str] = []
        with self.db.read_transaction():
            ids = [
                AtomId(row[0]) for row in self.db.rows("SELECT atom_id FROM heads UNION SELECT atom_id FROM versions")
            ]
            for batch in _batches(ids):
                marks = ",".join("?" * len(batch))
                heads = {row[0]: row for row in self.db.rows(f"SELECT * FROM heads WHERE atom_id IN ({marks})", batch)}
                for atom_id, revisions in groupby(
                    self.db.rows(
                        f"SELECT atom_id, revision, body FROM versions WHERE atom_id IN ({marks}) ORDER BY 1, 2", batch
                    ),
                    key=lambda row: row[0],
                ):
                    head = heads.pop(atom_id, None)
                    if not _matches_head([row[1:] for row in revisions], head):
                        faults.append(f"journal: {atom_id} differs from its versions")
                faults += [f"journal: {atom_id} has no versions" for atom_id in heads]
        return faults


_SUBJECT_PREFIX = 2
"""Number of first letters in which a word and its misspelling are assumed to agree."""
_COUNT_COLUMNS = {
    "status": "status",
    "kind": "kind",
    "memory_type": "memory_type",
    "layer": f"coalesce(json_extract(record, '$.layer'), '{Layer.SEMANTIC}')",
}


def _format_in_header(path: Path) -> int:
    """Return the format in a file's header, read before SQLite opens it; 0 if there is no file yet."""
    try:
        with path.open("rb") as file:
            header = file.read(64)
    except FileNotFoundError:
        return 0
    return int.from_bytes(header[60:], "big") if header.startswith(b"SQLite format 3") else 0


def _refuse_newer(path: Path, file_format: int) -> None:
    """Raise `StoreTooNew` for a format that this version cannot read."""
    if file_format > FORMAT:
        raise StoreTooNew(
            f"{path.name} has format {file_format}, this lamina reads up to {FORMAT}; upgrade lamina to open it"
        )


def to_millis(at: datetime) -> int:
    """Return a moment as milliseconds since 1970."""
    return (at - _EPOCH) // timedelta(milliseconds=1)


def from_millis(at: int) -> datetime:
    """Return the moment of milliseconds since 1970, in UTC."""
    return datetime.fromtimestamp(at // 1000, UTC).replace(microsecond=at % 1000 * 1000)


def content_key(content: str) -> bytes | None:
    """Return a key that is equal for contents with the same words; None if there are no words."""
    form = normal_form(content)
    return hashlib.blake2b(form.encode(), digest_size=16).digest() if form else None


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _seal(body: str) -> tuple[bytes, bytes]:
    """Return a random salt and the commitment to a payload."""
    salt = os.urandom(16)
    return salt, _commitment(salt, body)


def _commitment(salt: bytes, body: str) -> bytes:
    return hashlib.sha256(salt + body.encode()).digest()


def _is_intact(commitment: object, salt: object, body: object) -> bool:
    """Return whether a payload is the one that was sealed, or was erased together with its salt."""
    if body is None or salt is None:
        return body is salt
    return isinstance(salt, bytes) and isinstance(body, str) and _commitment(salt, body) == commitment


def digest_of_body(body: object) -> bytes:
    """Return the SHA-256 of a payload."""
    return hashlib.sha256(str(body).encode()).digest()


def rewrite_digest(rows: Iterable[Sequence[Any]]) -> str:
    """Return what an erasure records of the versions it rewrote: the digest of their positions and digests."""
    return REWRITE_PREFIX + hashlib.sha256(b"".join(_canonical(row) for row in rows)).hexdigest()


def _chain_hash(previous: object, header: Sequence[Any]) -> bytes:
    """Return the hash of a header, chained to the previous one."""
    return hashlib.sha256((previous if isinstance(previous, bytes) else b"") + _canonical(header)).digest()


def _canonical(fields: Sequence[Any]) -> bytes:
    return _dump([field.hex() if isinstance(field, bytes) else field for field in fields]).encode()


def _matches_head(revisions: Sequence[tuple[int, str | None]], head: tuple[Any, ...] | None) -> bool:
    """Return whether applying the revisions gives the head; True if any of them was erased."""
    atom: Atom | None = None
    for revision, body in revisions:
        if body is None:
            return True
        atom = apply_diff(atom, json.loads(body), revision)
    return atom is not None and head == _head_row(atom)


def _head_row(atom: Atom) -> tuple[Any, ...]:
    """Return the row of an atom in the table of heads."""
    claim = claim_of(atom)
    return (
        atom.id,
        atom.revision,
        atom.scope,
        atom.status.value,
        atom.kind,
        atom.memory_type.value,
        normal_form(atom.subject),
        str(claim) if claim else None,
        atom.session_id,
        None if atom.is_segment else content_key(atom.content),
        to_millis(atom.valid_from) if atom.valid_from else None,
        to_millis(atom.valid_until) if atom.valid_until else None,
        to_millis(atom.recorded_at or atom.observed_at),
        _dump(to_record(atom)),
    )


def _where(atom_filter: AtomFilter) -> tuple[str, list[Any]]:
    """Return the SQL condition of a filter, and its values."""
    parts: list[str] = []
    values: list[Any] = []

    def among(column: str, options: Iterable[str] | None) -> None:
        if options is not None:
            names = [str(option) for option in options]
            parts.append(f"{column} IN ({','.join('?' * len(names))})")
            values.extend(names)

    def equals(column: str, value: object) -> None:
        if value is not None:
            parts.append(f"{column}=?")
            values.append(value)

    among("scope", atom_filter.scopes)
    if atom_filter.ids is not None:
        parts.append("atom_id IN (SELECT value FROM json_each(?))")
        values.append(_dump(atom_filter.ids))
    if atom_filter.id_suffix is not None:
        parts.append("substr(atom_id, ?)=?")
        values.extend([-len(atom_filter.id_suffix), atom_filter.id_suffix])
    among("status", atom_filter.statuses)
    among("kind", atom_filter.kinds)
    among("memory_type", atom_filter.memory_types)
    if atom_filter.subject is not None:
        form = normal_form(atom_filter.subject)
        parts.append("subject=?" if form else "0")
        values.extend([form] if form else [])
    among("claim", atom_filter.claims)
    equals("session_id", atom_filter.session_id)
    equals("json_extract(record, '$.run_id')", atom_filter.run_id)
    if not atom_filter.include_run_notes:
        parts.append("(json_extract(record, '$.run_id') IS NULL OR json_extract(record, '$.layer') IS NOT 'working')")
    if atom_filter.core_only:
        parts.append("(json_extract(record, '$.pinned')=1 OR json_extract(record, '$.durability')='core')")
    if atom_filter.contents is not None:
        keys = [key for content in atom_filter.contents if (key := content_key(content))]
        parts.append(f"content_hash IN ({','.join('?' * len(keys))})")
        values.extend(keys)
    if atom_filter.expired_by is not None:
        parts.append("status='active' AND valid_until IS NOT NULL AND valid_until<=?")
        values.append(to_millis(atom_filter.expired_by))
    if atom_filter.valid_at is not None:
        at = to_millis(atom_filter.valid_at)
        parts.append("coalesce(valid_from, ?)<=? AND ?<coalesce(valid_until, ?+1)")
        values.extend([at, at, at, at])
    return " AND ".join(parts), values


def _batches(ids: list[AtomId], size: int = 500) -> Iterable[list[AtomId]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
