"""The outbox: files still to be written. It follows the journal.

The files of the atoms that a commit changed are rendered after it, in a transaction of their own that also stores the
position. After a crash in between they are rendered when the vault is opened. What is rendered depends on the rows of
files only, never on the disk.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lamina.atom.atom import Atom, AtomId, Signals
from lamina.atom.status import ENDED
from lamina.errors import InvalidInput
from lamina.store.projection import FileChanges, FileRecord, FileState, FileWritten, PendingFile, UnwritableFile
from lamina.store.sqlite.atoms import atoms_at
from lamina.store.sqlite.file_table import FileTable, stamp_columns
from lamina.store.sqlite.history import HistoryFile
from lamina.vault import atom_file, layout
from lamina.vault.frontmatter_fields import StemLookup

SETTLED_NS = 120 * 10**9
"""After this long a written file has reached the disk (the kernel writes back within about 35 s)."""


_STATE = (
    "SELECT (SELECT max(seq) FROM commits), (SELECT value FROM meta WHERE key='projection_position'), "
    "(SELECT value FROM meta WHERE key='projection_boot'), EXISTS(SELECT 1 FROM accepted_files)"
)
_MARK_WRITTEN = """UPDATE outbox SET base=iif(f.data=?2, NULL, ?2),
  moved_from=iif(f.data=?2, NULL, nullif(moved_from, ?1)), written_ns=iif(f.data=?2, ?3, written_ns),
  boot=iif(f.data=?2, ?4, boot)
