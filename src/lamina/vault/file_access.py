"""Open the folders below the vault without following a link out of it; read, write, stamp and lock the files in them.

The caller holds a folder open while it uses an entry. A lock is a file under `.lamina` that the system unlocks when its
process ends.
"""

from __future__ import annotations

import errno
import os
import random
import re
import secrets
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, NoReturn

from lamina.errors import InvalidInput, StoreBusy
from lamina.vault.syscalls import FILE_MODE, FOLDER_MODE, FolderEntry, Syscalls, is_link, is_regular

MAX_PATH_BYTES = 4000
_MAX_NAME_BYTES = 255
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


def split_path(path: str) -> list[str]:
    """Return the components of a path; InvalidInput if it leaves the vault or enters its hidden folders."""
    names = path.split("/")
    if _CONTROL.search(path) or _DRIVE.match(path):
        _refuse_path(path, "contains a character that is not allowed in file names")
    if any(not name or name.startswith(".") for name in names):
        _refuse_path(path, "is not a plain path below the vault")
    try:
        longest, whole = max(len(name.encode()) for name in names), len(path.encode())
    except UnicodeEncodeError:
        _refuse_path(path, "cannot be written as UTF-8")
    if longest > _MAX_NAME_BYTES or whole > MAX_PATH_BYTES:
        _refuse_path(path, "is too long")
    return names


def is_listed_name(name: str) -> bool:
    """Return whether a scan includes a name: it is not hidden, and it is UTF-8."""
    if name.startswith("."):
        return False
    return name.isascii() or not any("\ud800" <= char <= "\udfff" for char in name)


def _refuse_path(path: str, reason: str) -> NoReturn:
    raise InvalidInput(f"the path {path[:200]!r} {reason}; give one relative to the vault, such as 'notes/tea.md'")


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


INTERNAL = ".lamina"
TMP = "tmp"
_entry_name = attrgetter("name")


class FolderTree:
    """The open folder of the vault. Folders are opened component by component, each time, so that one that a person
    moved or linked is noticed."""

    def __init__(self, root: Path, system: Syscalls) -> None:
        self.system = system
        self._root = system.open_folder(str(root))
        self.close = weakref.finalize(self, os.close, self._root)

    @contextmanager
    def open_entry(self, path: str, *, make: bool = False) -> Iterator[FolderEntry]:
        """Open the folder of a path, for its last component; `make` creates the folders."""
        *folders, name = split_path(path)
        with self.open_folder(folders, make=make) as folder:
            yield FolderEntry(folder, name)

    def internal_folder(self, name: str) -> AbstractContextManager[int]:
        """Open, and if necessary create, a folder under `.lamina`."""
        return self.open_folder([INTERNAL, name], make=True)

    @contextmanager
    def open_folder(self, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
        """Open a folder by the names that lead to it; UnusableFile if one of them is a link."""
        folder = self._root
        try:
            for name in names:
                subfolder = self._open_subfolder(FolderEntry(folder, name), make)
                self.close_folder(folder)
                folder = subfolder
            yield folder
        finally:
            self.close_folder(folder)

    def close_folder(self, folder: int) -> None:
        """Close a folder or file, but not the root; errors are ignored."""
        if folder != self._root:
            with suppress(OSError):
                self.system.close(folder)

    @contextmanager
    def draft(self, data: bytes, *, durable: bool = False) -> Iterator[tuple[FolderEntry, Stamp]]:
        """Write a complete file to a folder that is not scanned, for the caller to rename."""
        with self.internal_folder(TMP) as folder:
            draft = FolderEntry(folder, secrets.token_hex(8))
            try:
                yield draft, write_new_entry(self.system, draft, data, durable=durable)
            except BaseException:
                try_unlink(self.system, draft)
                raise

    def list_folder(self, prefix: str, ending: str) -> tuple[list[tuple[str, Stamp]], list[str]]:
        """Return the plain files with an ending and the subfolders in a folder, sorted; none if there is no folder."""
        files: list[tuple[str, Stamp]] = []
        folders: list[str] = []
        with (
            suppress(FileNotFoundError, NotADirectoryError, UnusableFile),
            self.open_folder(prefix.split("/")[:-1]) as descriptor,
        ):
            for entry in sorted(self.system.entries(descriptor), key=_entry_name):
                name = entry.name
                if not is_listed_name(name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{prefix}{name}/")
                elif name.endswith(ending) and entry.is_file(follow_symlinks=False):
                    try:
                        files.append((prefix + name, make_stamp(self.system.entry_stat(entry))))
                    except FileNotFoundError:  # deleted since the folder was listed
                        continue
        return files, [folder for folder in folders if len(folder) < MAX_PATH_BYTES]

    def _open_subfolder(self, entry: FolderEntry, make: bool) -> int:
        try:
            return self.system.open_folder(entry.name, entry.folder)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP) or not is_link(self.system.stat(entry)):
                raise
            raise UnusableFile(entry.name, "is a link to another folder") from error
        return self._make_folder(entry)

    def _make_folder(self, entry: FolderEntry) -> int:
        try:
            self.system.mkdir(entry)
        except FileExistsError:
            return self.system.open_folder(entry.name, entry.folder)
        folder = self.system.open_folder(entry.name, entry.folder)
        try:
            self.system.chmod(folder, FOLDER_MODE)
        except OSError:
            self.close_folder(folder)
            raise
        return folder


_LOCK_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")


def hold_lock(tree: FolderTree, name: str, timeout: float) -> AbstractContextManager[None]:
    """Hold `.lamina/<name>.lock`; StoreBusy after `timeout` seconds. The system releases it when the process ends."""
    if not _LOCK_NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} is not a valid lock name; use lower-case letters, digits and hyphens")
    return _hold_lock(tree, name, timeout)


@contextmanager
def _hold_lock(tree: FolderTree, name: str, timeout: float) -> Iterator[None]:
    deadline = time.monotonic() + timeout
    fd = _try_lock(tree, name)
    while fd is None:
        if time.monotonic() >= deadline:
            raise StoreBusy(f"another process held {name!r} for more than {timeout:g} s; try again later")
        time.sleep(random.uniform(0.001, 0.012))
        fd = _try_lock(tree, name)
    try:
        yield
    finally:
        _unlock(fd)
        tree.system.close(fd)


def _try_lock(tree: FolderTree, name: str) -> int | None:
    with tree.open_folder([INTERNAL], make=True) as internal:
        entry = FolderEntry(internal, f"{name}.lock")
        fd = tree.system.open_lock(entry)
        try:
            # The lock file may have been deleted: a lock on a file without a name protects nothing.
            is_locked = _locked(fd) and has_inode(tree.system, entry, tree.system.fstat(fd).st_ino)
        except BaseException:
            tree.close_folder(fd)
            raise
        if is_locked:
            return fd
        tree.close_folder(fd)
        return None


if sys.platform == "win32":
    import msvcrt

    def _locked(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(fd: int) -> None:
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _locked(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)
