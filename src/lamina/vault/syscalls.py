"""Wrap the system calls of the vault, and renames that never lose what a person is saving.

Every call is one small method of `Syscalls`, so that a test can make any of them fail. Folders are open descriptors and
names are single components: no link is followed out of the vault.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

FILE_MODE = 0o600
FOLDER_MODE = 0o700

_DARWIN = sys.platform == "darwin"
_NOREPLACE, _EXCHANGE = (4, 2) if _DARWIN else (1, 2)
_SYSCALL_NUMBERS = {
    "x86_64": 316,
    "aarch64": 276,
    "riscv64": 276,
    "armv7l": 382,
    "i686": 353,
    "ppc64le": 357,
    "s390x": 347,
}
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
_NO_LINKS = _UNSUPPORTED | {errno.EPERM, errno.EMLINK}

RenameFunction = Callable[[int, bytes, int, bytes, int], int]


class FolderEntry(NamedTuple):
    """A name in an open folder."""

    folder: int
    name: str


class Syscalls:
    """The system calls that the vault uses."""

    def open_folder(self, path: str, folder: int | None = None) -> int:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)

    def open_new(self, entry: FolderEntry) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        return os.open(entry.name, flags, FILE_MODE, dir_fd=entry.folder)

    def open_read(self, entry: FolderEntry) -> int:
        # Without O_NONBLOCK a pipe in the file's place would block forever.
        return os.open(entry.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=entry.folder)

    def open_lock(self, entry: FolderEntry) -> int:
        return os.open(entry.name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE, dir_fd=entry.folder)

    def read(self, fd: int, count: int) -> bytes:
        return os.read(fd, count)

    def write(self, fd: int, data: memoryview) -> int:
        return os.write(fd, data)

    def chmod(self, fd: int, mode: int) -> None:
        os.fchmod(fd, mode)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def fstat(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def close(self, fd: int) -> None:
        os.close(fd)

    def stat(self, entry: FolderEntry) -> os.stat_result:
        return os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False)

    def entries(self, folder: int) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as listing:
            return list(listing)

    def entry_stat(self, entry: os.DirEntry[str]) -> os.stat_result:
        return entry.stat(follow_symlinks=False)

    def mkdir(self, entry: FolderEntry) -> None:
        os.mkdir(entry.name, FOLDER_MODE, dir_fd=entry.folder)

    def rmdir(self, entry: FolderEntry) -> None:
        os.rmdir(entry.name, dir_fd=entry.folder)

    def unlink(self, entry: FolderEntry) -> None:
        os.unlink(entry.name, dir_fd=entry.folder)

    def link(self, old: FolderEntry, new: FolderEntry) -> None:
        os.link(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder, follow_symlinks=False)

    def rename(self, old: FolderEntry, new: FolderEntry) -> None:
        os.rename(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder)

    def rename_new(self, old: FolderEntry, new: FolderEntry) -> None:
        """Rename; FileExistsError if anything has the new name."""
        _rename_with_flag(old, new, _NOREPLACE)

    def exchange(self, one: FolderEntry, other: FolderEntry) -> None:
        """Exchange two names atomically."""
        _rename_with_flag(one, other, _EXCHANGE)


def is_unsupported(error: OSError) -> bool:
    """Return whether the file system or kernel does not support the call, as opposed to a failure of the call."""
    return error.errno in _UNSUPPORTED


def rename_to_new(system: Syscalls, old: FolderEntry, new: FolderEntry) -> None:
    """Give our own file its final name; FileExistsError if anything has it."""
    try:
        system.rename_new(old, new)
    except OSError as error:
        if not is_unsupported(error):
            raise
        system.link(old, new)
        with suppress(OSError):  # the file is in place; its second name in our folder is deleted later
            system.unlink(old)


def move_by_link(system: Syscalls, old: FolderEntry, new: FolderEntry, aside: FolderEntry) -> None:
    """Rename a person's file on a file system that cannot refuse to replace another.

    The file gets its second name first. The old name is then set aside rather than deleted, because an editor may have
    saved a new file there meanwhile.
    """
    system.link(old, new)
    moved = system.stat(new)
    system.rename(old, aside)
    if os.path.samestat(system.stat(aside), moved):
        system.unlink(aside)
    else:
        rename_to_new(system, aside, old)


def swap_files(system: Syscalls, ours: FolderEntry, theirs: FolderEntry, aside: FolderEntry) -> None:
    """Replace `theirs` by `ours`; the replaced file has the name of `ours` afterwards.

    If the system has no exchange, the old file gets a second name (`aside`) before it is replaced. An editor that saves
    by renaming between those two calls (some microseconds) would lose that save; one that writes in place would not. If
    there are no links either, the old file is moved away first: nothing can be lost, but for some microseconds there is
    no file, and FileExistsError means that a person saved a new one in that gap.
    """
    try:
        system.exchange(ours, theirs)
    except OSError as error:
        if not is_unsupported(error):
            raise
        _swap_by_steps(system, ours, theirs, aside)
        system.rename(aside, ours)


def _swap_by_steps(system: Syscalls, ours: FolderEntry, theirs: FolderEntry, aside: FolderEntry) -> None:
    try:
        system.link(theirs, aside)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _swap_without_links(system, ours, theirs, aside)
    else:
        system.rename(ours, theirs)


def _swap_without_links(system: Syscalls, ours: FolderEntry, theirs: FolderEntry, aside: FolderEntry) -> None:
    system.rename_new(theirs, aside)
    try:
        system.rename_new(ours, theirs)
    except OSError:
        with suppress(OSError):  # a file saved meanwhile keeps its name, and the older one stays aside
            system.rename_new(aside, theirs)
        raise


def _rename_with_flag(old: FolderEntry, new: FolderEntry, flag: int) -> None:
    if _RENAME is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), old.name)
    if _RENAME(old.folder, os.fsencode(old.name), new.folder, os.fsencode(new.name), flag) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), old.name, None, new.name)


def bind_rename(libc: ctypes.CDLL, *, by_number: bool = False) -> RenameFunction | None:
    """Return the system's rename with flags, by its number if the C library has no name for it (musl, old glibc); None
    if there is none."""
    name = "renameatx_np" if _DARWIN else "renameat2"
    number = _SYSCALL_NUMBERS.get(platform.machine()) if sys.platform == "linux" else None
    arguments = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if hasattr(libc, name) and not by_number:
        function = libc[name]
        function.argtypes, function.restype = arguments, ctypes.c_int
        return function
    if number is None:
        return None
    call = libc["syscall"]
    call.argtypes, call.restype = (ctypes.c_long, *arguments), ctypes.c_long
    return lambda *values: int(call(number, *values))


def _load_rename() -> RenameFunction | None:
    return bind_rename(ctypes.CDLL(None, use_errno=True)) if os.name == "posix" else None


_RENAME = _load_rename()


def is_link(info: os.stat_result) -> bool:
    """Return whether a stat result describes a symbolic link."""
    return stat.S_ISLNK(info.st_mode)


def is_regular(info: os.stat_result) -> bool:
    """Return whether a stat result describes a plain file."""
    return stat.S_ISREG(info.st_mode)
