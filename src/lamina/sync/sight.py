"""What changed on the disk since the ledger last knew."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lamina.clock import disk_time_ns
from lamina.errors import InvalidInput
from lamina.store.base import Seen
from lamina.store.ledger import FileLine, FileState, Ledger
from lamina.vault import layout
from lamina.vault.codec import Sheet, read_sheet
from lamina.vault.files import Disk, Stamp, UnusableFile
from lamina.vault.frontmatter import Unreadable

RACY_NS = 20_000_000
COARSE_RACY_NS = 2_100_000_000
"""A file saved this shortly before it was looked at may be saved again without its stamp showing it."""

NEVER = Stamp(-1, 0, 0, 0)
"""A stamp no file has, so that it is read at the next look."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was read because it is new or may have changed."""

    path: str
    data: bytes
    stamp: Stamp
    checked_ns: int

    def seen(self) -> Seen:
        return Seen(self.path, self.data, self.stamp, self.checked_ns)


@dataclass(frozen=True, slots=True)
class Differences:
    """The files that are new or may have changed, as they were when somebody looked, and those that were not there."""

    fresh: dict[str, Stamp]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.fresh or self.gone)


class Sight:
    """Compares disk and ledger, by stamps first and by bytes where a stamp cannot tell."""

    def __init__(self, disk: Disk, ledger: Ledger) -> None:
        self._disk, self._ledger = disk, ledger

    def read(self, path: str) -> Found | UnusableFile | None:
        """The file as it is; None if it is not there."""
        checked = disk_time_ns()
        try:
            data, stamp = self._disk.read(path)
        except FileNotFoundError:
            return None
        except UnusableFile as error:
            return error
        except InvalidInput as error:
            return UnusableFile(path, str(error))
        return Found(path, data, stamp, checked)

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of the file; None if it is not there or has a name that cannot be used."""
        try:
            return self._disk.stamp(path)
        except InvalidInput:
            return None

    def look(self) -> Differences:
        """What differs between disk and ledger; every file is looked at, and what was fed is not ours to compare."""
        calm, others = self._ledger.calm(COARSE_RACY_NS)
        lines, fresh = {line.path: line for line in others}, dict[str, Stamp]()
        for path, stamp in self._disk.scan():
            if calm.pop(path, None) == stamp:
                continue
            line = lines.pop(path, None)
            if (line is None or changed(line, stamp)) and not layout.is_fed(path):
                fresh[path] = stamp
        gone = [*calm, *(path for path, line in lines.items() if line.state is not FileState.GONE)]
        return Differences(fresh, tuple(path for path in gone if not layout.is_fed(path)))

    def strays(self) -> list[str]:
        """The files that the ledger does not know."""
        return [path for path in self.look().fresh if self._ledger.line(path) is None]

    def left(self, found: Differences) -> Differences:
        """What still differs of that, now that others had their turn. A file saved since is read once too often."""
        return Differences(
            {path: stamp for path, stamp in found.fresh.items() if self._is_fresh(path, stamp)},
            tuple(path for path in found.gone if self._is_gone(path)),
        )

    def _is_fresh(self, path: str, stamp: Stamp) -> bool:
        line = self._ledger.line(path)
        return line is None or changed(line, stamp)

    def _is_gone(self, path: str) -> bool:
        line = self._ledger.line(path)
        return line is not None and line.state is not FileState.GONE and self.stamp(path) is None

    def differs(self, path: str) -> bool:
        """Whether one file is not as the ledger has it; one still to be written differs if somebody else wrote it."""
        line, stamp = self._ledger.line(path), self.stamp(path)
        if line is None or line.state is FileState.GONE:
            return stamp is not None
        if line.stamp is None:
            return stamp is not None and not self._ours(path)
        return stamp is None or (changed(line, stamp) and not self._same_bytes(path))

    def _ours(self, path: str) -> bool:
        row, found = self._ledger.row(path), self.read(path)
        if row is None or not isinstance(found, Found):
            return True
        return found.data in (row.data, row.base) or hashlib.sha256(found.data).hexdigest() in row.ours

    def _same_bytes(self, path: str) -> bool:
        row, found = self._ledger.row(path), self.read(path)
        return (
            row is not None and isinstance(found, Found) and row.line.state is FileState.ATOM and found.data == row.data
        )


def changed(line: FileLine, stamp: Stamp) -> bool:
    """Whether a stamp differs, or is so young that it cannot be trusted."""
    if line.state is FileState.GONE:
        return True
    return line.stamp is not None and (line.stamp != stamp or _is_racy(stamp, line.checked_ns))


def _is_racy(stamp: Stamp, checked_ns: int) -> bool:
    age = checked_ns - max(stamp.ctime_ns, stamp.mtime_ns)
    if age >= COARSE_RACY_NS:
        return False
    coarse = stamp.mtime_ns % 1_000_000 == 0 and stamp.ctime_ns % 1_000_000 == 0
    return coarse or age < RACY_NS


def sheet_of(data: bytes | None) -> Sheet | None:
    """What a file says, or None where nobody can read it."""
    try:
        return read_sheet(data) if data is not None else None
    except Unreadable:
        return None
