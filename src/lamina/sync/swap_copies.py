"""Copies that an exchange of files swapped out: unprocessed bytes in them are a person's.

An editor that still has the file open may write into the copy after the exchange, and a process may be stopped before
it has read one.
"""

from __future__ import annotations

from lamina.clock import disk_time_ns
from lamina.errors import Refused
from lamina.store.base import Store
from lamina.store.ledger import FileProblem, FileRecord
from lamina.sync.disk_diff import try_parse
from lamina.sync.edit_commit import EditCommitter
from lamina.sync.projection import sha256
from lamina.sync.report import SyncReport
from lamina.vault.disk import Disk, SwapCopy

GRACE_NS = 60 * 10**9
RETENTION_NS = 24 * 3600 * 10**9


class SwapCopies:
    """Processes the copies; its methods run under the vault's lock."""

    def __init__(self, disk: Disk, store: Store, edits: EditCommitter) -> None:
        self._disk, self._ledger, self._edits = disk, store.ledger, edits

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
        self._ledger.forget_swapped_out(now - RETENTION_NS)

    def _process_copy(self, copy: SwapCopy, data: bytes, report: SyncReport) -> None:
        """Commit the bytes of a copy if they are a person's, and mark them as processed."""
        path = self._disk.copy_path(copy.name)
        row = self._find_record(path, data)
        base = self._ledger.find_swapped_out(copy.sha256) or (row.base if row and row.is_pending else None)
        if not self._is_our_data(data, row, base):
            self._commit_late_save(row.entry.path if row else path or "unknown.md", data, base, row, report)
        self._ledger.mark_written((), disk_time_ns(), [data] if base is None else [base, data])

    def _find_record(self, path: str | None, data: bytes) -> FileRecord | None:
        """Return the file a copy came from: by path, or by id if the file moved or the path is unknown."""
        row = self._ledger.record(path) if path else None
        sheet = try_parse(data) if row is None else None
        return self._ledger.record_of(sheet.id) if sheet and sheet.id else row

    def _is_our_data(self, data: bytes, record: FileRecord | None, base: bytes | None) -> bool:
        """Return whether bytes are lamina's, or only the beginning of such: a save in progress, or a crash."""
        if record is not None and (data in (record.data, record.base) or sha256(data) in record.written_hashes):
            return True
        beginning = data.rstrip(b"\0")
        unsure = self._ledger.unconfirmed_files()
        if not beginning.strip() or (unsure and b"\0" in data):
            return True
        candidates = (
            base,
            record.data if record else None,
            *(part for file in unsure for part in (file.data, file.base)),
        )
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
        self._ledger.report_problem(
            FileProblem(
                path,
                "late-save",
                f"a save and a write happened at the same time; the saved text is in {conflict_path}",
                1,
            )
        )
