"""Projection: the outbox is written to files, and a person who saves at the same moment loses nothing.

An exchange of files swaps out a copy. An editor that still has the file open may write into the copy afterwards, and a
process may be stopped before it has read one: unprocessed bytes in a copy are a person's.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum

from lamina.clock import disk_time_ns
from lamina.errors import Refused
from lamina.store.admin import FileProblem
from lamina.store.base import Store
from lamina.store.projection import BytesSwappedOut, FileRecord, FileWritten, PendingFile, Projection, SwapsForgotten
from lamina.sync.disk_diff import try_parse
from lamina.sync.edit_commit import EditCommitter
from lamina.sync.held_deletions import find_lost_folder
from lamina.sync.report import SyncReport
from lamina.vault.disk import Disk, SwapCopy, SwapResult
from lamina.vault.file_access import Stamp, UnusableFile

BATCH = 500
GRACE_NS = 60 * 10**9
RETENTION_NS = 24 * 3600 * 10**9


class WriteObstacle(Enum):
    """A reason why a file was not written."""

    MISSING = "the file that was to be replaced is not there"
    OCCUPIED = "another program's file is where a new file was to be created"


@dataclass(slots=True)
class ProjectionResult:
    """The result of writing the outbox: files written, swapped-out bytes of a person, files that were missing.

    `blocked`: something that is not a plain file is in the way; `occupied`: a file that lamina did not write is.
    """

    written: list[str] = field(default_factory=list)
    swapped_out: list[tuple[PendingFile, SwapResult]] = field(default_factory=list)
    missing: list[PendingFile] = field(default_factory=list)
    occupied: list[PendingFile] = field(default_factory=list)
    blocked: list[tuple[PendingFile, str]] = field(default_factory=list)


def write_pending_files(disk: Disk, ledger: Projection) -> ProjectionResult:
    """Write every pending file. The caller has the vault's lock and processes what people saved meanwhile."""
    result = ProjectionResult()
    while batch := _next_batch(ledger, result):
        written: list[FileWritten] = []
        swapped_out: list[BytesSwappedOut] = []
        for file in batch:
            lost_folder = find_lost_folder(disk, ledger, file.path) if file.base is None else None
            if lost_folder is not None:
                result.blocked.append((file, f"the folder {lost_folder} is missing"))
                continue
            try:
                outcome = write_file(disk, file)
            except (UnusableFile, FileExistsError, IsADirectoryError, NotADirectoryError) as error:
                result.blocked.append((file, str(error)))
                continue
            if outcome is WriteObstacle.OCCUPIED:
                result.occupied.append(file)
            elif outcome is WriteObstacle.MISSING:
                result.missing.append(file)
            elif isinstance(outcome, SwapResult):
                if is_ours(outcome.data, file):
                    swapped_out.append(BytesSwappedOut(outcome.data))
                    written.append(FileWritten(file.path, file.data, outcome.stamp))
                else:
                    result.swapped_out.append((file, outcome))
            else:
                written.append(FileWritten(file.path, file.data, outcome))
        result.written += [file.path for file in written]
        ledger.record([*swapped_out, *written], disk_time_ns())
        if len(batch) < BATCH:
            break
    return result


def _next_batch(ledger: Projection, result: ProjectionResult) -> list[PendingFile]:
    """Return the next files to write, without those that could not be written before."""
    skipped = {file.path for file in (*result.missing, *result.occupied)}
    skipped |= {file.path for file, _ in (*result.swapped_out, *result.blocked)}
    return [pending for pending in ledger.pending_files(BATCH + len(skipped)) if pending.path not in skipped]


def write_file(disk: Disk, file: PendingFile) -> Stamp | SwapResult | WriteObstacle:
    """Write one file, or return what is in the way."""
    if file.moved_from and disk.stamp(file.path) is None and disk.stamp(file.moved_from):
        disk.move(file.moved_from, file.path)
        disk.remove_empty_dirs(file.moved_from)
    if file.base is None:
        try:
            return disk.create(file.path, file.data)
        except FileExistsError:
            if not _is_partial_write(disk.read(file.path)[0], file):
                return WriteObstacle.OCCUPIED
    try:
        return disk.exchange(file.path, file.data)
    except FileNotFoundError:
        return WriteObstacle.MISSING


