"""Read, write and stamp the plain file that an entry of an open folder names."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NoReturn

from lamina.vault.file_stamp import Stamp, UnusableFile, make_stamp
from lamina.vault.syscalls import FILE_MODE, FolderEntry, Syscalls, is_regular

MAX_FILE_BYTES = 1024 * 1024
_READ_TRIES = 5


def read_entry(system: Syscalls, entry: FolderEntry, label: str) -> tuple[bytes, Stamp]:
    """Return bytes and stamp; if the file keeps changing, the stamp will not match, so that it is read again."""
    data, before, after = _read_once(system, entry, label)
    for _ in range(_READ_TRIES):
        if before == after:
            break
        data, before, after = _read_once(system, entry, label)
    return data, before


def check_entry(system: Syscalls, entry: FolderEntry, label: str) -> None:
    """Raise UnusableFile if the entry is no plain file or too large."""
    _check(system.stat(entry), label)


def write_new_entry(system: Syscalls, entry: FolderEntry, data: bytes, *, durable: bool = False) -> Stamp:
    """Write a new file and return its stamp; FileExistsError if anything is there."""
    fd = system.open_new(entry)
    try:
        system.chmod(fd, FILE_MODE)
        rest = memoryview(data)
        while rest:
            rest = rest[system.write(fd, rest) :]
        if durable:
            system.fsync(fd)
        return make_stamp(system.fstat(fd))
    finally:
        system.close(fd)


def stamp_entry(system: Syscalls, entry: FolderEntry) -> Stamp | None:
    """Return the stamp of the file; None if there is no plain file."""
    try:
        info = system.stat(entry)
    except FileNotFoundError:
        return None
    return make_stamp(info) if is_regular(info) else None


def stamp_after_rename(system: Syscalls, entry: FolderEntry, before: Stamp) -> Stamp:
    """Return the stamp after a rename; one that does not match if a person saved meanwhile, so that the save is
    noticed."""
    after = stamp_entry(system, entry)
    return after if after and after.content == before.content else before


def has_inode(system: Syscalls, entry: FolderEntry, inode: int) -> bool:
    """Return whether the entry is the plain file with this inode."""
    stamp = stamp_entry(system, entry)
    return stamp is not None and stamp.inode == inode


def try_unlink(system: Syscalls, entry: FolderEntry) -> None:
    """Delete a file; errors are ignored."""
    with suppress(OSError):
        system.unlink(entry)


def _read_once(system: Syscalls, entry: FolderEntry, label: str) -> tuple[bytes, Stamp, Stamp]:
    check_entry(system, entry, label)  # before opening: opening a device may have effects
    fd = system.open_read(entry)
    try:
        before = system.fstat(fd)
        _check(before, label)
        data = _read_all(system, fd, label)
        return data, make_stamp(before), make_stamp(system.fstat(fd))
    finally:
        system.close(fd)


def _read_all(system: Syscalls, fd: int, label: str) -> bytes:
    parts: list[bytes] = []
    remaining = MAX_FILE_BYTES + 1
    while remaining and (part := system.read(fd, min(remaining, 65536))):
        parts.append(part)
        remaining -= len(part)
    if not remaining:
        _refuse_size(label)
    return b"".join(parts)


def _check(info: os.stat_result, label: str) -> None:
    if not is_regular(info):
        raise UnusableFile(label, "is not a plain file")
    if info.st_size > MAX_FILE_BYTES:
        _refuse_size(label)


def _refuse_size(label: str) -> NoReturn:
    raise UnusableFile(label, f"is larger than {MAX_FILE_BYTES} bytes")
