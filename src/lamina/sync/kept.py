"""Copies that came out of exchanges: bytes in them that nobody dealt with yet are a person's.

An editor that still had a file open may write into the copy after it came out, and a process may be stopped before it
looked at one.
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
    """Looks after them; what runs here runs under the vault's lock."""

    def __init__(self, disk: Disk, store: Store, hand: Hand) -> None:
        self._disk, self._ledger, self._hand = disk, store.ledger, hand

    def due(self) -> list[Kept]:
        """Those to be read: somebody may have written into them, nobody looked at them, or their time is up."""
        now = disk_time_ns()
        kept = self._disk.kept()
        known = self._ledger.known_to_have_come_out() if kept else frozenset()
        return [each for each in kept if each.stirred or each.sha256 not in known or now - each.at_ns > GRACE_NS]

    def look(self, report: SyncReport) -> None:
        """Take in what people wrote into them, and drop those whose time is up."""
        now = disk_time_ns()
        for kept in self.due():
            data = self._disk.kept_bytes(kept.name)
            if self._ledger.came_out(sha256(data)) is None:
                self._deal_with(kept, data, report)
            elif now - kept.at_ns > GRACE_NS:
                self._disk.drop_kept(kept.name)
        self._ledger.forget_came_out(now - REMEMBERED_NS)

    def _deal_with(self, kept: Kept, data: bytes, report: SyncReport) -> None:
        path = self._disk.kept_path(kept.name)
        row = self._owner(path, data)
        base = self._ledger.came_out(kept.sha256) or (row.base if row and row.pending else None)
        if not self._is_known(data, row, base):
            self._late_save(row.line.path if row else path or "unknown.md", data, base, row, report)
        self._ledger.wrote((), disk_time_ns(), [data] if base is None else [base, data])

    def _owner(self, path: str | None, data: bytes) -> FileRow | None:
        """The file a copy came out of: by its path, or by the id inside where it moved on or the path was lost."""
        row = self._ledger.row(path) if path else None
        sheet = sheet_of(data) if row is None else None
        return self._ledger.row_of(sheet.id) if sheet and sheet.id else row

    def _is_known(self, data: bytes, row: FileRow | None, base: bytes | None) -> bool:
        """Whether bytes are our own, or only the beginning of such: a save under way, or a crash."""
        if row is not None and (data in (row.data, row.base) or sha256(data) in row.ours):
            return True
        begun = data.rstrip(b"\0")
        unsure = self._ledger.unsure()
        if not begun.strip() or (unsure and b"\0" in data):
            return True
        whole = (base, row.data if row else None, *(part for file in unsure for part in (file.data, file.base)))
        return any(each is not None and each.startswith(begun) for each in whole)

    def _late_save(self, path: str, data: bytes, base: bytes | None, row: FileRow | None, report: SyncReport) -> None:
        before, after = sheet_of(base), sheet_of(data)
        if row is not None and row.line.atom_id and before is not None and after is not None:
            try:
                self._hand.take(before, after, self._hand.head(row), path)
                report.edited.append(path)
                return
            except Refused:
                pass
        kept = self._disk.save_conflict(path, data)
        self._ledger.report(Problem(path, "late-save", f"a save met a write of ours; it is kept in {kept}", 1))
