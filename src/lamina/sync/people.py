"""What people did to files becomes commits by actor `human`. Theirs win; nothing of theirs is ever lost."""

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
"""Tells whether the vault's marker is there."""


class People:
    """Takes in edits, new, moved and deleted files. Every method runs under the vault's lock."""

    def __init__(self, disk: Disk, store: Store, hand: Hand, clock: Clock, ids: IdSource, marked: Marked) -> None:
        self._disk, self._hand, self._clock, self._ids, self._marked = disk, hand, clock, ids, marked
        self._ledger = store.ledger
        self._sight = Sight(disk, store.ledger)
        self._pushed_aside: list[str] = []

    def take_in(self, paths: Sequence[str], report: SyncReport, progress: Progress | None = None) -> None:
        """Read new and changed files: edits are committed one by one, new files together at the end."""
        newcomers: list[Newcomer] = []
        same: list[tuple[str, Stamp]] = []
        checked = disk_time_ns()
        known = self._ledger.rows(paths)
        for number, path in enumerate(paths):
            found, row = self._sight.read(path), known.get(path)
            if isinstance(found, UnusableFile):
                self._quarantine(Found(path, b"", NEVER, checked), row, found.reason, 1, report)
            elif found is not None and row is not None and row.line.state is FileState.ATOM and found.data == row.data:
                same.append((path, found.stamp))
            elif found is not None:
                newcomer = self._take_one(found, row, report)
                newcomers += [newcomer] if newcomer else []
            if progress and number % 500 == 0:
                progress("reading files", number, len(paths))
        if same:
            self._ledger.unchanged(same, checked)
        self._adopt(self._unknown(newcomers, report), report, progress)

    def _take_one(self, found: Found, row: FileRow | None, report: SyncReport) -> Newcomer | None:
        known = row is not None and row.line.atom_id is not None
        if layout.conflict_copy(found.path) and not known:
            self._set_aside(found, "conflict-copy", "a sync tool's conflict copy; merge what you want and delete it")
            return None
        try:
            sheet = read_sheet(found.data)
        except Unreadable as error:
            self._quarantine(found, row, error.reason, error.line, report)
            return None
        if row is not None and known:
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
        """Whether another file stands at a known place: the id inside says whose it is, not the name."""
        if sheet.id == row.line.atom_id:
            return False
        if row.line.state is FileState.GONE:
            return True
        owner = self._ledger.row_of(sheet.id) if sheet.id else None
        return owner is not None and not self._stands(owner)

    def _stands(self, owner: FileRow) -> bool:
        """Whether an atom's file is at the place we know; where somebody else's is now, it was moved away."""
        found = self._sight.read(owner.line.path) if owner.line.state is not FileState.GONE else None
        sheet = sheet_of(found.data) if isinstance(found, Found) else None
        return found is not None and (sheet is None or sheet.id in (None, owner.line.atom_id))

    def _unknown(self, newcomers: Sequence[Newcomer], report: SyncReport) -> list[Newcomer]:
        """Those whose id nobody has; the others were moved here or are copies."""
        owned = self._ledger.owned(newcomer.sheet.id for newcomer in newcomers if newcomer.sheet.id)
        unknown: list[Newcomer] = []
        for newcomer in newcomers:
            owner = self._ledger.row_of(newcomer.sheet.id) if newcomer.sheet.id in owned and newcomer.sheet.id else None
            if owner is None:
                unknown.append(newcomer)
            else:
                self._second_place(newcomer.found, owner, newcomer.sheet, report)
        return unknown

    def _second_place(self, found: Found, owner: FileRow, sheet: Sheet, report: SyncReport) -> None:
        """A file with a known id at another path was moved there, or is a copy."""
        atom, old = self._hand.head(owner), owner.line.path
        if self._stands(owner):
            reason = f"has the id of {old}, which counts; delete one of them or remove this one's id"
            self._set_aside(found, "duplicate-id", reason, sheet.lines.get("id", 1))
        elif layout.scope_of(found.path) != atom.scope:
            reason = f"belongs to {atom.scope} and is held; move it back to {old}"
            self._set_aside(found, "wrong-scope", reason, atom_id=atom.id)
            report.held.append(found.path)
        else:
            self._ledger.moved(old, found.path, found.stamp, found.checked_ns)
            self._ledger.clear(old)
            report.moved.append(found.path)
            row, came_back = self._ledger.row(found.path), owner.line.state is FileState.GONE
            if row is not None and (came_back or found.data != row.data):
                # What happened to the atom while it had no file is written into the one that came back.
                self._edited(found, row, sheet, report, came_back=came_back)

    def _edited(self, found: Found, row: FileRow, sheet: Sheet, report: SyncReport, *, came_back: bool = False) -> None:
        """A person's save of a known file becomes a commit on top of the current state."""
        if not str(sheet.fields["content"]).strip():
            # An editor may be in the middle of its save: what the file last said stays the base of the next look.
            self._quarantine(found, row, "the text is empty; the words before are kept", 1, report)
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
        """A person saved while we wrote, and their bytes came out: merged, or put back where nobody can read them."""
        row = self._ledger.row(pending.path)
        sheet, before = sheet_of(swapped.data), sheet_of(pending.base or pending.data)
        if row is None:
            return
        seen = Seen(pending.path, swapped.data, swapped.stamp, disk_time_ns(), swapped_for=sha256(pending.data))
        for _ in range(TRIES):
            if sheet is None or before is None or not str(sheet.fields["content"]).strip():
                break
            try:
                self._hand.take(before, sheet, self._hand.head(row), pending.path, seen)
            except StaleRevision:
                continue
            except Refused:
                break
            self._ledger.wrote((), disk_time_ns(), [swapped.data])
            report.edited.append(pending.path)
            return
        self._put_back(pending, swapped, report)

    def _put_back(self, pending: Pending, swapped: Swapped, report: SyncReport) -> None:
        out = self._disk.put_back(swapped.kept, pending.path)
        if out.data != pending.data:
            kept = self._disk.save_conflict(pending.path, out.data)
            self._ledger.report(
                Problem(pending.path, "late-save", f"two saves met; one is kept in {kept}", 1, pending.atom_id)
            )
        self._ledger.withdrawn(pending)
        self.take_in([pending.path], report)

    def tell_written(self, written: Sequence[str], blocked: Sequence[tuple[Pending, str]]) -> None:
        """What stands in the way of a file is a person's to remove; a file that could be written is mended."""
        for path in {problem.path for problem in self._ledger.problems() if problem.kind in _MENDED_BY_WRITING} & {
            *written
        }:
            self._ledger.clear(path, _MENDED_BY_WRITING)
        for pending, reason in blocked:
            self._ledger.report(Problem(pending.path, "blocked", f"cannot be written: {reason}", 1, pending.atom_id))

    def missing(self, paths: Sequence[str], report: SyncReport, *, accept: bool) -> None:
        """Files that are gone: their atoms are tombstoned, unless so many vanished at once that it may be a mishap."""
        paths, self._pushed_aside = [*paths, *self._pushed_aside], []
        rows = [row for path in paths if (row := self._ledger.row(path)) and not _never_written(row)]
        atoms = [row.line.path for row in rows if row.line.atom_id]
        for row in rows:
            if not row.line.atom_id:
                self._ledger.forget_file(row.line.path)
                self._ledger.clear(row.line.path)
        why = self._mishap(len(atoms))
        if why and not accept:
            report.held += atoms
            advice = "nothing is forgotten. Bring the files back, or say `lamina sync --accept-deletions`"
            self._ledger.report(Problem(".", "held-deletions", f"{why}; {advice}"))
            return
        self._ledger.clear(".", ["held-deletions"])
        for path in atoms:
            self._tombstone(path, report)

    def _mishap(self, gone: int) -> str | None:
        if not gone:
            return None
        known = max(1, self._ledger.summary()["files"])
        if not self._marked():
            return "the vault's marker .lamina/vault.toml is missing"
        if self._hand.review:
            return f"{gone} of {known} files are gone, and what is done to files waits for review here"
        if gone > MASS_COUNT and gone > MASS_SHARE * known:
            return f"{gone} of {known} files are gone at once"
        return None

    def _tombstone(self, path: str, report: SyncReport) -> None:
        for _ in range(TRIES):
            row = self._ledger.row(path)
            if row is None:
                return
            head = self._hand.head(row)
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
        winners, losers = elect(newcomers)
        for loser, winner in losers:
            reason = f"has the id of {winner.path}, which counts; delete one of them or remove this one's id"
            self._set_aside(loser.found, "duplicate-id", reason, loser.sheet.lines.get("id", 1))
        ready: list[Newcomer] = []
        for each in winners:
            reason = obstacle(each) or ""
            if reason:
                self._quarantine(each.found, None, reason, 1, report)
            else:
                ready.append(each)
        made = to_atoms(ready, self._ids, self._clock.now(), self._ledger.atom_named)
        atoms = sorted(((each, self._hand.as_found(atom)) for each, atom in made), key=lambda pair: pair[1].scope)
        for scope, group in itertools.groupby(atoms, key=lambda pair: pair[1].scope):
            members = list(group)
            for start in range(0, len(members), ADOPT_AT_ONCE):
                self._adopt_together(scope, members[start : start + ADOPT_AT_ONCE], report)
                if progress:
                    progress("taking in new files", start, len(members))

    def _adopt_together(self, scope: Scope, members: Sequence[tuple[Newcomer, Atom]], report: SyncReport) -> None:
        changes = [Change(atom, each.found.seen()) for each, atom in members]
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
        for each, atom in members:
            report.adopted.append(each.path)
            self._ledger.clear(each.path)
            if each.sheet.signals != Signals():
                self._ledger.set_signals(atom.id, each.sheet.signals)

    def _adopt_doubted(self, member: tuple[Newcomer, Atom], reason: str, report: SyncReport) -> None:
        """A file that contradicts what stands is taken in as challenged: a person decides."""
        each, atom = member
        if atom.status is Status.CHALLENGED:
            self._quarantine(each.found, None, reason, 1, report)
            return
        self._adopt_together(atom.scope, [(each, atom.with_(status=Status.CHALLENGED))], report)
        self._ledger.report(Problem(each.path, "challenged", f"taken in as challenged: {reason}", 1, atom.id))

    def _quarantine(
        self, found: Found, row: FileRow | None, reason: str, line: int, report: SyncReport, kind: str = "unreadable"
    ) -> None:
        """Leave the file alone; what it last said when it could be read still counts."""
        atom_id, data = (row.line.atom_id, row.data) if row else (None, b"")
        state = FileState.GONE if row and row.line.state is FileState.GONE else FileState.BAD
        self._ledger.saw(found.path, data, found.stamp, found.checked_ns, atom_id, state)
        self._ledger.report(Problem(found.path, kind, reason, line, atom_id))
        report.unreadable += [found.path] if found.path not in report.unreadable else []

    def _set_aside(self, found: Found, kind: str, reason: str, line: int = 1, atom_id: AtomId | None = None) -> None:
        self._ledger.saw(found.path, b"", found.stamp, found.checked_ns, None, FileState.FOREIGN)
        self._ledger.report(Problem(found.path, kind, reason, line, atom_id))


def _never_written(row: FileRow) -> bool:
    return row.line.state is FileState.GONE or (row.pending and row.base is None)
