"""Space that is kept for a full disk: opening a vault and erasing must work there."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from enum import Enum
from pathlib import Path


class DiskReserve(Enum):
    """A file that only takes space, and how much; what it is deleted for needs that space."""

    OPENING = ("reserve-open", 256 << 10)
    ERASING = ("reserve-erase", 2 << 20)


_FREE_SHARE = 4
"""So much more space than a reserve takes has to be free for it."""


def is_nearly_full(folder: Path, reserve: DiskReserve) -> bool:
    """Return whether less space is left on a disk than the reserve has."""
    return shutil.disk_usage(folder).free < reserve.value[1]


def fill_reserve(folder: Path) -> None:
    """Create the files that are missing, unless the disk is nearly full: that is tried again later."""
    for reserve in DiskReserve:
        name, size = reserve.value
        path = folder / name
        if not path.exists() and shutil.disk_usage(folder).free > _FREE_SHARE * size:
            try:
                with path.open("xb") as file:
                    if hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(file.fileno(), 0, size)
                    else:
                        file.write(os.urandom(size))  # a file system may compress anything else
            except OSError:
                with suppress(OSError):
                    path.unlink(missing_ok=True)


def release_reserve(folder: Path, reserve: DiskReserve) -> bool:
    """Delete a file of the reserve; return whether it existed."""
    try:
        (folder / reserve.value[0]).unlink()
    except OSError:
        return False
    return True
