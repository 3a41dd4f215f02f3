"""The rows of files in history.db: the bytes of each file of the vault as last read or written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lamina.atom.atom import Atom, AtomId
from lamina.atom.json_record import parse_record
from lamina.store.projection import FileEntry, FileList, FileRecord, FileState, KnownFiles
from lamina.store.sqlite.database import Database
from lamina.vault import layout
from lamina.vault.file_access import Stamp

_ENTRY = "SELECT path, atom_id, state, size, mtime_ns, ctime_ns, inode, checked_ns FROM files"
_IS_STABLE = f"state<>'{FileState.GONE}' AND checked_ns-max(mtime_ns, ctime_ns)>=?"
_RECORDS = """
SELECT c.position, r.* FROM (SELECT max(seq) AS position FROM commits) c LEFT JOIN (
  SELECT f.path, f.atom_id, f.state, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.checked_ns, f.data, o.base, o.ours,
    o.path IS NOT NULL AND o.written_ns IS NULL FROM files f LEFT JOIN outbox o ON o.path=f.path
  WHERE {}) r
"""
_AT_PATHS = "f.path IN (SELECT value FROM json_each(?))"
_OF_ATOMS = "f.atom_id IN (SELECT value FROM json_each(?))"
_ATOM_BY_NAME = """
SELECT record, revision FROM heads WHERE atom_id=?1 UNION SELECT record, revision FROM heads WHERE atom_id IN (
  SELECT atom_id FROM files
  WHERE atom_id IS NOT NULL AND (path=?1 || '.md' OR substr(path, -length(?1)-4)='/' || ?1 || '.md'))
UNION SELECT record, revision FROM heads WHERE json_extract(record, '$.source_ref')=?1
"""
_STATES = {state.value: state for state in FileState}


class FileTable:
    """Reads the rows of files."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def read(self, *, paths: Iterable[str] = (), ids: Iterable[AtomId] = ()) -> KnownFiles:
        values = {_AT_PATHS: json.dumps(list(paths)), _OF_ATOMS: json.dumps(list(ids))}
        filled = {where: value for where, value in values.items() if value != "[]"}
        rows = self.db.rows(_RECORDS.format(" OR ".join(filled) or "0"), [*filled.values()])
        return KnownFiles(tuple(_to_record(row) for _, *row in rows if row[0] is not None), rows[0][0] or 0)

    def list_files(self, min_age_ns: int | None = None, *, folder: str = "") -> FileList:
        below = f"path>=? AND path<? || char({0x10FFFF})"
        if min_age_ns is None:
            return FileList({}, [_to_entry(row) for row in self.db.rows(f"{_ENTRY} WHERE {below}", (folder, folder))])
        with self.db.read_transaction():
            stable = self.db.rows(
                f"SELECT path, size, mtime_ns, ctime_ns, inode FROM files WHERE {_IS_STABLE} AND {below}",
                (min_age_ns, folder, folder),
            )
            others = self.db.rows(
                f"{_ENTRY} WHERE ({_IS_STABLE}) IS NOT TRUE AND {below}", (min_age_ns, folder, folder)
            )
        return FileList({row[0]: row[1:] for row in stable}, [_to_entry(row) for row in others])

    def paths_of(self, ids: Iterable[AtomId]) -> dict[AtomId, str]:
        rows = self.db.rows(
            "SELECT h.atom_id, f.path, f.state, iif(f.path IS NULL, h.record, NULL) FROM heads h "
            "LEFT JOIN files f ON f.atom_id=h.atom_id WHERE h.atom_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {
            AtomId(atom_id): path or layout.path_for(parse_record(record, 1))
            for atom_id, path, state, record in rows
            if state != FileState.GONE
        }

    def find_atom(self, name: str) -> Atom | None:
        rows = self.db.rows(_ATOM_BY_NAME, (name,))
        return parse_record(*rows[0]) if len(rows) == 1 else None

    def find_swapped_out(self, sha256: str) -> bytes | None:
        row = self.db.one("SELECT data FROM swapped WHERE sha256=?", (sha256,))
        return row[0] if row else None

    def swapped_out_hashes(self) -> frozenset[str]:
        return frozenset(row[0] for row in self.db.rows("SELECT sha256 FROM swapped"))

    def put_files(
        self, files: Iterable[tuple[str, AtomId | None, FileState, bytes, Stamp | None]], checked_ns: int
    ) -> None:
        """Write rows; the caller has the write transaction open."""
        self.db.run_many(
            "INSERT OR REPLACE INTO files VALUES(?,?,?,?,?,?,?,?,?)",
            [
                (path, atom_id, state.value, data, *stamp_columns(stamp), checked_ns)
                for path, atom_id, state, data, stamp in files
            ],
        )

    def set_deleted(self, column: str, value: str) -> None:
        """Mark an atom's file as deleted, remove any other, and cancel its write; the caller has the write transaction
        open."""
        self.db.run(f"DELETE FROM files WHERE {column}=? AND atom_id IS NULL", (value,))
        self.db.run(f"UPDATE files SET state='gone' WHERE {column}=?", (value,))
        self.db.run(f"DELETE FROM outbox WHERE {column}=?", (value,))


def stamp_columns(stamp: Stamp | None) -> tuple[int | None, ...]:
    return (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode) if stamp else (None, None, None, None)


def batches(values: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _to_record(row: Sequence[Any]) -> FileRecord:
    *entry, data, base, written_hashes, pending = row
    return FileRecord(
        _to_entry(entry), data or b"", base, tuple(json.loads(written_hashes)) if written_hashes else (), bool(pending)
    )


def _to_entry(row: Iterable[Any]) -> FileEntry:
    path, atom_id, state, size, mtime_ns, ctime_ns, inode, checked_ns = row
    stamp = Stamp(size, mtime_ns, ctime_ns, inode) if size is not None else None
    return FileEntry(path, AtomId(atom_id) if atom_id else None, _STATES[state], stamp, checked_ns)
