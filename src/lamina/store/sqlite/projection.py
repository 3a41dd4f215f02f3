"""The projection in history.db. What it records is not synced: what is lost is read again from the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from lamina.atom.atom import AtomId, Signals
from lamina.store.journal import Commit, CommitResult
from lamina.store.projection import (
    BytesSwappedOut,
    FileChanges,
    FileDeleted,
    FileEvent,
    FileMoved,
    FileRead,
    FileState,
    FileUnchanged,
    FileWritten,
    PendingFile,
    SwapsForgotten,
    UnwritableFile,
    WriteWithdrawn,
)
from lamina.store.sqlite.file_table import FileTable, stamp_columns
from lamina.store.sqlite.history import HistoryFile
from lamina.store.sqlite.outbox import Outbox, sha256
from lamina.vault.file_access import Stamp

SIGNAL_BATCH = 500
"""Files that are queued in one transaction because of their counters."""
_UNREAD_STAMP = Stamp(-1, 0, 0, 0)
"""A stamp that no file has, so that the file is read at the next scan."""


class SqliteProjection(FileTable):
    """Files and outbox of one vault."""

    def __init__(
        self,
        history: HistoryFile,
        append: Callable[[Commit], CommitResult],
        read_signals: Callable[[Sequence[AtomId]], Mapping[AtomId, Signals]],
        lock: threading.RLock,
    ) -> None:
        super().__init__(history.db)
        self.outbox, self._append, self._read_signals, self._lock = Outbox(self, history), append, read_signals, lock

    def catch_up(self, *, with_signals: bool = False) -> list[UnwritableFile]:
        with self._lock:
            if self.db.in_trial or self.db.has_uncommitted:
                return []
            unwritable: list[UnwritableFile] = []
            if not self.outbox.read_state().is_current:
                with self.db.write_transaction(durable=False):
                    unwritable = self.outbox.follow()
        while with_signals and self._enqueue_signals() == SIGNAL_BATCH:
            pass
        return unwritable

    def _enqueue_signals(self) -> int:
        """Queue the next files whose counters changed since they were last written; return how many."""
        with self._lock, self.db.write_transaction(durable=False):
            rows = self.db.rows("SELECT atom_id FROM unwritten_signals LIMIT ?", (SIGNAL_BATCH,))
            self.outbox.enqueue_signals(self._read_signals([AtomId(row[0]) for row in rows]))
            self.db.run_many("DELETE FROM unwritten_signals WHERE atom_id=?", rows)
        return len(rows)

    def commit_edits(self, commit: Commit, files: FileChanges) -> CommitResult:
        with self._lock, self.db.exclusive_transaction():
            result = self._append(commit)
            self.outbox.accept_edits(files)
        return result

    def record(self, events: Iterable[FileEvent], checked_ns: int) -> None:
        written: list[FileWritten] = []
        with self._lock, self.db.write_transaction(durable=False):
            for event in events:
                if isinstance(event, FileWritten):
                    written.append(event)
                else:
                    self._record_event(event, checked_ns)
            if written:
                self.outbox.confirm(written, checked_ns)

    def _record_event(self, event: FileEvent, checked_ns: int) -> None:
        match event:
            case FileRead(path, data, stamp, atom_id, state):
                self.put_files([(path, atom_id, state, data, stamp)], checked_ns)
            case FileUnchanged(path, stamp):
                self._set_stamp(path, stamp, checked_ns)
            case FileMoved():
                self._move(event, checked_ns)
            case FileDeleted(path):
                self.set_deleted("path", path)
            case WriteWithdrawn(pending):
                self.db.run("DELETE FROM outbox WHERE path=?", (pending.path,))
                row = (pending.path, pending.atom_id, FileState.BAD, pending.base or b"", _UNREAD_STAMP)
                self.put_files([row], 0)
            case BytesSwappedOut(data):
                self.db.run("INSERT OR REPLACE INTO swapped VALUES(?,?,?)", (sha256(data), data, checked_ns))
            case SwapsForgotten(before_ns):
                self.db.run("DELETE FROM swapped WHERE at_ns<?", (before_ns,))

    def _move(self, event: FileMoved, checked_ns: int) -> None:
        self.db.run("DELETE FROM files WHERE path=? AND state!='atom'", (event.new_path,))
        for table in ("files", "outbox"):
            self.db.run(f"UPDATE {table} SET path=? WHERE path=?", (event.new_path, event.path))
        if event.stamp is not None:
            self.db.run("UPDATE files SET state='atom' WHERE path=?", (event.new_path,))
            self._set_stamp(event.new_path, event.stamp, checked_ns)

    def _set_stamp(self, path: str, stamp: Stamp, checked_ns: int) -> None:
        self.db.run(
            "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, inode=?, checked_ns=? WHERE path=? "
            "AND NOT EXISTS(SELECT 1 FROM outbox o WHERE o.path=files.path AND o.written_ns IS NULL)",
            (*stamp_columns(stamp), checked_ns, path),
        )

    def pending_files(self, limit: int | None = None, *, unconfirmed: bool = False) -> list[PendingFile]:
        return self.outbox.pending_files(limit, unconfirmed=unconfirmed)

    def summary(self, path_filter: Callable[[str], bool] | None = None) -> dict[str, int]:
        def count(where: str, more: Iterable[str] = ()) -> int:
            paths = [row[0] for row in self.db.rows(f"SELECT path FROM {where}")]
            paths += set(more).difference(paths)
            return len(paths) if path_filter is None else sum(map(path_filter, paths))

        return {
            "files": count("files WHERE state='atom'"),
            "foreign": count("files WHERE state='foreign'"),
            "unreadable": count("files WHERE state='bad'"),
            "to_write": count("outbox WHERE written_ns IS NULL", self.outbox.unqueued_paths()),
            "problems": count("problems"),
        }
