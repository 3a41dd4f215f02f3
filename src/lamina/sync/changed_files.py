"""Edits of files become commits by the actor `human`. A person's edit wins, and none is ever lost."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lamina.atom.atom import Atom, AtomId, IdSource, Signals
from lamina.atom.provenance import Scope
from lamina.atom.status import TRANSITIONS, Status, TransitionCause
from lamina.clock import Clock, disk_time_ns
from lamina.errors import Refused, StaleRevision
from lamina.store.admin import FileProblem
from lamina.store.base import AtomFilter, FileSnapshot, Store, TransactionMode
from lamina.store.projection import (
    BytesSwappedOut,
    FileChanges,
    FileDeleted,
    FileMoved,
    FileRead,
    FileRecord,
    FileState,
    FileUnchanged,
    PendingFile,
    Projection,
    WriteWithdrawn,
)
from lamina.sync.disk_diff import NO_STAMP, DiskDiff, ReadFile, try_parse
from lamina.sync.edit_commit import EditCommitter
from lamina.sync.held_deletions import HeldDeletions
from lamina.sync.new_files import NewFile, choose_by_id, find_obstacle, split_competing, to_atoms
from lamina.sync.projection import sha256
from lamina.sync.report import Progress, SyncReport
from lamina.vault import layout
from lamina.vault.atom_file import ParsedFile, parse_file
from lamina.vault.disk import Disk, SwapResult
from lamina.vault.file_access import Stamp, UnusableFile
from lamina.vault.yaml_codec import Unreadable

ADOPT_BATCH = 2000
MAX_TRIES = 50
_FIXED_BY_WRITING = ("blocked", "unreadable")


class FileEdits:
    """Processes edited, new, moved and deleted files. Every method runs under the vault's lock."""

    def __init__(
        self, disk: Disk, store: Store, edits: EditCommitter, clock: Clock, ids: IdSource, held: HeldDeletions
    ) -> None:
        self._disk, self._edits, self._clock, self._ids, self._held = disk, edits, clock, ids, held
        self._store, self._ledger, self._problems = store, store.projection, store.admin.problems
        self._diff = DiskDiff(disk, store.projection)
        self._displaced_paths: list[str] = []

    def process_files(self, paths: Sequence[str], report: SyncReport, progress: Progress | None = None) -> None:
        """Read new and changed files: commit edits one by one, and new files together at the end."""
        new_files: list[NewFile] = []
        unchanged: list[tuple[str, Stamp]] = []
        checked_ns = disk_time_ns()
        records = self._ledger.read(paths=paths).by_path
        for number, path in enumerate(paths):
            file, record = self._diff.read(path), records.get(path)
            if isinstance(file, UnusableFile):
                self._mark_unreadable(ReadFile(path, b"", NO_STAMP, checked_ns), record, file.reason, 1, report)
            elif file is not None and record and (record.entry.state, record.data) == (FileState.ATOM, file.data):
                unchanged.append((path, file.stamp))
            elif file is not None and (new_file := self._process_file(file, record, report)):
                new_files.append(new_file)
            if progress and number % 500 == 0:
                progress("reading files", number, len(paths))
        if unchanged:
            self._ledger.record([FileUnchanged(path, stamp) for path, stamp in unchanged], checked_ns)
        self._adopt_files(self._split_unknown(new_files, report), report, progress)

    def _process_file(self, file: ReadFile, record: FileRecord | None, report: SyncReport) -> NewFile | None:
        """Process one changed file; return it if it is new and should become an atom."""
        is_known = record is not None and record.entry.atom_id is not None
        if layout.is_conflict_copy(file.path) and not is_known:
            reason = "is a conflict copy of a sync tool; copy what you need into the original and delete it"
            self._ignore_file(file, "conflict-copy", reason)
            return None
        try:
            sheet = parse_file(file.data)
        except Unreadable as error:
            self._mark_unreadable(file, record, error.reason, error.line, report)
            return None
        if record is not None and is_known:
            if not self._is_replaced(record, sheet):
                self._commit_edit(file, record, sheet, report)
                return None
            self._displaced_paths.append(displace(self._ledger, file.path))
        if sheet.id is None and not layout.is_new_atom_path(file.path):
            self._record_read(file, b"", None, FileState.FOREIGN)
            self._problems.clear(file.path)
            return None
        return NewFile(file, sheet)

    def _is_replaced(self, record: FileRecord, sheet: ParsedFile) -> bool:
        """Return whether another file is at a known path: the id inside decides, not the name."""
        if sheet.id == record.entry.atom_id:
            return False
        if record.entry.state is FileState.GONE:
            return True
        owner = self._ledger.read(ids=[sheet.id]).of(sheet.id) if sheet.id else None
        return owner is not None and not self._is_in_place(owner)

    def _is_in_place(self, owner: FileRecord) -> bool:
        """Return whether an atom's file is at its known path; if another file is there, it was moved away."""
        file = self._diff.read(owner.entry.path) if owner.entry.state is not FileState.GONE else None
        sheet = try_parse(file.data) if isinstance(file, ReadFile) else None
        return file is not None and (sheet is None or sheet.id in (None, owner.entry.atom_id))

    def _split_unknown(self, new_files: Sequence[NewFile], report: SyncReport) -> list[NewFile]:
        """Return those with an unknown id; process the others, which were moved here or are copies."""
        ids = [candidate.sheet.id for candidate in new_files if candidate.sheet.id]
        known_ids = {record.entry.atom_id for record in self._ledger.read(ids=ids).records}
        unknown: list[NewFile] = []
        for candidate in new_files:
            atom_id = candidate.sheet.id
            owner = self._ledger.read(ids=[atom_id]).of(atom_id) if atom_id and atom_id in known_ids else None
            if owner is None:
                unknown.append(candidate)
            else:
                self._handle_second_path(candidate.file, owner, candidate.sheet, report)
        return unknown

    def _handle_second_path(self, file: ReadFile, owner: FileRecord, sheet: ParsedFile, report: SyncReport) -> None:
        """Process a file with a known id at another path: it was moved there, or is a copy."""
        atom, old_path = self._edits.head(owner), owner.entry.path
        if self._is_in_place(owner):
            reason = f"has the id of {old_path}, which is used; delete one of them or remove the id from this one"
            self._ignore_file(file, "duplicate-id", reason, sheet.lines.get("id", 1))
        elif layout.scope_of_path(file.path) != atom.scope:
            reason = f"belongs to {atom.scope} and is not used here; move it back to {old_path}"
            self._ignore_file(file, "wrong-scope", reason, atom_id=atom.id)
            report.held.append(file.path)
        else:
            self._ledger.record([FileMoved(old_path, file.path, file.stamp)], file.checked_ns)
            self._problems.clear(old_path)
            report.moved.append(file.path)
            record, is_restored = self._find_record(file.path), owner.entry.state is FileState.GONE
            if record is not None and (is_restored or file.data != record.data):
                # Changes made to the atom while it had no file are written into the restored one.
                self._commit_edit(file, record, sheet, report, is_restored=is_restored)

    def _commit_edit(
        self, file: ReadFile, record: FileRecord, sheet: ParsedFile, report: SyncReport, *, is_restored: bool = False
    ) -> None:
        """Commit a person's save of a known file on top of the current state."""
        if not str(sheet.fields["content"]).strip():
            # An editor may be saving just now: the last readable content stays the base for the next comparison.
            self._mark_unreadable(file, record, "the text is empty; the previous text is kept", 1, report)
            return
        before = try_parse(record.base if record.is_pending and record.base is not None else record.data) or sheet
        self._problems.clear(file.path)
        is_restored = is_restored or record.entry.state is FileState.GONE
        for _ in range(MAX_TRIES):
            head = self._edits.head(record)
            try:
                changed = self._edits.commit_edit(
                    before, sheet, head, file.path, file.to_snapshot(), is_restored=is_restored
                )
            except StaleRevision:
                continue
            except Refused as error:
                self._mark_unreadable(file, record, str(error), 1, report, "refused")
                return
            report.edited += [file.path] if changed else []
            return

    def commit_swapped(self, pending: PendingFile, swapped: SwapResult, report: SyncReport) -> None:
        """Merge what a person saved during our write; put it back if it cannot be read."""
        record = self._find_record(pending.path)
        sheet, before = try_parse(swapped.data), try_parse(pending.base or pending.data)
        if record is None:
            return
        snapshot = FileSnapshot(
            pending.path, swapped.data, swapped.stamp, disk_time_ns(), replaced_by_sha256=sha256(pending.data)
        )
        for _ in range(MAX_TRIES):
            if sheet is None or before is None or not str(sheet.fields["content"]).strip():
                break
            try:
                self._edits.commit_edit(before, sheet, self._edits.head(record), pending.path, snapshot)
            except StaleRevision:
                continue
            except Refused:
                break
            self._ledger.record([BytesSwappedOut(swapped.data)], disk_time_ns())
            report.edited.append(pending.path)
            return
        self._put_back(pending, swapped, report)

    def _put_back(self, pending: PendingFile, swapped: SwapResult, report: SyncReport) -> None:
        """Put a person's bytes back at their path, and process the file from there."""
        swapped_back = self._disk.restore_copy(swapped.copy_name, pending.path)
        if swapped_back.data != pending.data:
            conflict_path = self._disk.save_conflict(pending.path, swapped_back.data)
            message = f"two saves happened at the same time; one of them is in {conflict_path}"
            self._problems.report(FileProblem(pending.path, "late-save", message, 1, pending.atom_id))
        self._ledger.record([WriteWithdrawn(pending)], disk_time_ns())
        self.process_files([pending.path], report)

    def update_write_problems(self, written: Sequence[str], blocked: Sequence[tuple[PendingFile, str]]) -> None:
        """Clear the problems of files that were written, and report those that are blocked."""
        fixed = {problem.path for problem in self._problems.list() if problem.kind in _FIXED_BY_WRITING}
        for path in fixed.intersection(written):
            self._problems.clear(path, _FIXED_BY_WRITING)
        for pending, reason in blocked:
            message = f"cannot be written: {reason}"
            self._problems.report(FileProblem(pending.path, "blocked", message, 1, pending.atom_id))

    def process_missing(self, paths: Sequence[str], report: SyncReport, *, accept_deletions: bool) -> None:
        """Tombstone the atoms of deleted files, except those that are held because it may be a mistake."""
        paths, self._displaced_paths = [*paths, *self._displaced_paths], []
        records = [record for record in self._ledger.read(paths=paths).records if not _has_no_file(record)]
        atoms = [record.entry.path for record in records if record.entry.atom_id]
        others = [record.entry.path for record in records if not record.entry.atom_id]
        if others:
            self._ledger.record(map(FileDeleted, others), disk_time_ns())
        for path in others:
            self._problems.clear(path)
        if accept_deletions:
            self._held.accept()
            deleted = atoms
        else:
            deleted, held = self._held.split(atoms)
            report.held += held
        for path in deleted:
            self._commit_deletion(path, report)

    def _commit_deletion(self, path: str, report: SyncReport) -> None:
        """Commit the deletion of one file."""
        for _ in range(MAX_TRIES):
            record = self._find_record(path)
            if record is None:
                return
            head = self._edits.head(record)
            self._problems.clear(path)
            if Status.TOMBSTONED not in TRANSITIONS[head.status]:
                self._ledger.record([FileDeleted(path)], disk_time_ns())
                return
            try:
                self._edits.commit_deletion(head, path)
                report.deleted.append(path)
                return
            except StaleRevision:
                continue

    def _adopt_files(self, new_files: Sequence[NewFile], report: SyncReport, progress: Progress | None) -> None:
        """Create atoms from new files, in batches for each scope."""
        winners, losers = choose_by_id(new_files)
        for loser, winner in losers:
            reason = f"has the id of {winner.path}, which is used; delete one of them or remove the id from this one"
            self._ignore_file(loser.file, "duplicate-id", reason, loser.sheet.lines.get("id", 1))
        ready: list[NewFile] = []
        for candidate in winners:
            if obstacle := find_obstacle(candidate):
                self._mark_unreadable(candidate.file, None, obstacle, 1, report)
            else:
                ready.append(candidate)
        adopted = to_atoms(ready, self._ids, self._clock.now(), self._ledger.find_atom)
        prepared = ((new_file, self._edits.to_new_atom(atom)) for new_file, atom in adopted)
        atoms, compared = split_competing(sorted(prepared, key=lambda pair: pair[1].scope), self._has_rival)
        for scope, group in itertools.groupby(atoms, key=lambda pair: pair[1].scope):
            members = list(group)
            for start in range(0, len(members), ADOPT_BATCH):
                self._adopt_batch(scope, members[start : start + ADOPT_BATCH], report)
                if progress:
                    progress("adding new files", start, len(members))
        for member in compared:
            self._adopt_compared(member, report)

    def _has_rival(self, atom: Atom) -> bool:
        """Return whether an active statement of the same subject and kind is stored."""
        query = AtomFilter(
            scopes=(atom.scope,),
            subject=atom.subject,
            kinds=frozenset({atom.kind}),
            statuses=frozenset({Status.ACTIVE}),
            limit=1,
        )
        return bool(self._store.atoms.read(query))

    def _adopt_batch(self, scope: Scope, members: Sequence[tuple[NewFile, Atom]], report: SyncReport) -> None:
        """Commit new files together; if the commit is refused, split it to find the file that breaks a rule."""
        files = FileChanges({atom.id: new_file.file.to_snapshot() for new_file, atom in members})
        reason = f"found {members[0][0].path}" + (f" and {len(members) - 1} more" if len(members) > 1 else "")
        try:
            with self._counting(members):
                self._edits.commit("adopt", reason, [atom for _, atom in members], scope, TransitionCause.ADOPT, files)
        except Refused as error:
            if len(members) > 1:
                half = len(members) // 2
                self._adopt_batch(scope, members[:half], report)
                self._adopt_batch(scope, members[half:], report)
            else:
                self._adopt_compared(members[0], report, str(error))
            return
        for new_file, _ in members:
            self._finish_adoption(new_file, report)

    def _adopt_compared(self, member: tuple[NewFile, Atom], report: SyncReport, conflict: str = "") -> None:
        """Adopt a file whose statement competes with others: the newer one supersedes, or a person decides."""
        new_file, atom = member
        for _ in range(MAX_TRIES if atom.status is Status.ACTIVE else 0):
            try:
                with self._counting([member]):
                    self._edits.adopt_compared(atom, new_file.path, new_file.file.to_snapshot())
            except StaleRevision:
                continue
            except Refused as error:
                conflict = conflict or str(error)
                break
            self._finish_adoption(new_file, report)
            return
        self._adopt_challenged(member, conflict, report)

    @contextmanager
    def _counting(self, members: Sequence[tuple[NewFile, Atom]]) -> Iterator[None]:
        """Store the counters of new files in the transaction of what is committed inside, if edits are not reviewed."""
        counted = [(atom.id, file.sheet.signals) for file, atom in members if file.sheet.signals != Signals()]
        if not counted or self._edits.needs_review:
            yield
            return
        with self._store.transaction(TransactionMode.WRITE):
            yield
            for atom_id, signals in counted:
                self._store.signals.put(atom_id, signals)

    def _finish_adoption(self, new_file: NewFile, report: SyncReport) -> None:
        report.adopted.append(new_file.path)
        self._problems.clear(new_file.path)

    def _adopt_challenged(self, member: tuple[NewFile, Atom], reason: str, report: SyncReport) -> None:
        """Adopt a file that contradicts existing atoms as challenged: a person decides."""
        new_file, atom = member
        if atom.status is Status.CHALLENGED:
            self._mark_unreadable(new_file.file, None, reason, 1, report)
            return
        self._adopt_batch(atom.scope, [(new_file, atom.with_(status=Status.CHALLENGED))], report)
        message = f"added with the status challenged: {reason}"
        self._problems.report(FileProblem(new_file.path, "challenged", message, 1, atom.id))

    def _find_record(self, path: str) -> FileRecord | None:
        return self._ledger.read(paths=[path]).at(path)

    def _record_read(self, file: ReadFile, data: bytes, atom_id: AtomId | None, state: FileState) -> None:
        """Store that a file was read without a commit; `data`: what counts as its content."""
        self._ledger.record([FileRead(file.path, data, file.stamp, atom_id, state)], file.checked_ns)

    def _mark_unreadable(
        self,
        file: ReadFile,
        record: FileRecord | None,
        reason: str,
        line: int,
        report: SyncReport,
        kind: str = "unreadable",
    ) -> None:
        """Leave the file alone and report it; its last readable content still counts."""
        atom_id, data = (record.entry.atom_id, record.data) if record else (None, b"")
        state = FileState.GONE if record and record.entry.state is FileState.GONE else FileState.BAD
        self._record_read(file, data, atom_id, state)
        self._problems.report(FileProblem(file.path, kind, reason, line, atom_id))
        report.unreadable += [file.path] if file.path not in report.unreadable else []

    def _ignore_file(
        self, file: ReadFile, kind: str, reason: str, line: int = 1, atom_id: AtomId | None = None
    ) -> None:
        """Treat a file as no atom's, and report why."""
        self._record_read(file, b"", None, FileState.FOREIGN)
        self._problems.report(FileProblem(file.path, kind, reason, line, atom_id))


def displace(ledger: Projection, path: str) -> str:
    """Free the path of an atom's file, because another file is there; return the placeholder path."""
    record = ledger.read(paths=[path]).at(path)
    name = f"{path.removesuffix(layout.SUFFIX)}-{(record and record.entry.atom_id) or ''}"
    candidates = (f"{name}{n or ''}{layout.SUFFIX}" for n in itertools.count())
    placeholder = next(candidate for candidate in candidates if not ledger.read(paths=[candidate]).records)
    ledger.record([FileMoved(path, placeholder, None)], disk_time_ns())
    return placeholder


def _has_no_file(record: FileRecord) -> bool:
    """Return whether a file is already deleted or was never written to the disk."""
    return record.entry.state is FileState.GONE or (record.is_pending and record.base is None)