def _is_partial_write(data: bytes, file: PendingFile) -> bool:
    """Return whether the new file is there already, or what a crash left of it."""
    return is_ours(data, file) or file.data.startswith(data) or b"\0" in data


def is_ours(data: bytes, file: PendingFile) -> bool:
    """Return whether lamina wrote these bytes."""
    return data in (file.data, file.base) or sha256(data) in file.written_hashes


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()


class SwapCopies:
    """Processes the copies; its methods run under the vault's lock."""

    def __init__(self, disk: Disk, store: Store, edits: EditCommitter) -> None:
        self._disk, self._ledger, self._edits = disk, store.projection, edits
        self._problems = store.admin.problems

    def find_due(self) -> list[SwapCopy]:
        """Return the copies to read: possibly written to, not processed yet, or past their grace period."""
        now = disk_time_ns()
        copies = self._disk.swap_copies()
        processed = self._ledger.swapped_out_hashes() if copies else frozenset()
        return [
            copy for copy in copies if copy.is_recent or copy.sha256 not in processed or now - copy.at_ns > GRACE_NS
        ]

    def process(self, report: SyncReport) -> None:
        """Commit what people wrote into the copies, and delete those past their grace period."""
        now = disk_time_ns()
        for copy in self.find_due():
            data = self._disk.copy_bytes(copy.name)
            if self._ledger.find_swapped_out(sha256(data)) is None:
                self._process_copy(copy, data, report)
            elif now - copy.at_ns > GRACE_NS:
                self._disk.delete_copy(copy.name)
        if self._ledger.swapped_out_hashes():
            self._ledger.record([SwapsForgotten(now - RETENTION_NS)], now)

    def _process_copy(self, copy: SwapCopy, data: bytes, report: SyncReport) -> None:
        """Commit the bytes of a copy if they are a person's, and mark them as processed."""
        path = self._disk.copy_path(copy.name)
        row = self._find_record(path, data)
        base = self._ledger.find_swapped_out(copy.sha256) or (row.base if row and row.is_pending else None)
        if not self._is_our_data(data, row, base):
            self._commit_late_save(row.entry.path if row else path or "unknown.md", data, base, row, report)
        self._ledger.record(map(BytesSwappedOut, [data] if base is None else [base, data]), disk_time_ns())

    def _find_record(self, path: str | None, data: bytes) -> FileRecord | None:
        """Return the file a copy came from: by path, or by id if the file moved or the path is unknown."""
        row = self._ledger.read(paths=[path]).at(path) if path else None
        sheet = try_parse(data) if row is None else None
        return self._ledger.read(ids=[sheet.id]).of(sheet.id) if sheet and sheet.id else row

    def _is_our_data(self, data: bytes, record: FileRecord | None, base: bytes | None) -> bool:
        """Return whether bytes are lamina's, or only the beginning of such: a save in progress, or a crash."""
        if record is not None and (data in (record.data, record.base) or sha256(data) in record.written_hashes):
            return True
        beginning = data.rstrip(b"\0")
        unsure = self._ledger.pending_files(unconfirmed=True)
        if not beginning.strip() or (unsure and b"\0" in data):
            return True
        candidates = [
            base,
            record.data if record else None,
            *(part for file in unsure for part in (file.data, file.base)),
        ]
        return any(full is not None and full.startswith(beginning) for full in candidates)

    def _commit_late_save(
        self, path: str, data: bytes, base: bytes | None, record: FileRecord | None, report: SyncReport
    ) -> None:
        """Commit a late save, or write it to a conflict file if it cannot be merged."""
        before, after = try_parse(base), try_parse(data)
        if record is not None and record.entry.atom_id and before is not None and after is not None:
            try:
                self._edits.commit_edit(before, after, self._edits.head(record), path)
                report.edited.append(path)
                return
            except Refused:
                pass
        conflict_path = self._disk.save_conflict(path, data)
        message = f"a save and a write happened at the same time; the saved text is in {conflict_path}"
        self._problems.report(FileProblem(path, "late-save", message, 1))
