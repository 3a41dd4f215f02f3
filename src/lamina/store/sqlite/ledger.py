"""The ledger of files in history.db. Its writes are not synced: what is lost is read again from the disk."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.atom.record import from_record
from lamina.atom.status import ENDED
from lamina.clock import Clock
from lamina.store.base import AtomChange, FileSnapshot
from lamina.store.ledger import FileEntry, FileProblem, FileRecord, FileState, PendingFile
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.journal import from_millis, to_millis
from lamina.vault import atom_file, layout
from lamina.vault.disk import Stamp
from lamina.vault.wikilinks import StemLookup

SETTLED_NS = 120 * 10**9
"""After this long a written file has reached the disk (the kernel writes back within about 35 s)."""

_FILE_ENTRY = "SELECT path, atom_id, state, size, mtime_ns, ctime_ns, inode, checked_ns FROM files"
_IS_STABLE = f"state<>'{FileState.GONE}' AND checked_ns-max(mtime_ns, ctime_ns)>=?"
_FILE_RECORD = (
    "SELECT f.path, f.atom_id, f.state, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.checked_ns, f.data, o.base, o.ours, "
    "o.path IS NOT NULL AND o.written_ns IS NULL FROM files f LEFT JOIN outbox o ON o.path=f.path"
)
_SIGNALS = (
    "SELECT atom_id, quality_score, recall_count, last_recalled_at, uses, first_used_at, use_days, successes, failures "
    "FROM signals"
)


class SqliteLedger:
    """Files, outbox, problems and signals."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._boot = _boot_id()

    def entries(self) -> list[FileEntry]:
        return [_to_entry(row) for row in self._db.rows(_FILE_ENTRY)]

    def split_stable(self, min_age_ns: int) -> tuple[dict[str, tuple[int, ...]], list[FileEntry]]:
        """Return the stamps of stable files, by path, and the entries of all others."""
        with self._db.read_transaction():
            stable = self._db.rows(
                f"SELECT path, size, mtime_ns, ctime_ns, inode FROM files WHERE {_IS_STABLE}", (min_age_ns,)
            )
            others = self._db.rows(f"{_FILE_ENTRY} WHERE ({_IS_STABLE}) IS NOT TRUE", (min_age_ns,))
        return {row[0]: row[1:] for row in stable}, [_to_entry(row) for row in others]

    def entry(self, path: str) -> FileEntry | None:
        row = self._db.one(f"{_FILE_ENTRY} WHERE path=?", (path,))
        return _to_entry(row) if row else None

    def record(self, path: str) -> FileRecord | None:
        return self._find_record("f.path=?", path)

    def record_of(self, atom_id: AtomId) -> FileRecord | None:
        return self._find_record("f.atom_id=?", atom_id)

    def _find_record(self, where: str, value: str) -> FileRecord | None:
        row = self._db.one(f"{_FILE_RECORD} WHERE {where}", (value,))
        return _to_record(row) if row else None

    def records(self, paths: Sequence[str]) -> dict[str, FileRecord]:
        records: dict[str, FileRecord] = {}
        for batch in _batches(paths):
            for row in self._db.rows(f"{_FILE_RECORD} WHERE f.path IN ({_placeholders(batch)})", batch):
                records[row[0]] = _to_record(row)
        return records

    def known_ids(self, ids: Iterable[AtomId]) -> set[AtomId]:
        return {
            AtomId(row[0])
            for batch in _batches(list(ids))
            for row in self._db.rows(f"SELECT atom_id FROM files WHERE atom_id IN ({_placeholders(batch)})", batch)
        }

    def head(self, atom_id: AtomId) -> Atom:
        ((record, revision),) = self._db.rows("SELECT record, revision FROM heads WHERE atom_id=?", (atom_id,))
        return from_record(json.loads(record), revision)

    def find_atom_by_name(self, name: str) -> AtomId | None:
        rows = self._db.rows(
            "SELECT atom_id FROM files WHERE atom_id IS NOT NULL "
            "AND (path=?1 || '.md' OR substr(path, -length(?1)-4)='/' || ?1 || '.md') "
            "UNION SELECT atom_id FROM heads WHERE json_extract(record, '$.source_ref')=?1",
            (name,),
        )
        return AtomId(rows[0][0]) if len(rows) == 1 else None

    def paths_of(self, ids: Iterable[AtomId]) -> dict[AtomId, str]:
        return {
            AtomId(atom_id): path
            for batch in _batches(list(ids))
            for atom_id, path in self._db.rows(
                f"SELECT atom_id, path FROM files WHERE state!='gone' AND atom_id IN ({_placeholders(batch)})", batch
            )
        }

    def pending_files(self, limit: int) -> list[PendingFile]:
        return self._select_pending("o.written_ns IS NULL", (limit,))

    def unconfirmed_files(self) -> list[PendingFile]:
        return self._select_pending("o.boot!=?", (self._boot, -1))

    def _select_pending(self, where: str, values: tuple[Any, ...]) -> list[PendingFile]:
        return [
            PendingFile(path, AtomId(atom_id), data, base, tuple(json.loads(written_hashes)), moved_from)
            for path, atom_id, data, base, written_hashes, moved_from in self._db.rows(
                "SELECT o.path, o.atom_id, f.data, o.base, o.ours, o.moved_from FROM outbox o "
                f"JOIN files f ON f.path=o.path WHERE {where} ORDER BY o.rowid LIMIT ?",
                values,
            )
        ]

    def enqueue_files(self, changes: Sequence[tuple[Atom | None, AtomChange]]) -> None:
        """Put the files of changed atoms into the outbox; the caller has the commit's transaction open."""
        stems: dict[str, str] = {
            change.atom.id: layout.file_stem(layout.path_for(change.atom)) for old, change in changes if not old
        }

        def link(atom_id: str) -> str:
            if atom_id not in stems:
                paths = self.paths_of([AtomId(atom_id)])
                stems[atom_id] = layout.file_stem(paths[AtomId(atom_id)]) if paths else atom_id
            return stems[atom_id]

        created: list[tuple[Any, ...]] = []
        adopted: list[tuple[Any, ...]] = []
        for old, change in changes:
            atom, snapshot = change.atom, change.snapshot
            if change.is_file_deleted:
                self._set_deleted("atom_id", atom.id)
            elif old is None and snapshot is None:
                created.append((layout.path_for(atom), atom.id, atom_file.render_file(atom, None, link)))
            elif (
                old is None
                and snapshot is not None
                and atom_file.render_file(atom, snapshot.data, link) == snapshot.data
            ):
                adopted.append(
                    (
                        snapshot.path,
                        atom.id,
                        FileState.ATOM.value,
                        snapshot.data,
                        *_stamp_columns(snapshot.stamp),
                        snapshot.checked_ns,
                    )
                )
            else:
                self._enqueue_change(old, atom, snapshot, link)
        self._db.run_many("INSERT INTO files(path, atom_id, state, data, checked_ns) VALUES(?,?,'atom',?,0)", created)
        self._db.run_many(
            "INSERT INTO outbox(path, atom_id, ours, boot) VALUES(?,?,'[]',?)",
            [(*row[:2], self._boot) for row in created],
        )
        self._db.run_many("INSERT OR REPLACE INTO files VALUES(?,?,?,?,?,?,?,?,?)", adopted)

    def _enqueue_change(self, old: Atom | None, new: Atom, snapshot: FileSnapshot | None, link: StemLookup) -> None:
        """Put the file of one changed atom into the outbox, on top of what is on the disk."""
        record = self.record_of(new.id)
        if snapshot is not None:
            self._accept_snapshot(new.id, snapshot, record)
            record = self.record(snapshot.path)
        if record is None:
            self._enqueue(layout.path_for(new), new.id, atom_file.render_file(new, None, link), None, (), None)
            return
        if record.entry.state is FileState.GONE:
            if new.status in ENDED:
                return
            self._db.run("DELETE FROM files WHERE path=?", (record.entry.path,))
            self._enqueue(
                record.entry.path,
                new.id,
                atom_file.render_file(new, record.data, link),
                None,
                record.written_hashes,
                None,
            )
            return
        data = atom_file.render_file(new, record.data, link)
        path = record.entry.path
        target = layout.path_for(new) if old is not None and path == layout.path_for(old) else path
        if target != path and self.entry(target) is not None:
            target = path  # the file of another atom is there
        swapped_for = (snapshot.replaced_by_sha256,) if snapshot and snapshot.replaced_by_sha256 else ()
        if data == record.data and target == path and not swapped_for:
            return
        base = record.base if record.is_pending else record.data
        written_hashes = (*record.written_hashes, _sha256(record.data), *swapped_for)
        disk_path = self._path_on_disk(record)
        self._db.run("DELETE FROM outbox WHERE path=?", (path,))
        self._db.run("DELETE FROM files WHERE path=?", (path,))
        self._enqueue(target, new.id, data, base, written_hashes, disk_path if target != disk_path else None)

    def _path_on_disk(self, record: FileRecord) -> str:
        """Return where the file is on the disk: a pending move was not made yet."""
        outbox_row = (
            self._db.one("SELECT moved_from FROM outbox WHERE path=?", (record.entry.path,))
            if record.is_pending
            else None
        )
        return outbox_row[0] if outbox_row and outbox_row[0] else record.entry.path

    def _accept_snapshot(self, atom_id: AtomId, snapshot: FileSnapshot, record: FileRecord | None) -> None:
        """Store the bytes that a person saved as the current file of an atom."""
        if record is not None and record.entry.path != snapshot.path:
            self._db.run("DELETE FROM files WHERE path=?", (record.entry.path,))
            self._db.run("DELETE FROM outbox WHERE path=?", (record.entry.path,))
        self._put_file(snapshot.path, atom_id, FileState.ATOM, snapshot.data, snapshot.stamp, snapshot.checked_ns)
        self._db.run("DELETE FROM outbox WHERE path=?", (snapshot.path,))

    def _enqueue(
        self,
        path: str,
        atom_id: AtomId,
        data: bytes,
        base: bytes | None,
        written_hashes: tuple[str, ...],
        moved_from: str | None,
    ) -> None:
        self._put_file(path, atom_id, FileState.ATOM, data, None, 0)
        self._db.run(
            "INSERT OR REPLACE INTO outbox(path, atom_id, base, ours, moved_from, boot) VALUES(?,?,?,?,?,?)",
            (path, atom_id, base, json.dumps(written_hashes), moved_from, self._boot),
        )

    def mark_written(
        self, written: Iterable[tuple[str, Stamp, bytes]], checked_ns: int, swapped_out: Iterable[bytes] = ()
    ) -> None:
        files = list(written)
        with self._db.write_transaction(durable=False):
            self._db.run("DELETE FROM outbox WHERE boot=? AND written_ns<?", (self._boot, checked_ns - SETTLED_NS))
            # A later commit may need other bytes there: then these are what the next write replaces.
            self._db.run_many(
                "UPDATE outbox SET base=?2, moved_from=nullif(moved_from, ?1) WHERE path=?1 AND written_ns IS NULL "
                "AND EXISTS(SELECT 1 FROM files f WHERE f.path=?1 AND f.data!=?2)",
                [(path, data) for path, _, data in files],
            )
            self._db.run_many(
                "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, inode=?, checked_ns=? WHERE path=? AND data=?",
                [(*_stamp_columns(stamp), checked_ns, path, data) for path, stamp, data in files],
            )
            self._db.run_many(
                "INSERT OR REPLACE INTO swapped VALUES(?,?,?)",
                [(_sha256(data), data, checked_ns) for data in swapped_out],
            )
            self._db.run_many(
                "UPDATE outbox SET base=NULL, moved_from=NULL, written_ns=?1, boot=?2 WHERE path=?3 "
                "AND EXISTS(SELECT 1 FROM files f WHERE f.path=?3 AND f.data=?4)",
                [(checked_ns, self._boot, path, data) for path, _, data in files],
            )

    def find_swapped_out(self, sha256: str) -> bytes | None:
        row = self._db.one("SELECT data FROM swapped WHERE sha256=?", (sha256,))
        return row[0] if row else None

    def swapped_out_hashes(self) -> frozenset[str]:
        return frozenset(row[0] for row in self._db.rows("SELECT sha256 FROM swapped"))

    def forget_swapped_out(self, before_ns: int) -> None:
        if self._db.one("SELECT 1 FROM swapped WHERE at_ns<? LIMIT 1", (before_ns,)):
            with self._db.write_transaction(durable=False):
                self._db.run("DELETE FROM swapped WHERE at_ns<?", (before_ns,))

    def mark_unchanged(self, stamps: Iterable[tuple[str, Stamp]], checked_ns: int) -> None:
        with self._db.write_transaction(durable=False):
            self._set_stamps(list(stamps), checked_ns)

    def _set_stamps(self, stamps: list[tuple[str, Stamp]], checked_ns: int) -> None:
        self._db.run_many(
            "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, inode=?, checked_ns=? WHERE path=? "
            "AND NOT EXISTS(SELECT 1 FROM outbox o WHERE o.path=files.path AND o.written_ns IS NULL)",
            [(*_stamp_columns(stamp), checked_ns, path) for path, stamp in stamps],
        )

    def mark_read(
        self, path: str, data: bytes, stamp: Stamp, checked_ns: int, atom_id: AtomId | None, state: FileState
    ) -> None:
        with self._db.write_transaction(durable=False):
            self._put_file(path, atom_id, state, data, stamp, checked_ns)

    def mark_moved(self, old_path: str, new_path: str, stamp: Stamp, checked_ns: int) -> None:
        with self._db.write_transaction(durable=False):
            self._db.run("DELETE FROM files WHERE path=? AND state!='atom'", (new_path,))
            self._db.run("UPDATE files SET path=?, state='atom' WHERE path=?", (new_path, old_path))
            self._db.run("UPDATE outbox SET path=? WHERE path=?", (new_path, old_path))
            self._set_stamps([(new_path, stamp)], checked_ns)

    def displace(self, path: str) -> str:
        entry = self.entry(path)
        name = f"{path.removesuffix(layout.SUFFIX)}-{entry.atom_id if entry else ''}"
        candidates = (f"{name}{n or ''}{layout.SUFFIX}" for n in itertools.count())
        with self._db.write_transaction(durable=False):
            placeholder = next(candidate for candidate in candidates if self.entry(candidate) is None)
            self._db.run("UPDATE files SET path=? WHERE path=?", (placeholder, path))
            self._db.run("UPDATE outbox SET path=? WHERE path=?", (placeholder, path))
        return placeholder

    def mark_deleted(self, path: str) -> None:
        with self._db.write_transaction(durable=False):
            self._set_deleted("path", path)

    def _set_deleted(self, column: str, value: str) -> None:
        self._db.run(f"UPDATE files SET state='gone' WHERE {column}=?", (value,))
        self._db.run(f"DELETE FROM outbox WHERE {column}=?", (value,))

    def rewrite_deleted_files(self, atoms: Iterable[Atom]) -> None:
        """Render deleted files from what their atoms contain now; the caller has the write transaction open."""
        sql = "UPDATE files SET data=? WHERE atom_id=? AND state='gone'"
        self._db.run_many(sql, [(atom_file.render_file(atom, None, lambda link: link), atom.id) for atom in atoms])

    def remove_files_of(self, ids: Iterable[AtomId]) -> list[str]:
        """Remove the files of erased atoms; return their paths. The caller has the write transaction open."""
        paths: dict[str, None] = {}
        for batch in _batches(list(ids)):
            marks = _placeholders(batch)
            for path, moved_from in self._db.rows(
                f"SELECT f.path, o.moved_from FROM files f LEFT JOIN outbox o ON o.path=f.path "
                f"WHERE f.atom_id IN ({marks})",
                batch,
            ):
                paths |= dict.fromkeys(part for part in (path, moved_from) if part)
            for table in ("outbox", "files", "problems"):
                self._db.run(f"DELETE FROM {table} WHERE atom_id IN ({marks})", batch)
        return [*paths]

    def withdraw(self, pending: PendingFile) -> None:
        with self._db.write_transaction(durable=False):
            self._db.run("DELETE FROM outbox WHERE path=?", (pending.path,))
            self._put_file(pending.path, pending.atom_id, FileState.BAD, pending.base or b"", Stamp(-1, 0, 0, 0), 0)

    def forget_file(self, path: str) -> None:
        with self._db.write_transaction(durable=False):
            self._db.run("DELETE FROM files WHERE path=? AND state IN ('foreign', 'bad')", (path,))

    def _put_file(
        self, path: str, atom_id: AtomId | None, state: FileState, data: bytes, stamp: Stamp | None, checked_ns: int
    ) -> None:
        self._db.run(
            "INSERT OR REPLACE INTO files VALUES(?,?,?,?,?,?,?,?,?)",
            (path, atom_id, state.value, data, *_stamp_columns(stamp), checked_ns),
        )

    def problems(self) -> list[FileProblem]:
        return [
            FileProblem(path, kind, message, line, AtomId(atom_id) if atom_id else None, from_millis(at))
            for path, kind, line, atom_id, message, at in self._db.rows(
                "SELECT * FROM problems ORDER BY at, path, kind"
            )
        ]

    def report_problem(self, problem: FileProblem) -> None:
        existing = self._db.one(
            "SELECT line, message FROM problems WHERE path=? AND kind=?", (problem.path, problem.kind)
        )
        if existing == (problem.line, problem.message):
            return
        with self._db.write_transaction(durable=False):
            self._db.run(
                "INSERT OR REPLACE INTO problems VALUES(?,?,?,?,?,?)",
                (
                    problem.path,
                    problem.kind,
                    problem.line,
                    problem.atom_id,
                    problem.message,
                    to_millis(self._clock.now()),
                ),
            )

    def clear_problems(self, path: str, kinds: Iterable[str] | None = None) -> None:
        chosen_kinds = list(kinds) if kinds is not None else None
        if self._db.one("SELECT 1 FROM problems WHERE path=?", (path,)) is None:
            return
        with self._db.write_transaction(durable=False):
            if chosen_kinds is None:
                self._db.run("DELETE FROM problems WHERE path=?", (path,))
            else:
                self._db.run_many(
                    "DELETE FROM problems WHERE path=? AND kind=?", [(path, kind) for kind in chosen_kinds]
                )

    def signals(self, atom_id: AtomId) -> Signals:
        return self.signals_of([atom_id]).get(atom_id, Signals())

    def signals_of(self, ids: Iterable[AtomId]) -> dict[AtomId, Signals]:
        return {
            AtomId(atom_id): _to_signals(row)
            for batch in _batches(list(ids))
            for atom_id, *row in self._db.rows(f"{_SIGNALS} WHERE atom_id IN ({_placeholders(batch)})", batch)
        }

    def set_signals(self, atom_id: AtomId, signals: Signals) -> None:
        last, first = (to_millis(at) if at else None for at in (signals.last_recalled_at, signals.first_used_at))
        uses = json.dumps([to_millis(use) for use in signals.uses])
        with self._db.write_transaction(durable=False):
            self._db.run(
                "INSERT OR REPLACE INTO signals VALUES(?1,?,?,?,?,?,?,?,?,(SELECT scope FROM heads WHERE atom_id=?1))",
                (
                    atom_id,
                    signals.quality_score,
                    signals.recall_count,
                    last,
                    uses,
                    first,
                    signals.use_days,
                    signals.successes,
                    signals.failures,
                ),
            )

    def summary(self, path_filter: Callable[[str], bool] | None = None) -> dict[str, int]:
        def paths(where: str) -> int:
            if path_filter is None:
                row = self._db.one(f"SELECT count(*) FROM {where}")
                return int(row[0]) if row else 0
            return sum(path_filter(path) for (path,) in self._db.rows(f"SELECT path FROM {where}"))

        return {
            "files": paths("files WHERE state='atom'"),
            "foreign": paths("files WHERE state='foreign'"),
            "unreadable": paths("files WHERE state='bad'"),
            "to_write": paths("outbox WHERE written_ns IS NULL"),
            "problems": paths("problems"),
        }


