"""The story of the two views: a person's files and the journal are brought together, and neither loses anything."""

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
    """Keeps vault and store together; safe in many processes at once."""

    def __init__(
        self, disk: Disk, store: Store, clock: Clock, ids: IdSource, marked: Marked, decide: Decide, *, review: bool
    ) -> None:
        self._disk, self._ledger = disk, store.ledger
        self._sight = Sight(disk, store.ledger)
        hand = Hand(store, decide, ids, clock, review=review)
        self._people = People(disk, store, hand, clock, ids, marked)
        self._kept = KeptCopies(disk, store, hand)

    def run(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Look at every file: finish what a crash left, take in what people did, write out what is pending."""
        report, found = SyncReport(), self._sight.look()
        if self._is_quiet(found):
            return report
        with self._disk.lock("vault", LOCK_SECONDS):
            self._kept.look(report)
            recovered = self._recover()
            self._drain(report)
            found = self._sight.look() if recovered else self._sight.left(found)
            self._take(found, report, accept_deletions=accept_deletions, progress=progress)
            self._drain(report)
        return report

    def look_at(self, paths: Iterable[str]) -> SyncReport:
        """Look at some files, because they were just saved or are about to be shown."""
        report = SyncReport()
        wanted = [path for path in dict.fromkeys(paths) if not layout.is_fed(path)]
        if any(path.endswith("/") for path in wanted):
            return self.run()
        wanted = [path for path in wanted if self._sight.differs(path)]
        if wanted:
            with self._disk.lock("vault", LOCK_SECONDS):
                self._drain(report)
                if all(self._sight.stamp(path) for path in wanted):
                    self._people.take_in(wanted, report)
                else:
                    # A file that is gone may have been moved: only a look around can tell.
                    self._take(self._sight.look(), report)
                self._drain(report)
        return report

    def flush(self) -> SyncReport:
        """Write out what the last commits changed."""
        report = SyncReport()
        with self._disk.lock("vault", LOCK_SECONDS):
            self._drain(report)
        return report

    def stale(self, ids: Iterable[AtomId]) -> list[str]:
        """The files of these atoms that are not as the ledger knows them."""
        return [path for path in self._ledger.paths_of(ids).values() if self._sight.differs(path)]

    def _is_quiet(self, found: Differences) -> bool:
        return not (found or self._ledger.pending(1) or self._ledger.unsure() or self._kept.due() or self._held_edits())

    def _held_edits(self) -> list[str]:
        """Edits that broke a rule, and copies of a known file: what stood in their way may be gone."""
        return [problem.path for problem in self._ledger.problems() if problem.kind in ("refused", "duplicate-id")]

    def _recover(self) -> bool:
        """After the machine went down: files that had not reached the disk are written again from the ledger.

        Returns whether any had not: then nothing that was seen before counts.
        """
        unsure = self._ledger.unsure()
        strays = self._sight.strays() if unsure else []
        rewritten: list[tuple[str, Stamp, bytes]] = []
        came_out: list[bytes] = []
        for pending in unsure:
            found = self._sight.read(pending.path)
            moved = next((path for path in strays if pending.atom_id in path), None) if found is None else None
            if moved is not None:
                found = self._moved_again(moved, pending)
            if found is None and moved is None:
                rewritten.append((pending.path, self._disk.create(pending.path, pending.data), pending.data))
            elif isinstance(found, UnusableFile):
                rewritten.append((pending.path, NEVER, pending.data))
            elif found is not None and found.data == pending.data:
                rewritten.append((pending.path, found.stamp, pending.data))
            elif found is not None and self._is_left_of(found.data, pending):
                swapped = self._disk.exchange(pending.path, pending.data)
                came_out.append(swapped.data)
                rewritten.append((pending.path, swapped.stamp, pending.data))
            elif found is not None and pending.base is None:
                rewritten.append((pending.path, NEVER, pending.data))
        if rewritten:
            self._ledger.wrote(rewritten, disk_time_ns(), came_out)
        return bool(unsure)

    def _moved_again(self, path: str, file: Pending) -> Found | UnusableFile | None:
        """A move of ours that did not last is made again; a file that a person put there stays."""
        found = self._sight.read(path)
        if not isinstance(found, Found) or not self._is_left_of(found.data, file):
            return None
        self._disk.move(path, file.path)
        return self._sight.read(file.path)

    def _is_left_of(self, data: bytes, file: Pending) -> bool:
        """Whether these bytes are what a crash left of a file of ours: an older one, a beginning, or one with holes."""
        whole = (file.data, file.base, *map(self._ledger.came_out, file.ours))
        torn = b"\0" in data or any(each is not None and each.startswith(data) for each in whole)
        return torn or is_ours(data, file)

    def _drain(self, report: SyncReport) -> None:
        held: list[str] = []
        for _ in range(ROUNDS):
            done = publish(self._disk, self._ledger)
            report.written += len(done.written)
            for pending, swapped in done.human:
                self._people.take_swapped(pending, swapped, report)
            for pending in done.occupied:
                self._ledger.displaced(pending.path)
            missing = [each.path for each in done.missing]
            if done.occupied or (missing and missing != held):
                self._take(self._sight.look(), report)
            elif not done.human:
                self._people.tell_written(done.written, done.blocked)
                return
            held = missing

    def _take(
        self,
        found: Differences,
        report: SyncReport,
        *,
        accept_deletions: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._people.take_in([*found.fresh], report, progress)
        self._people.take_in(self._held_edits(), report)
        self._people.missing(found.gone, report, accept=accept_deletions)