FROM files f WHERE f.path=?1 AND outbox.path=?1 AND (f.data=?2 OR written_ns IS NULL)
"""
"""A later commit may need other bytes at a path: then these are what the next write replaces."""


@dataclass(frozen=True, slots=True)
class _QueuedFile:
    """A file that is queued; the fields are those of `PendingFile`."""

    path: str
    atom_id: AtomId
    data: bytes
    base: bytes | None = None
    written_hashes: tuple[str, ...] = ()
    moved_from: str | None = None


class _OutboxState(NamedTuple):
    """The last journal position, the one up to which files are queued, the boot in which that was, and whether that is
    now."""

    tip: int
    position: int
    boot: str | None
    is_current: bool


class Outbox:
    """Files still to be written, and how they are queued."""

    def __init__(self, files: FileTable, history: HistoryFile) -> None:
        self._files, self._history, self._db, self._boot = files, history, history.db, _boot_id()

    def pending_files(self, limit: int | None, *, unconfirmed: bool) -> list[PendingFile]:
        """Return files still to be written, or those that an earlier boot wrote or had to write, oldest first."""
        where = "o.boot!=?1" if unconfirmed else "o.written_ns IS NULL AND ?1 IS NOT NULL"
        return [
            PendingFile(path, AtomId(atom_id), data, base, tuple(json.loads(written_hashes)), moved_from)
            for path, atom_id, data, base, written_hashes, moved_from in self._db.rows(
                "SELECT o.path, o.atom_id, f.data, o.base, o.ours, o.moved_from FROM outbox o "
                f"JOIN files f ON f.path=o.path WHERE {where} ORDER BY o.rowid LIMIT ?2",
                (self._boot, -1 if limit is None else limit),
            )
        ]

    def follow(self) -> list[UnwritableFile]:
        """Queue the files of the atoms that changed since the last call, and of those whose files a person saved.

        Each file is rendered from its atom as it is now. Returns those that cannot be rendered. The caller has a write
        transaction open in which nothing was committed.
        """
        state = self.read_state()
        ids = self._find_unqueued(state.position)
        heads = self._history.heads.get(ids)
        boot = self._boot if state.boot == self._boot else ""
        unwritable = self._enqueue([heads[atom_id] for atom_id in ids if atom_id in heads], state.position, boot)
        self._db.run_many(
            "INSERT OR REPLACE INTO meta VALUES(?,?)",
            [("projection_position", state.tip), ("projection_boot", self._boot)],
        )
        self._db.run("DELETE FROM accepted_files")
        return unwritable

    def read_state(self) -> _OutboxState:
        """Return how far the outbox follows the journal."""
        ((tip, position, boot, accepted),) = self._db.rows(_STATE)
        is_current = (tip or 0, boot, accepted) == (position or 0, self._boot, False)
        return _OutboxState(tip or 0, position or 0, boot, is_current)

    def unqueued_paths(self) -> list[str]:
        """Return the files of the atoms that changed and are not queued yet."""
        return [*self._files.paths_of(self._find_unqueued(self.read_state().position)).values()]

    def _find_unqueued(self, position: int) -> list[AtomId]:
        """Return the atoms that changed after a journal position, in that order, and those whose files were saved."""
        rows = self._db.rows(
            "SELECT atom_id FROM (SELECT atom_id, seq, n FROM versions WHERE seq>? "
            "UNION ALL SELECT atom_id, 0, 0 FROM accepted_files) GROUP BY atom_id ORDER BY min(seq), min(n)",
            (position,),
        )
        return [AtomId(row[0]) for row in rows]

    def _enqueue(self, atoms: Sequence[Atom], position: int, boot: str) -> list[UnwritableFile]:
        """Queue the files of atoms that changed after a journal position.

        `boot` is empty if that may have happened before the machine was started: what was written then is not certain
        to be on the disk, and the record of it may be lost.
        """
        records = self._records_of([atom.id for atom in atoms])
        link, queued, unwritable = self._stem_lookup(records), dict[str, _QueuedFile](), list[UnwritableFile]()
        for atom in atoms:
            try:
                file = self._render(atom, records.get(atom.id), link, queued, position)
            except InvalidInput as error:
                path = records[atom.id].entry.path if atom.id in records else layout.path_for(atom)
                unwritable.append(UnwritableFile(path, atom.id, str(error)))
                continue
            if file is not None:
                queued[file.path] = file
        self._store_queued([*queued.values()], boot)
        return unwritable

    def enqueue_signals(self, signals: Mapping[AtomId, Signals]) -> None:
        """Put the files of these atoms into the outbox with their counters; the caller has a write transaction open.

        Files that were deleted or cannot be read are left out.
        """
        records, queued = self._records_of([*signals]), dict[str, _QueuedFile]()
        link, heads = self._stem_lookup(records), self._history.heads.get(records)
        for atom_id, record in records.items():
            if record.entry.state is FileState.ATOM:
                with suppress(InvalidInput):  # the counters of a file that is full already are not written
                    file = self._render(heads[atom_id], record, link, queued, None, signals[atom_id])
                    queued |= {file.path: file} if file is not None else {}
        self._store_queued([*queued.values()], self._boot)

    def accept_edits(self, files: FileChanges) -> None:
        """Store what a person did to files; the caller has the write transaction of the commit open."""
        for atom_id in files.deleted:
            self._files.set_deleted("atom_id", atom_id)
        snapshots = files.snapshots
        records = self._records_of([*snapshots])
        moved_paths = [
            (record.entry.path,) for atom_id, record in records.items() if record.entry.path != snapshots[atom_id].path
        ]
        for table in ("files", "outbox"):
            self._db.run_many(f"DELETE FROM {table} WHERE path=?", moved_paths)
        self._db.run_many("DELETE FROM outbox WHERE path=?", [(snapshot.path,) for snapshot in snapshots.values()])
        for atom_id, snapshot in snapshots.items():
            row = (snapshot.path, atom_id, FileState.ATOM, snapshot.data, snapshot.stamp)
            self._files.put_files([row], snapshot.checked_ns)
        self._db.run_many("INSERT OR IGNORE INTO accepted_files VALUES(?)", [(atom_id,) for atom_id in snapshots])
        # The engine's bytes are at the path: the person's have to be written there, as they are or with later changes.
        swapped = [
            _QueuedFile(snapshot.path, atom_id, snapshot.data, snapshot.data, (snapshot.replaced_by_sha256,))
            for atom_id, snapshot in snapshots.items()
            if snapshot.replaced_by_sha256
        ]
        self._store_queued(swapped, self._boot)

    def _records_of(self, ids: Sequence[AtomId]) -> dict[AtomId, FileRecord]:
        return {AtomId(str(record.entry.atom_id)): record for record in self._files.read(ids=ids).records}

    def _stem_lookup(self, records: Mapping[AtomId, FileRecord]) -> StemLookup:
        """Return the lookup of file names for links; `records` are known already."""
        stems = {
            str(atom_id): layout.file_stem(record.entry.path)
            for atom_id, record in records.items()
            if record.entry.state is not FileState.GONE
        }

        def link(atom_id: str) -> str:
            if atom_id not in stems:
                path = self._files.paths_of([AtomId(atom_id)]).get(AtomId(atom_id))
                stems[atom_id] = layout.file_stem(path) if path else atom_id
            return stems[atom_id]

        return link

    def _store_queued(self, queued: Sequence[_QueuedFile], boot: str) -> None:
        """Store files as they will be, and that they are still to be written."""
        self._files.put_files([(file.path, file.atom_id, FileState.ATOM, file.data, None) for file in queued], 0)
        self._db.run_many(
            "INSERT OR REPLACE INTO outbox(path, atom_id, base, ours, moved_from, boot) VALUES(?,?,?,?,?,?)",
            [
                (file.path, file.atom_id, file.base, json.dumps(file.written_hashes), file.moved_from, boot)
                for file in queued
            ],
        )

    def _render(
        self,
        atom: Atom,
        record: FileRecord | None,
        link: StemLookup,
        queued: Mapping[str, _QueuedFile],
        position: int | None,
        signals: Signals | None = None,
    ) -> _QueuedFile | None:
        """Return the file of an atom, on top of what is on the disk; None if nothing is to be written.

        `position`: of the journal when the file was rendered last; None if the atom did not change since.
        """
        if record is None:
            return _QueuedFile(layout.path_for(atom), atom.id, atom_file.render_file(atom, None, link))
        path, base = record.entry.path, record.data or None  # a new file that a person made unreadable has no bytes
        data = atom_file.render_file(atom, base, link, signals=signals)
        if record.entry.state is FileState.GONE:
            return None if atom.status in ENDED else _QueuedFile(path, atom.id, data, None, record.written_hashes)
        target = layout.path_for(atom)
        if target != path:
            is_taken = target in queued or self._files.read(paths=[target]).records
            target = path if is_taken or not self._is_where_it_was_put(path, atom.id, position) else target
        if data == record.data and target == path:
            return None
        base = record.base if record.is_pending else record.data
        written_hashes = (*record.written_hashes, sha256(record.data))
        disk_path = self._path_on_disk(record)
        if target != path:
            self._db.run("DELETE FROM outbox WHERE path=?", (path,))
            self._db.run("DELETE FROM files WHERE path=?", (path,))
        return _QueuedFile(target, atom.id, data, base, written_hashes, disk_path if target != disk_path else None)

    def _is_where_it_was_put(self, path: str, atom_id: AtomId, position: int | None) -> bool:
        """Return whether a file is where lamina put it; a file that a person moved stays there."""
        if position is None:
            return False
        earlier = atoms_at(self._db, [atom_id], position).get(atom_id)
        return earlier is not None and layout.path_for(earlier) == path

    def _path_on_disk(self, record: FileRecord) -> str:
        """Return where the file is on the disk: a pending move was not made yet."""
        outbox_row = (
            self._db.one("SELECT moved_from FROM outbox WHERE path=?", (record.entry.path,))
            if record.is_pending
            else None
        )
        return outbox_row[0] if outbox_row and outbox_row[0] else record.entry.path

    def confirm(self, files: Sequence[FileWritten], checked_ns: int) -> None:
        """Store that files were written; the caller has a write transaction open."""
        self._db.run("DELETE FROM outbox WHERE boot=? AND written_ns<?", (self._boot, checked_ns - SETTLED_NS))
        self._db.run_many(
            "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, inode=?, checked_ns=? WHERE path=? AND data=?",
            [(*stamp_columns(file.stamp), checked_ns, file.path, file.data) for file in files],
        )
        self._db.run_many(_MARK_WRITTEN, [(file.path, file.data, checked_ns, self._boot) for file in files])

    def rewrite_deleted_files(self, atoms: Iterable[Atom]) -> None:
        """Render deleted files from what their atoms contain now; the caller has the write transaction open."""
        sql = "UPDATE files SET data=? WHERE atom_id=? AND state='gone'"
        self._db.run_many(sql, [(atom_file.render_file(atom, None, lambda link: link), atom.id) for atom in atoms])

    def remove_files_of(self, ids: Iterable[AtomId]) -> list[str]:
        """Remove the files of erased atoms; return their paths. The caller has the write transaction open."""
        values = (json.dumps(list(ids)),)
        rows = self._db.rows(
            "SELECT f.path, o.moved_from FROM files f LEFT JOIN outbox o ON o.path=f.path "
            "WHERE f.atom_id IN (SELECT value FROM json_each(?))",
            values,
        )
        for table in ("outbox", "files", "problems"):
            self._db.run(f"DELETE FROM {table} WHERE atom_id IN (SELECT value FROM json_each(?))", values)
        return list(dict.fromkeys(path for row in rows for path in row if path))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _boot_id() -> str:
    """Return a value that changes when the machine boots."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"booted-{round((time.time() - time.monotonic()) / 60)}"
