"""What changed on the disk since the ledger last knew."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lamina.clock import disk_time_ns
from lamina.errors import InvalidInput
from lamina.store.base import Seen
from lamina.store.ledger import FileLine, FileState, Ledger
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

    def fresh(self, lines: dict[str, FileLine], on_disk: dict[str, Stamp]) -> list[str]:
        """The files that are new or may have changed."""
        return [path for path, stamp in on_disk.items() if path not in lines or changed(lines[path], stamp)]

    def gone(self, lines: dict[str, FileLine], on_disk: dict[str, Stamp]) -> list[str]:
        """The known files that are no longer there."""
        return [path for path, line in lines.items() if path not in on_disk and line.state is not FileState.GONE]

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
    coarse = stamp.mtime_ns % 1_000_000 == 0 and stamp.ctime_ns % 1_000_000 == 0
    newest = max(stamp.ctime_ns, stamp.mtime_ns)
    return checked_ns - newest < (COARSE_RACY_NS if coarse else RACY_NS)


def sheet_of(data: bytes | None) -> Sheet | None:
    """What a file says, or None where nobody can read it."""
    try:
        return read_sheet(data) if data is not None else None
    except Unreadable:
        return None
