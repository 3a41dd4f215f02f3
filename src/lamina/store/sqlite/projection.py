"""The projection in history.db. Its writes are not synced: what is lost is read again from the disk."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from lamina.atom.atom import AtomId, Signals
from lamina.store.journal import Commit, CommitResult
from lamina.store.projection import FileChanges, FileState, PendingFile, UnwritableFile
from lamina.store.sqlite.history import HistoryFile
from lamina.store.sqlite.outbox import FileTable, Outbox, stamp_columns
from lamina.vault import layout
from lamina.vault.folder_tree import Stamp

SIGNAL_BATCH = 500
"""Files that are queued in one transaction because of their counters."""


class SqliteProjection(FileTable):
    """Files and outbox of one vault."""

    def __init__(
        self,
        outbox: Outbox,
        history: HistoryFile,
        append: Callable[[Commit], CommitResult],
        read_signals: Callable[[Sequence[AtomId]], Mapping[AtomId, Signals]],
        lock: threading.RLock,
    ) -> None:
        super().__init__(history.db)
        self._lock = lock
        self._outbox, self._history, self._append, self._read_signals = outbox, history, append, read_signals

    def commit_edits(self, commit: Commit, files: FileChanges) -> CommitResult:
        """Append a commit that was read from files, and store in the same transaction what those files contain."""
        with self._lock, self.db.exclusive_transaction():
            result = self._append(commit)
            self._outbox.accept_edits(files)
        return result

    def catch_up(self) -> list[UnwritableFile]:
        """Queue the files of the atoms that changed since the last call; cheap if there are none.

        Nothing happens in a transaction that may be rolled back.
        """
        with self._lock:
            if self.db.in_trial or self.db.has_uncommitted or self._outbox.read_state().is_current:
                return []
            with self.db.write_transaction(durable=False):
                return self._outbox.follow(self._history)

    def pending_files(self, limit: int) -> list[PendingFile]:
        """Return files still to be written, oldest first."""
        return self._outbox.pending_files(limit)

    def unconfirmed_files(self) -> list[PendingFile]:
        """Return files of an earlier boot that may not have reached the disk."""
        return self._outbox.unconfirmed_files()

    def enqueue_signals(self) -> None:
        """Queue the files whose counters changed since they were last written, in batches."""
        self.catch_up()
        while True:
            with self.db.write_transaction(durable=False):
                rows = self.db.rows("SELECT atom_id FROM unwritten_signals LIMIT ?", (SIGNAL_BATCH,))
                ids = [AtomId(row[0]) for row in rows]
                self._outbox.enqueue_signals(self._read_signals(ids))
                self.db.run_many("DELETE FROM unwritten_signals WHERE atom_id=?", rows)
            if len(rows) < SIGNAL_BATCH:
                return

    def mark_written(
        self, written: Iterable[tuple[str, Stamp, bytes]], checked_ns: int, swapped_out: Iterable[bytes] = ()
    ) -> None:
        """Store that these bytes are on the disk, and the bytes that were swapped for them."""
        self._outbox.mark_written(written, checked_ns, swapped_out)

    def find_swapped_out(self, sha256: str) -> bytes | None:
        row = self.db.one("SELECT data FROM swapped WHERE sha256=?", (sha256,))
        return row[0] if row else None

    def swapped_out_hashes(self) -> frozenset[str]:
        return frozenset(row[0] for row in self.db.rows("SELECT sha256 FROM swapped"))

    def forget_swapped_out(self, before_ns: int) -> None:
        if self.db.one("SELECT 1 FROM swapped WHERE at_ns<? LIMIT 1", (before_ns,)):
            with self.db.write_transaction(durable=False):
                self.db.run("DELETE FROM swapped WHERE at_ns<?", (before_ns,))

    def mark_unchanged(self, stamps: Iterable[tuple[str, Stamp]], checked_ns: int) -> None:
        with self.db.write_transaction(durable=False):
            self._set_stamps(list(stamps), checked_ns)

    def _set_stamps(self, stamps: list[tuple[str, Stamp]], checked_ns: int) -> None:
        self.db.run_many(
            "UPDATE files SET size=?, mtime_ns=?, ctime_ns=?, inode=?, checked_ns=? WHERE path=? "
            "AND NOT EXISTS(SELECT 1 FROM outbox o WHERE o.path=files.path AND o.written_ns IS NULL)",
            [(*stamp_columns(stamp), checked_ns, path) for path, stamp in stamps],
        )

    def mark_read(
        self, path: str, data: bytes, stamp: Stamp, checked_ns: int, atom_id: AtomId | None, state: FileState
    ) -> None:
        with self.db.write_transaction(durable=False):
            self.put_file(path, atom_id, state, data, stamp, checked_ns)

    def mark_moved(self, old_path: str, new_path: str, stamp: Stamp, checked_ns: int) -> None:
        with self.db.write_transaction(durable=False):
            self.db.run("DELETE FROM files WHERE path=? AND state!='atom'", (new_path,))
            self.db.run("UPDATE files SET path=?, state='atom' WHERE path=?", (new_path, old_path))
            self.db.run("UPDATE outbox SET path=? WHERE path=?", (new_path, old_path))
            self._set_stamps([(new_path, stamp)], checked_ns)

    def displace(self, path: str) -> str:
        entry = self.entry(path)
        name = f"{path.removesuffix(layout.SUFFIX)}-{entry.atom_id if entry else ''}"
        candidates = (f"{name}{n or ''}{layout.SUFFIX}" for n in itertools.count())
        with self.db.write_transaction(durable=False):
            placeholder = next(candidate for candidate in candidates if self.entry(candidate) is None)
            self.db.run("UPDATE files SET path=? WHERE path=?", (placeholder, path))
            self.db.run("UPDATE outbox SET path=? WHERE path=?", (placeholder, path))
        return placeholder

    def mark_deleted(self, path: str) -> None:
        with self.db.write_transaction(durable=False):
            self.set_deleted("path", path)

    def withdraw(self, pending: PendingFile) -> None:
        with self.db.write_transaction(durable=False):
            self.db.run("DELETE FROM outbox WHERE path=?", (pending.path,))
            self.put_file(pending.path, pending.atom_id, FileState.BAD, pending.base or b"", Stamp(-1, 0, 0, 0), 0)

    def forget_file(self, path: str) -> None:
        with self.db.write_transaction(durable=False):
            self.db.run("DELETE FROM files WHERE path=? AND state IN ('foreign', 'bad')", (path,))

    def summary(self, path_filter: Callable[[str], bool] | None = None) -> dict[str, int]:
        def count(where: str, more: Iterable[str] = ()) -> int:
            paths = [row[0] for row in self.db.rows(f"SELECT path FROM {where}")]
            paths += set(more).difference(paths)
            return len(paths) if path_filter is None else sum(map(path_filter, paths))

        return {
            "files": count("files WHERE state='atom'"),
            "foreign": count("files WHERE state='foreign'"),
            "unreadable": count("files WHERE state='bad'"),
            "to_write": count("outbox WHERE written_ns IS NULL", self._outbox.unqueued_paths()),
            "problems": count("problems"),
        }
