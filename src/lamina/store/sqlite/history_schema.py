"""The tables of history.db, and how a file of an older format gets those that it does not have yet."""

from __future__ import annotations

import os
from pathlib import Path

from lamina.errors import StoreTooNew
from lamina.store.sqlite.database import Database

FORMAT = 9

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
_SINCE_FORMAT_6 = """
CREATE TABLE unwritten_signals(atom_id TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO unwritten_signals SELECT atom_id FROM signals;
CREATE TRIGGER signals_unwritten AFTER INSERT ON signals BEGIN
  INSERT OR IGNORE INTO unwritten_signals VALUES(new.atom_id);
END;
UPDATE heads SET claim=NULL WHERE kind IN ('preference', 'habit')
  AND coalesce(json_extract(record, '$.attribute'), json_extract(record, '$.metadata.profile_key'), '')='';
"""
"""A statement without an attribute is no claim."""
_SINCE_FORMAT_7 = """
CREATE TABLE accepted_files(atom_id TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT OR REPLACE INTO meta SELECT 'projection_position', coalesce(max(seq), 0) FROM commits;
"""
"""Up to format 7, a commit queued its files in its own transaction."""
_SINCE_FORMAT_8 = """
ALTER TABLE fingerprints RENAME TO untrusted_fingerprints;
CREATE TABLE fingerprints(mark BLOB NOT NULL, trust REAL NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(mark, trust))
  WITHOUT ROWID;
INSERT INTO fingerprints SELECT mark, 1.0, at FROM untrusted_fingerprints;
DROP TABLE untrusted_fingerprints;
"""
"""`trust`: the highest trust of the words that a fingerprint recognises; older fingerprints recognise everyone's."""


def open_history(path: Path, *, vfs: str | None = None) -> Database:
    """Open the file, create it, or bring it to this format. `StoreTooNew` for a newer format."""
    _refuse_newer(path, _format_in_header(path))
    db = Database(path, vfs=vfs)
    with db.close_on_error():
        _refuse_newer(path, _read_format(db))
        if _read_format(db) < FORMAT:
            _migrate(db)
    return db


def _read_format(db: Database) -> int:
    return int(db.rows("PRAGMA user_version")[0][0])


def _migrate(db: Database) -> None:
    """Create the tables, or those that a store of an older format does not have yet."""
    with db.write_transaction(durable=True):
        existing = _read_format(db)
        if existing == 0:
            db.run(_SCHEMA)
            db.run("INSERT INTO meta VALUES('store_key', ?)", (os.urandom(32),))
            db.run("INSERT INTO meta VALUES('store_id', ?)", (os.urandom(16).hex(),))
        if existing < 2:
            db.run(_SINCE_FORMAT_1)
        if existing < 3:
            db.run(_SINCE_FORMAT_2)
        if existing < 4:
            db.run(_SINCE_FORMAT_3)
        if existing < 5:
            db.run(_SINCE_FORMAT_4)
        if existing < 6:
            db.run(_SINCE_FORMAT_5)
        if existing < 7:
            db.run(_SINCE_FORMAT_6)
        if existing < 8:
            db.run(_SINCE_FORMAT_7)
        if existing < FORMAT:
            db.run(_SINCE_FORMAT_8)
            db.run(f"PRAGMA user_version={FORMAT}")


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
