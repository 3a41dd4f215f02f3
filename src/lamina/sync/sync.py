"""Synchronises a person's files with the journal, in both directions; neither side loses anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lamina.atom.atom import IdSource
from lamina.clock import Clock, disk_time_ns
from lamina.store.admin import FileProblem
from lamina.store.base import Store
from lamina.store.projection import BytesSwappedOut, FileState, FileWritten, KnownFiles, PendingFile
from lamina.sync.changed_files import FileEdits, displace
from lamina.sync.disk_diff import NO_STAMP, DiskChanges, DiskDiff, ReadFile
from lamina.sync.edit_commit import EditCommitter
from lamina.sync.field_edits import DecideNew, DecideStatus
from lamina.sync.held_deletions import HasMarker, HeldDeletions, find_lost_folder
from lamina.sync.projection import SwapCopies, is_ours, write_pending_files
from lamina.sync.report import Progress, SyncReport
from lamina.vault import layout
from lamina.vault.disk import Disk
from lamina.vault.file_access import UnusableFile

LOCK_SECONDS = 60.0
MAX_ROUNDS = 50


class VaultSync:
    """Keeps vault and store in sync; safe in several processes at once."""

    def __init__(
        self,
        disk: Disk,
        store: Store,
        clock: Clock,
        ids: IdSource,
        has_marker: HasMarker,
        decide_status: DecideStatus,
        decide_new: DecideNew,
        *,
        needs_review: bool,
    ) -> None:
        self._disk, self._ledger, self._problems = disk, store.projection, store.admin.problems
        self._diff = DiskDiff(disk, store.projection)
        hand = EditCommitter(store, decide_status, decide_new, ids, clock, needs_review=needs_review)
        self._held = HeldDeletions(disk, self._ledger, self._problems, has_marker, needs_review=needs_review)
        self._file_edits = FileEdits(disk, store, hand, clock, ids, self._held)
        self._swap_copies = SwapCopies(disk, store, hand)

    def run(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Scan every file: finish what a crash interrupted, commit what people changed, write what is pending."""
        self._follow_journal()
        report, changes = SyncReport(), self._diff.scan()
        if self._is_in_sync(changes):
            return report
        with self._disk.lock("vault", LOCK_SECONDS):
            unconfirmed = self._ledger.pending_files(unconfirmed=True)  # before a save in a copy queues a file anew
            self._swap_copies.process(report)
            is_recovered = self._recover(unconfirmed)
            self._write_pending(report)
            changes = self._diff.scan() if is_recovered else self._diff.recheck(changes)
            self._apply_changes(changes, report, accept_deletions=accept_deletions, progress=progress)
            self._write_pending(report)
        return report

    def sync_files(self, paths: Iterable[str]) -> SyncReport:
        """Synchronise some files, because they were just saved or are about to be shown."""
        report = SyncReport()
        changed_paths = [path for path in dict.fromkeys(paths) if not layout.is_document_path(path)]
        if any(path.endswith("/") for path in changed_paths):
            return self.run()
        records = self._ledger.read(paths=changed_paths).by_path
        changed_paths = self._diff.find_differing({path: records.get(path) for path in changed_paths})
        if changed_paths:
            with self._disk.lock("vault", LOCK_SECONDS):
                self._write_pending(report)
                if all(self._diff.stamp(path) for path in changed_paths):
                    self._file_edits.process_files(changed_paths, report)
                else:
                    # A missing file may have been moved: only a full scan can tell.
                    self._apply_changes(self._diff.scan(), report)
                self._write_pending(report)
        return report

    def write_pending(self) -> SyncReport:
        """Write the files that the last commits changed."""
        report = SyncReport()
        with self._disk.lock("vault", LOCK_SECONDS):
            self._write_pending(report)
        return report

    def write_signals(self) -> SyncReport:
        """Write the counters of use that changed into the files of their atoms."""
        with self._disk.lock("vault", LOCK_SECONDS):
            self._follow_journal(with_signals=True)
        return self.write_pending()

    def find_stale_files(self, files: KnownFiles) -> list[str]:
        """Return the paths of those of the files that differ from the ledger, without deleted ones."""
        existing = [record for record in files.records if record.entry.state is not FileState.GONE]
        return self._diff.find_differing({record.entry.path: record for record in existing})

    def _is_in_sync(self, changes: DiskChanges) -> bool:
        """Return whether there is nothing to do."""
        return not (
            changes
            or self._ledger.pending_files(1)
            or self._ledger.pending_files(unconfirmed=True)
            or self._swap_copies.find_due()
            or self._held_edits()
            or self._held.folders
        )

    def _held_edits(self) -> list[str]:
        """Return edits that broke a rule, and copies of known files: the obstacle may be gone now."""
        return [problem.path for problem in self._problems.list() if problem.kind in ("refused", "duplicate-id")]

    def _recover(self, unconfirmed: Sequence[PendingFile]) -> bool:
        """After a reboot, write files again from the ledger that had not reached the disk.

        Returns whether there were any: then earlier scans are invalid.
        """
        unknown_paths = self._diff.find_unknown_files() if unconfirmed else []
        rewritten: list[FileWritten] = []
        swapped_out: list[BytesSwappedOut] = []
        for pending in unconfirmed:
            file = self._diff.read(pending.path)
            candidates = unknown_paths if file is None else ()
            moved_path = next((path for path in candidates if pending.atom_id in path), None)
            if moved_path is not None:
                file = self._redo_move(moved_path, pending)
            if file is None and moved_path is None:
                if not find_lost_folder(self._disk, self._ledger, pending.path):
                    stamp = self._disk.create(pending.path, pending.data)
                    rewritten.append(FileWritten(pending.path, pending.data, stamp))
            elif isinstance(file, UnusableFile):
                rewritten.append(FileWritten(pending.path, pending.data, NO_STAMP))
            elif file is not None and file.data == pending.data:
                rewritten.append(FileWritten(pending.path, pending.data, file.stamp))
            elif file is not None and self._is_torn_write(file.data, pending):
                swapped = self._disk.exchange(pending.path, pending.data)
                swapped_out.append(BytesSwappedOut(swapped.data))
                rewritten.append(FileWritten(pending.path, pending.data, swapped.stamp))
            elif file is not None and pending.base is None:
                rewritten.append(FileWritten(pending.path, pending.data, NO_STAMP))
        if rewritten:
            self._ledger.record([*swapped_out, *rewritten], disk_time_ns())
        return bool(unconfirmed)

    def _redo_move(self, path: str, file: PendingFile) -> ReadFile | UnusableFile | None:
        """Repeat a move of ours that did not last; a file that a person put there stays."""
        moved_file = self._diff.read(path)
        if not isinstance(moved_file, ReadFile) or not self._is_torn_write(moved_file.data, file):
            return None
        self._disk.move(path, file.path)
        return self._diff.read(file.path)

    def _is_torn_write(self, data: bytes, file: PendingFile) -> bool:
        """Return whether bytes are what a crash left of our file: an older version, a part, or one with holes."""
        versions = (file.data, file.base, *map(self._ledger.find_swapped_out, file.written_hashes))
        is_torn = b"\0" in data or any(version is not None and version.startswith(data) for version in versions)
        return is_torn or is_ours(data, file)

    def _follow_journal(self, *, with_signals: bool = False) -> None:
        """Queue the files of what was committed; report atoms that do not fit in a file."""
        for file in self._ledger.catch_up(with_signals=with_signals):
            self._problems.report(
                FileProblem(file.path, "blocked", f"cannot be written: {file.reason}", 1, file.atom_id)
            )

    def _write_pending(self, report: SyncReport) -> None:
        """Write pending files until none is left, and process what people saved in between."""
        previous_missing: list[str] = []
        for _ in range(MAX_ROUNDS):
            self._follow_journal()
            result = write_pending_files(self._disk, self._ledger)
            report.written += len(result.written)
            for pending, swapped in result.swapped_out:
                self._file_edits.commit_swapped(pending, swapped, report)
            for pending in result.occupied:
                displace(self._ledger, pending.path)
            missing = [file.path for file in result.missing]
            if result.occupied or (missing and missing != previous_missing):
                self._apply_changes(self._diff.scan(), report)
            elif not result.swapped_out:
                self._file_edits.update_write_problems(result.written, result.blocked)
                return
            previous_missing = missing

    def _apply_changes(
        self,
        changes: DiskChanges,
        report: SyncReport,
        *,
        accept_deletions: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Process new and changed files, edits that were held before, and missing files."""
        self._file_edits.process_files([*changes.changed], report, progress)
        self._file_edits.process_files(self._held_edits(), report)
        self._file_edits.process_missing(changes.missing, report, accept_deletions=accept_deletions)
