"""Copies that an exchange of files swapped out: unprocessed bytes in them are a person's.

An editor that still has the file open may write into the copy after the exchange, and a process may be stopped before
it has read one.
"""

from __future__ import annotations

from lamina.clock import disk_time_ns
from lamina.errors import Refused
from lamina.store.base import Store
from lamina.store.ledger import FileRow, Problem
from lamina.sync.hand import Hand
from lamina.sync.publish import sha256
from lamina.sync.report import SyncReport
from lamina.sync.sight import sheet_of
from lamina.vault.files import Disk, Kept

GRACE_NS = 60 * 10**9
REMEMBERED_NS = 24 * 3600 * 10**9


class KeptCopies:
    """Processes the copies; its methods run under the vault's lock."""

    def __init__(self, disk: Disk, store: Store, hand: Hand) -> None:
        self._disk, self._ledger, self._hand = disk, store.ledger, hand

    def due(self) -> list[Kept]:
        """Return the copies to read: possibly written to, not processed yet, or past their grace period."""
        now = disk_time_ns()
        copies = self._disk.kept()
        processed = self._ledger.known_to_have_come_out() if copies else frozenset()
        return [copy for copy in copies if copy.stirred or copy.sha256 not in processed or now - copy.at_ns > GRACE_NS]

    def look(self, report: SyncReport) -> None:
        """Commit what people wrote into the copies, and delete those past their grace period."""
        now = disk_time_ns()
        for copy in self.due():
            data = self._disk.kept_bytes(copy.name)
            if self._ledger.came_out(sha256(data)) is None:
                self._deal_with(copy, data, report)
            elif now - copy.at_ns > GRACE_NS:
                self._disk.drop_kept(copy.name)
        self._ledger.forget_came_out(now - REMEMBERED_NS)

    def _deal_with(self, kept: Kept, data: bytes, report: SyncReport) -> None:
        """Commit the bytes of a copy if they are a person's, and mark them as processed."""
        path = self._disk.kept_path(kept.name)
        row = self._owner(path, data)
        base = self._ledger.came_out(kept.sha256) or (row.base if row and row.pending else None)
        if not self._is_known(data, row, base):
            self._late_save(row.line.path if row else path or "unknown.md", data, base, row, report)
        self._ledger.wrote((), disk_time_ns(), [data] if base is None else [base, data])

    def _owner(self, path: str | None, data: bytes) -> FileRow | None:
        """Return the file a copy came from: by path, or by id if the file moved or the path is unknown."""
        row = self._ledger.row(path) if path else None
        sheet = sheet_of(data) if row is None else None
        return self._ledger.row_of(sheet.id) if sheet and sheet.id else row

    def _is_known(self, data: bytes, row: FileRow | None, base: bytes | None) -> bool:
        """Return whether bytes are lamina's, or only the beginning of such: a save in progress, or a crash."""
        if row is not None and (data in (row.data, row.base) or sha256(data) in row.ours):
            return True
        beginning = data.rstrip(b"\0")
        unsure = self._ledger.unsure()
        if not beginning.strip() or (unsure and b"\0" in data):
            return True
        candidates = (base, row.data if row else None, *(part for file in unsure for part in (file.data, file.base)))
        return any(full is not None and full.startswith(beginning) for full in candidates)

    def _late_save(self, path: str, data: bytes, base: bytes | None, row: FileRow | None, report: SyncReport) -> None:
        """Commit a late save, or write it to a conflict file if it cannot be merged."""
        before, after = sheet_of(base), sheet_of(data)
        if row is not None and row.line.atom_id and before is not None and after is not None:
            try:
                self._hand.take(before, after, self._hand.head(row), path)
                report.edited.append(path)
                return
            except Refused:
                pass
        conflict_path = self._disk.save_conflict(path, data)
        self._ledger.report(
            Problem(
                path,
                "late-save",
                f"a save and a write happened at the same time; the saved text is in {conflict_path}",
                1,
            )
        )
