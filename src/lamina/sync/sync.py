"""Synchronises a person's files with the journal, in both directions; neither side loses anything."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.atom.identity import AtomId, IdSource
from lamina.clock import Clock, disk_time_ns
from lamina.store.base import Store
from lamina.store.ledger import Pending
from lamina.sync.edit import Decide
from lamina.sync.hand import Hand
from lamina.sync.kept import KeptCopies
from lamina.sync.people import Marked, People
from lamina.sync.publish import is_ours, publish
from lamina.sync.report import Progress, SyncReport
from lamina.sync.sight import NEVER, Differences, Found, Sight
from lamina.vault import layout
from lamina.vault.files import Disk, Stamp, UnusableFile

LOCK_SECONDS = 60.0
ROUNDS = 50


class Sync:
    """Keeps vault and store in sync; safe in several processes at once."""

    def __init__(
        self, disk: Disk, store: Store, clock: Clock, ids: IdSource, marked: Marked, decide: Decide, *, review: bool
    ) -> None:
        self._disk, self._ledger = disk, store.ledger
        self._sight = Sight(disk, store.ledger)
        hand = Hand(store, decide, ids, clock, review=review)
        self._people = People(disk, store, hand, clock, ids, marked)
        self._kept = KeptCopies(disk, store, hand)

    def run(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Scan every file: finish what a crash interrupted, commit what people changed, write what is pending."""
        report, changes = SyncReport(), self._sight.look()
        if self._is_quiet(changes):
            return report
        with self._disk.lock("vault", LOCK_SECONDS):
            self._kept.look(report)
            is_recovered = self._recover()
            self._drain(report)
            changes = self._sight.look() if is_recovered else self._sight.left(changes)
            self._take(changes, report, accept_deletions=accept_deletions, progress=progress)
            self._drain(report)
        return report

    def look_at(self, paths: Iterable[str]) -> SyncReport:
        """Synchronise some files, because they were just saved or are about to be shown."""
        report = SyncReport()
        changed_paths = [path for path in dict.fromkeys(paths) if not layout.is_fed(path)]
        if any(path.endswith("/") for path in changed_paths):
            return self.run()
        changed_paths = [path for path in changed_paths if self._sight.differs(path)]
        if changed_paths:
            with self._disk.lock("vault", LOCK_SECONDS):
                self._drain(report)
                if all(self._sight.stamp(path) for path in changed_paths):
                    self._people.take_in(changed_paths, report)
                else:
                    # A missing file may have been moved: only a full scan can tell.
                    self._take(self._sight.look(), report)
                self._drain(report)
        return report

    def flush(self) -> SyncReport:
        """Write the files that the last commits changed."""
        report = SyncReport()
        with self._disk.lock("vault", LOCK_SECONDS):
            self._drain(report)
        return report

    def stale(self, ids: Iterable[AtomId]) -> list[str]:
        """Return the paths of these atoms' files that differ from the ledger."""
        return [path for path in self._ledger.paths_of(ids).values() if self._sight.differs(path)]

    def _is_quiet(self, found: Differences) -> bool:
        """Return whether there is nothing to do."""
        return not (found or self._ledger.pending(1) or self._ledger.unsure() or self._kept.due() or self._held_edits())

    def _held_edits(self) -> list[str]:
        """Return edits that broke a rule, and copies of known files: the obstacle may be gone now."""
        return [problem.path for problem in self._ledger.problems() if problem.kind in ("refused", "duplicate-id")]

    def _recover(self) -> bool:
        """After a reboot, write files again from the ledger that had not reached the disk.

        Returns whether there were any: then earlier scans are invalid.
        """
        unconfirmed = self._ledger.unsure()
        unknown_paths = self._sight.strays() if unconfirmed else []
        rewritten: list[tuple[str, Stamp, bytes]] = []
        swapped_out: list[bytes] = []
        for pending in unconfirmed:
            file = self._sight.read(pending.path)
            moved_path = (
                next((path for path in unknown_paths if pending.atom_id in path), None) if file is None else None
            )
            if moved_path is not None:
                file = self._moved_again(moved_path, pending)
            if file is None and moved_path is None:
                rewritten.append((pending.path, self._disk.create(pending.path, pending.data), pending.data))
            elif isinstance(file, UnusableFile):
                rewritten.append((pending.path, NEVER, pending.data))
            elif file is not None and file.data == pending.data:
                rewritten.append((pending.path, file.stamp, pending.data))
            elif file is not None and self._is_left_of(file.data, pending):
                swapped = self._disk.exchange(pending.path, pending.data)
                swapped_out.append(swapped.data)
                rewritten.append((pending.path, swapped.stamp, pending.data))
            elif file is not None and pending.base is None:
                rewritten.append((pending.path, NEVER, pending.data))
        if rewritten:
            self._ledger.wrote(rewritten, disk_time_ns(), swapped_out)
        return bool(unconfirmed)

    def _moved_again(self, path: str, file: Pending) -> Found | UnusableFile | None:
        """Repeat a move of ours that did not last; a file that a person put there stays."""
        moved_file = self._sight.read(path)
        if not isinstance(moved_file, Found) or not self._is_left_of(moved_file.data, file):
            return None
        self._disk.move(path, file.path)
        return self._sight.read(file.path)

    def _is_left_of(self, data: bytes, file: Pending) -> bool:
        """Return whether bytes are what a crash left of our file: an older version, a part, or one with holes."""
        versions = (file.data, file.base, *map(self._ledger.came_out, file.ours))
        is_torn = b"\0" in data or any(version is not None and version.startswith(data) for version in versions)
        return is_torn or is_ours(data, file)

    def _drain(self, report: SyncReport) -> None:
        """Write pending files until none is left, and process what people saved in between."""
        previous_missing: list[str] = []
        for _ in range(ROUNDS):
            result = publish(self._disk, self._ledger)
            report.written += len(result.written)
            for pending, swapped in result.human:
                self._people.take_swapped(pending, swapped, report)
            for pending in result.occupied:
                self._ledger.displaced(pending.path)
            missing = [file.path for file in result.missing]
            if result.occupied or (missing and missing != previous_missing):
                self._take(self._sight.look(), report)
            elif not result.human:
                self._people.tell_written(result.written, result.blocked)
                return
            previous_missing = missing

    def _take(
        self,
        found: Differences,
        report: SyncReport,
        *,
        accept_deletions: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Process new and changed files, edits that were held before, and missing files."""
        self._people.take_in([*found.fresh], report, progress)
        self._people.take_in(self._held_edits(), report)
        self._people.missing(found.gone, report, accept=accept_deletions)
