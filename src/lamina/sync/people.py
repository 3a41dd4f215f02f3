"""Edits of files become commits by the actor `human`. A person's edit wins, and none is ever lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.scope import Scope
from lamina.atom.status import ARROWS, Status, Way
from lamina.clock import Clock, disk_time_ns
from lamina.errors import Refused, StaleRevision
from lamina.store.base import Change, Seen, Store
from lamina.store.ledger import FileRow, FileState, Pending, Problem
from lamina.sync.adopt import Newcomer, elect, obstacle, to_atoms
from lamina.sync.hand import Hand
from lamina.sync.publish import sha256
from lamina.sync.report import Progress, SyncReport
from lamina.sync.sight import NEVER, Found, Sight, sheet_of
from lamina.vault import layout
from lamina.vault.codec import Sheet, read_sheet
from lamina.vault.files import Disk, Stamp, Swapped, UnusableFile
from lamina.vault.frontmatter import Unreadable

MASS_COUNT, MASS_SHARE = 20, 0.05
ADOPT_AT_ONCE = 2000
TRIES = 50
_MENDED_BY_WRITING = ("blocked", "unreadable")

Marked = Callable[[], bool]
"""Returns whether the vault's marker file exists."""


class People:
    """Processes edited, new, moved and deleted files. Every method runs under the vault's lock."""

    def __init__(self, disk: Disk, store: Store, hand: Hand, clock: Clock, ids: IdSource, marked: Marked) -> None:
        self._disk, self._hand, self._clock, self._ids, self._marked = disk, hand, clock, ids, marked
        self._ledger = store.ledger
        self._sight = Sight(disk, store.ledger)
        self._pushed_aside: list[str] = []

    def take_in(self, paths: Sequence[str], report: SyncReport, progress: Progress | None = None) -> None:
        """Read new and changed files: commit edits one by one, and new files together at the end."""
        new_files: list[Newcomer] = []
        unchanged: list[tuple[str, Stamp]] = []
        checked_ns = disk_time_ns()
        records = self._ledger.rows(paths)
        for number, path in enumerate(paths):
            file, record = self._sight.read(path), records.get(path)
            if isinstance(file, UnusableFile):
                self._quarantine(Found(path, b"", NEVER, checked_ns), record, file.reason, 1, report)
            elif (
                file is not None
                and record is not None
                and record.line.state is FileState.ATOM
                and file.data == record.data
            ):
                unchanged.append((path, file.stamp))
            elif file is not None:
                new_file = self._take_one(file, record, report)
                new_files += [new_file] if new_file else []
            if progress and number % 500 == 0:
                progress("reading files", number, len(paths))
        if unchanged:
            self._ledger.unchanged(unchanged, checked_ns)
        self._adopt(self._unknown(new_files, report), report, progress)

    def _take_one(self, found: Found, row: FileRow | None, report: SyncReport) -> Newcomer | None:
        """Process one changed file; return it if it is new and should become an atom."""
        is_known = row is not None and row.line.atom_id is not None
        if layout.conflict_copy(found.path) and not is_known:
            self._set_aside(
                found,
                "conflict-copy",
                "is a conflict copy of a sync tool; copy what you need into the original and delete it",
            )
            return None
        try:
            sheet = read_sheet(found.data)
        except Unreadable as error:
            self._quarantine(found, row, error.reason, error.line, report)
            return None
        if row is not None and is_known:
            if not self._taken_over(row, sheet):
                self._edited(found, row, sheet, report)
                return None
            self._pushed_aside.append(self._ledger.displaced(found.path))
        if sheet.id is None and not layout.is_home(found.path):
            self._ledger.saw(found.path, b"", found.stamp, found.checked_ns, None, FileState.FOREIGN)
            self._ledger.clear(found.path)
            return None
        return Newcomer(found, sheet)

    def _taken_over(self, row: FileRow, sheet: Sheet) -> bool:
        """Return whether another file is at a known path: the id inside decides, not the name."""
        if sheet.id == row.line.atom_id:
            return False
        if row.line.state is FileState.GONE:
            return True
        owner = self._ledger.row_of(sheet.id) if sheet.id else None
        return owner is not None and not self._stands(owner)

    def _stands(self, owner: FileRow) -> bool:
        """Return whether an atom's file is at its known path; if another file is there, it was moved away."""
        file = self._sight.read(owner.line.path) if owner.line.state is not FileState.GONE else None
        sheet = sheet_of(file.data) if isinstance(file, Found) else None
        return file is not None and (sheet is None or sheet.id in (None, owner.line.atom_id))

    def _unknown(self, newcomers: Sequence[Newcomer], report: SyncReport) -> list[Newcomer]:
        """Return those with an unknown id; process the others, which were moved here or are copies."""
        known_ids = self._ledger.owned(candidate.sheet.id for candidate in newcomers if candidate.sheet.id)
        unknown: list[Newcomer] = []
        for candidate in newcomers:
            owner = (
                self._ledger.row_of(candidate.sheet.id)
                if candidate.sheet.id in known_ids and candidate.sheet.id
                else None
            )
            if owner is None:
                unknown.append(candidate)
            else:
                self._second_place(candidate.found, owner, candidate.sheet, report)
        return unknown

    def _second_place(self, found: Found, owner: FileRow, sheet: Sheet, report: SyncReport) -> None:
        """Process a file with a known id at another path: it was moved there, or is a copy."""
        atom, old_path = self._hand.head(owner), owner.line.path
        if self._stands(owner):
            reason = f"has the id of {old_path}, which is used; delete one of them or remove the id from this one"
            self._set_aside(found, "duplicate-id", reason, sheet.lines.get("id", 1))
        elif layout.scope_of(found.path) != atom.scope:
            reason = f"belongs to {atom.scope} and is not used here; move it back to {old_path}"
            self._set_aside(found, "wrong-scope", reason, atom_id=atom.id)
            report.held.append(found.path)
        else:
            self._ledger.moved(old_path, found.path, found.stamp, found.checked_ns)
            self._ledger.clear(old_path)
            report.moved.append(found.path)
            record, is_restored = self._ledger.row(found.path), owner.line.state is FileState.GONE
            if record is not None and (is_restored or found.data != record.data):
                # Changes made to the atom while it had no file are written into the restored one.
                self._edited(found, record, sheet, report, came_back=is_restored)

    def _edited(self, found: Found, row: FileRow, sheet: Sheet, report: SyncReport, *, came_back: bool = False) -> None:
        """Commit a person's save of a known file on top of the current state."""
        if not str(sheet.fields["content"]).strip():
            # An editor may be saving just now: the last readable content stays the base for the next comparison.
            self._quarantine(found, row, "the text is empty; the previous text is kept", 1, report)
            return
        before = sheet_of(row.base if row.pending and row.base is not None else row.data) or sheet
        self._ledger.clear(found.path)
        came_back = came_back or row.line.state is FileState.GONE
        for _ in range(TRIES):
            head = self._hand.head(row)
            try:
                changed = self._hand.take(before, sheet, head, found.path, found.seen(), came_back=came_back)
            except StaleRevision:
                continue
            except Refused as error:
                self._quarantine(found, row, str(error), 1, report, "refused")
                return
            report.edited += [found.path] if changed else []
            return

    def take_swapped(self, pending: Pending, swapped: Swapped, report: SyncReport) -> None:
        """Merge what a person saved during our write; put it back if it cannot be read."""
        record = self._ledger.row(pending.path)
        sheet, before = sheet_of(swapped.data), sheet_of(pending.base or pending.data)
        if record is None:
            return
        snapshot = Seen(pending.path, swapped.data, swapped.stamp, disk_time_ns(), swapped_for=sha256(pending.data))
        for _ in range(TRIES):
            if sheet is None or before is None or not str(sheet.fields["content"]).strip():
                break
            try:
                self._hand.take(before, sheet, self._hand.head(record), pending.path, snapshot)
            except StaleRevision:
                continue
            except Refused:
                break
            self._ledger.wrote((), disk_time_ns(), [swapped.data])
            report.edited.append(pending.path)
            return
        self._put_back(pending, swapped, report)

    def _put_back(self, pending: Pending, swapped: Swapped, report: SyncReport) -> None:
        """Put a person's bytes back at their path, and process the file from there."""
        swapped_back = self._disk.put_back(swapped.kept, pending.path)
        if swapped_back.data != pending.data:
            conflict_path = self._disk.save_conflict(pending.path, swapped_back.data)
            self._ledger.report(
                Problem(
                    pending.path,
                    "late-save",
                    f"two saves happened at the same time; one of them is in {conflict_path}",
                    1,
                    pending.atom_id,
                )
            )
        self._ledger.withdrawn(pending)
        self.take_in([pending.path], report)

    def tell_written(self, written: Sequence[str], blocked: Sequence[tuple[Pending, str]]) -> None:
        """Clear the problems of files that were written, and report those that are blocked."""
        for path in {problem.path for problem in self._ledger.problems() if problem.kind in _MENDED_BY_WRITING} & {
            *written
        }:
            self._ledger.clear(path, _MENDED_BY_WRITING)
        for pending, reason in blocked:
            self._ledger.report(Problem(pending.path, "blocked", f"cannot be written: {reason}", 1, pending.atom_id))

    def missing(self, paths: Sequence[str], report: SyncReport, *, accept: bool) -> None:
        """Tombstone the atoms of deleted files, unless so many vanished at once that it may be a mistake."""
        paths, self._pushed_aside = [*paths, *self._pushed_aside], []
        records = [record for path in paths if (record := self._ledger.row(path)) and not _never_written(record)]
        atoms = [record.line.path for record in records if record.line.atom_id]
        for record in records:
            if not record.line.atom_id:
                self._ledger.forget_file(record.line.path)
                self._ledger.clear(record.line.path)
        reason = self._mishap(len(atoms))
        if reason and not accept:
            report.held += atoms
            advice = "nothing was forgotten. Restore the files, or run `lamina sync --accept-deletions`"
            self._ledger.report(Problem(".", "held-deletions", f"{reason}; {advice}"))
            return
        self._ledger.clear(".", ["held-deletions"])
        for path in atoms:
            self._tombstone(path, report)

    def _mishap(self, gone: int) -> str | None:
        """Return why so many deletions may be a mistake; None if they are plausible."""
        if not gone:
            return None
        file_count = max(1, self._ledger.summary()["files"])
        if not self._marked():
            return "the vault's marker .lamina/vault.toml is missing"
        if self._hand.review:
            return f"{gone} of {file_count} files are missing, and changes of files need review"
        if gone > MASS_COUNT and gone > MASS_SHARE * file_count:
            return f"{gone} of {file_count} files are missing at once"
        return None

    def _tombstone(self, path: str, report: SyncReport) -> None:
        """Commit the deletion of one file."""
        for _ in range(TRIES):
            record = self._ledger.row(path)
            if record is None:
                return
            head = self._hand.head(record)
            self._ledger.clear(path)
            if Status.TOMBSTONED not in ARROWS[head.status]:
                self._ledger.gone(path)
                return
            try:
                self._hand.delete(head, path)
                report.deleted.append(path)
                return
            except StaleRevision:
                continue

    def _adopt(self, newcomers: Sequence[Newcomer], report: SyncReport, progress: Progress | None) -> None:
        """Create atoms from new files, in batches for each scope."""
        winners, losers = elect(newcomers)
        for loser, winner in losers:
            reason = f"has the id of {winner.path}, which is used; delete one of them or remove the id from this one"
            self._set_aside(loser.found, "duplicate-id", reason, loser.sheet.lines.get("id", 1))
        ready: list[Newcomer] = []
        for candidate in winners:
            reason = obstacle(candidate) or ""
            if reason:
                self._quarantine(candidate.found, None, reason, 1, report)
            else:
                ready.append(candidate)
        adopted = to_atoms(ready, self._ids, self._clock.now(), self._ledger.atom_named)
        atoms = sorted(
            ((new_file, self._hand.as_found(atom)) for new_file, atom in adopted), key=lambda pair: pair[1].scope
        )
        for scope, group in itertools.groupby(atoms, key=lambda pair: pair[1].scope):
            members = list(group)
            for start in range(0, len(members), ADOPT_AT_ONCE):
                self._adopt_together(scope, members[start : start + ADOPT_AT_ONCE], report)
                if progress:
                    progress("adding new files", start, len(members))

    def _adopt_together(self, scope: Scope, members: Sequence[tuple[Newcomer, Atom]], report: SyncReport) -> None:
        """Commit new files together; if the commit is refused, split it to find the file that breaks a rule."""
        changes = [Change(atom, new_file.found.seen()) for new_file, atom in members]
        reason = f"found {members[0][0].path}" + (f" and {len(members) - 1} more" if len(members) > 1 else "")
        try:
            self._hand.commit("adopt", reason, changes, scope, Way.ADOPT)
        except Refused as error:
            if len(members) > 1:
                half = len(members) // 2
                self._adopt_together(scope, members[:half], report)
                self._adopt_together(scope, members[half:], report)
            else:
                self._adopt_doubted(members[0], str(error), report)
            return
        for new_file, atom in members:
            report.adopted.append(new_file.path)
            self._ledger.clear(new_file.path)
            if new_file.sheet.signals != Signals():
                self._ledger.set_signals(atom.id, new_file.sheet.signals)

    def _adopt_doubted(self, member: tuple[Newcomer, Atom], reason: str, report: SyncReport) -> None:
        """Adopt a file that contradicts existing atoms as challenged: a person decides."""
        new_file, atom = member
        if atom.status is Status.CHALLENGED:
            self._quarantine(new_file.found, None, reason, 1, report)
            return
        self._adopt_together(atom.scope, [(new_file, atom.with_(status=Status.CHALLENGED))], report)
        self._ledger.report(
            Problem(new_file.path, "challenged", f"added with the status challenged: {reason}", 1, atom.id)
        )

    def _quarantine(
        self, found: Found, row: FileRow | None, reason: str, line: int, report: SyncReport, kind: str = "unreadable"
    ) -> None:
        """Leave the file alone and report it; what it said when it was last readable still counts."""
        atom_id, data = (row.line.atom_id, row.data) if row else (None, b"")
        state = FileState.GONE if row and row.line.state is FileState.GONE else FileState.BAD
        self._ledger.saw(found.path, data, found.stamp, found.checked_ns, atom_id, state)
        self._ledger.report(Problem(found.path, kind, reason, line, atom_id))
        report.unreadable += [found.path] if found.path not in report.unreadable else []

    def _set_aside(self, found: Found, kind: str, reason: str, line: int = 1, atom_id: AtomId | None = None) -> None:
        """Treat a file as no atom's, and report why."""
        self._ledger.saw(found.path, b"", found.stamp, found.checked_ns, None, FileState.FOREIGN)
        self._ledger.report(Problem(found.path, kind, reason, line, atom_id))


def _never_written(row: FileRow) -> bool:
    """Return whether a file is already deleted or was never written to the disk."""
    return row.line.state is FileState.GONE or (row.pending and row.base is None)
