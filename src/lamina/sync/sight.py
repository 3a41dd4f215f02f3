"""What changed on the disk compared with the ledger."""

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
"""A file saved so shortly before it was checked may be saved again with the same stamp."""

NEVER = Stamp(-1, 0, 0, 0)
"""A stamp that no file has, so that the file is read at the next scan."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was read because it is new or may have changed."""

    path: str
    data: bytes
    stamp: Stamp
    checked_ns: int

    def seen(self) -> Seen:
        """Return the file as a snapshot for a commit."""
        return Seen(self.path, self.data, self.stamp, self.checked_ns)


@dataclass(frozen=True, slots=True)
class Differences:
    """The files that are new or may have changed, with their stamps, and those that were missing."""

    fresh: dict[str, Stamp]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.fresh or self.gone)


class Sight:
    """Compares disk and ledger, by stamps first, and by bytes if the stamps are not enough."""

    def __init__(self, disk: Disk, ledger: Ledger) -> None:
        self._disk, self._ledger = disk, ledger

    def read(self, path: str) -> Found | UnusableFile | None:
        """Return the file as it is; None if it does not exist, the error if it cannot be used."""
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
        """Return the stamp of the file; None if it does not exist or its name cannot be used."""
        try:
            return self._disk.stamp(path)
        except InvalidInput:
            return None

    def look(self) -> Differences:
        """Scan all files and return what differs from the ledger; imported documents are left out."""
        stable, others = self._ledger.calm(COARSE_RACY_NS)
        entries, changed_files = {entry.path: entry for entry in others}, dict[str, Stamp]()
        for path, stamp in self._disk.scan():
            if stable.pop(path, None) == stamp:
                continue
            entry = entries.pop(path, None)
            if (entry is None or changed(entry, stamp)) and not layout.is_fed(path):
                changed_files[path] = stamp
        missing = [*stable, *(path for path, entry in entries.items() if entry.state is not FileState.GONE)]
        return Differences(changed_files, tuple(path for path in missing if not layout.is_fed(path)))

    def strays(self) -> list[str]:
        """Return the files that the ledger does not know."""
        return [path for path in self.look().fresh if self._ledger.line(path) is None]

    def left(self, found: Differences) -> Differences:
        """Return what still differs after other processes may have handled some; a newer save is read again."""
        return Differences(
            {path: stamp for path, stamp in found.fresh.items() if self._is_fresh(path, stamp)},
            tuple(path for path in found.gone if self._is_gone(path)),
        )

    def _is_fresh(self, path: str, stamp: Stamp) -> bool:
        entry = self._ledger.line(path)
        return entry is None or changed(entry, stamp)

    def _is_gone(self, path: str) -> bool:
        entry = self._ledger.line(path)
        return entry is not None and entry.state is not FileState.GONE and self.stamp(path) is None

    def differs(self, path: str) -> bool:
        """Return whether a file differs from the ledger; a pending one differs if a person wrote it."""
        entry, stamp = self._ledger.line(path), self.stamp(path)
        if entry is None or entry.state is FileState.GONE:
            return stamp is not None
        if entry.stamp is None:
            return stamp is not None and not self._ours(path)
        return stamp is None or (changed(entry, stamp) and not self._same_bytes(path))

    def _ours(self, path: str) -> bool:
        """Return whether the file contains bytes that lamina wrote."""
        record, file = self._ledger.row(path), self.read(path)
        if record is None or not isinstance(file, Found):
            return True
        return file.data in (record.data, record.base) or hashlib.sha256(file.data).hexdigest() in record.ours

    def _same_bytes(self, path: str) -> bool:
        record, file = self._ledger.row(path), self.read(path)
        return (
            record is not None
            and isinstance(file, Found)
            and record.line.state is FileState.ATOM
            and file.data == record.data
        )


def changed(line: FileLine, stamp: Stamp) -> bool:
    """Return whether a stamp differs, or is so recent that it cannot be trusted."""
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
    """Return the parsed file; None if it cannot be read."""
    try:
        return read_sheet(data) if data is not None else None
    except Unreadable:
        return None
