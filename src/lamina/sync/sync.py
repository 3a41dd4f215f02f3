"""The story of the two views: a person's files and the journal are brought together, and neither loses anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lamina.atom.identity import AtomId, IdSource
from lamina.clock import Clock, disk_time_ns
from lamina.store.base import Store
from lamina.sync.people import People
from lamina.sync.publish import publish, sha256
from lamina.sync.report import Progress, SyncReport
from lamina.sync.sight import Found, Sight, sheet_of
from lamina.vault.files import Disk, Stamp

LOCK_SECONDS = 60.0
ROUNDS = 50

NEVER = Stamp(-1, 0, 0, 0)
"""A stamp no file has, so that it is read at the next look."""


class Sync:
    """Keeps vault and store together; safe in many processes at once."""

    def __init__(self, disk: Disk, store: Store, clock: Clock, ids: IdSource, marked: Callable[[], bool]) -> None:
        self._disk, self._ledger = disk, store.ledger
        self._sight = Sight(disk, store.ledger)
        self._people = People(disk, store, clock, ids, marked)

    def run(self, *, accept_deletions: bool = False, progress: Progress | None = None) -> SyncReport:
        """Look at every file: finish what a crash left, take in what people did, write out what is pending."""
        report = SyncReport()
        if self._is_quiet():
            return report
        with self._disk.lock("vault", LOCK_SECONDS):
            self._recover()
            self._drain(report)
            self._look_around(report, accept_deletions=accept_deletions, progress=progress)
            self._drain(report)
        return report

    def look_at(self, paths: Iterable[str]) -> SyncReport:
        """Look at some files, because they were just saved or are about to be shown."""
        report = SyncReport()
        wanted = list(dict.fromkeys(paths))
        if any(path.endswith("/") for path in wanted):
            return self.run()
        wanted = [path for path in wanted if self._sight.differs(path)]
        if wanted:
            with self._disk.lock("vault", LOCK_SECONDS):
                self._drain(report)
                if all(self._disk.stamp(path) for path in wanted):
                    self._people.take_in(wanted, report)
                else:
                    # A file that is gone may have been moved: only a look around can tell.
                    self._look_around(report)
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

    def _is_quiet(self) -> bool:
        lines = {line.path: line for line in self._ledger.lines()}
        on_disk = dict(self._disk.scan())
        return not (
            self._sight.fresh(lines, on_disk)
            or self._sight.gone(lines, on_disk)
            or self._ledger.pending(1)
            or self._ledger.unsure()
            or self._disk.kept()
        )

    def _recover(self) -> None:
        """After the machine went down: files that had not reached the disk are written again from the ledger."""
        rewritten: list[tuple[str, Stamp]] = []
        for each in self._ledger.unsure():
            found = self._sight.read(each.path)
            if found is None:
                rewritten.append((each.path, self._disk.create(each.path, each.data)))
            elif not isinstance(found, Found):
                rewritten.append((each.path, NEVER))
            elif found.data != each.data and (sha256(found.data) in each.ours or sheet_of(found.data) is None):
                rewritten.append((each.path, self._disk.exchange(each.path, each.data).stamp))
            else:
                rewritten.append((each.path, found.stamp if found.data == each.data else NEVER))
        if rewritten:
            self._ledger.wrote(rewritten, disk_time_ns())

    def _drain(self, report: SyncReport) -> None:
        held: list[str] = []
        for _ in range(ROUNDS):
            done = publish(self._disk, self._ledger)
            report.written += done.written
            for pending, swapped in done.human:
                self._people.take_swapped(pending, swapped, report)
            missing = [each.path for each in done.missing]
            if missing and missing != held:
                self._look_around(report)
            elif not done.human:
                return
            held = missing

    def _look_around(
        self, report: SyncReport, *, accept_deletions: bool = False, progress: Progress | None = None
    ) -> None:
        self._people.look_at_kept(report)
        lines = {line.path: line for line in self._ledger.lines()}
        on_disk = dict(self._disk.scan())
        self._people.take_in(self._sight.fresh(lines, on_disk), report, progress)
        self._people.missing(self._sight.gone(lines, on_disk), report, accept=accept_deletions)
