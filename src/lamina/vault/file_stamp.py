"""The stamp of a file, by which a change is noticed, and the error for what is no plain file."""

from __future__ import annotations

import os
from typing import NamedTuple

from lamina.errors import InvalidInput


class UnusableFile(InvalidInput):
    """Raised if something in the vault is no plain file, too large, or behind a link."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path!r} {reason}; it is left unchanged")


class Stamp(NamedTuple):
    """The attributes that distinguish a changed file from an unchanged one. A tuple, because every scan creates and
    compares many."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def content(self) -> tuple[int, int, int]:
        """Return the part that a save changes and a rename does not."""
        return self.size, self.mtime_ns, self.inode


def make_stamp(info: os.stat_result) -> Stamp:
    """Return the stamp of a stat result."""
    return Stamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