def _to_signals(row: Sequence[Any]) -> Signals:
    quality, count, last, uses, first, days, successes, failures = row
    last_at, first_at = (from_millis(at) if at is not None else None for at in (last, first))
    times = tuple(from_millis(at) for at in json.loads(uses))
    if count and not times and last_at:
        times = (last_at,)
    return Signals(quality, count, last_at, times, first_at, days, successes, failures)


def _stamp_columns(stamp: Stamp | None) -> tuple[int | None, ...]:
    return (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode) if stamp else (None, None, None, None)


def _to_record(row: Sequence[Any]) -> FileRecord:
    *entry, data, base, written_hashes, pending = row
    return FileRecord(
        _to_entry(entry), data or b"", base, tuple(json.loads(written_hashes)) if written_hashes else (), bool(pending)
    )


def _batches(values: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _placeholders(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))


_STATES = {state.value: state for state in FileState}


def _to_entry(row: Iterable[Any]) -> FileEntry:
    path, atom_id, state, size, mtime_ns, ctime_ns, inode, checked_ns = row
    stamp = Stamp(size, mtime_ns, ctime_ns, inode) if size is not None else None
    return FileEntry(path, AtomId(atom_id) if atom_id else None, _STATES[state], stamp, checked_ns)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _boot_id() -> str:
    """Return a value that changes when the machine boots."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"booted-{round((time.time() - time.monotonic()) / 60)}"
