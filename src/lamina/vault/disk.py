"""Access the files of the vault: a file is complete or absent, and a person's save is never overwritten.

Files are not synced to disk: the journal is durable and writes them again after a crash. A file that an exchange
replaced is kept under `.lamina/swapped`, because an editor may still have it open and write to it later.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import re
import secrets
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, NoReturn

from lamina.clock import disk_time_ns
from lamina.errors import InvalidInput, StoreBusy
from lamina.vault.syscalls import (
    FILE_MODE,
    FOLDER_MODE,
    FolderEntry,
    Syscalls,
    is_link,
    is_regular,
    is_unsupported,
    move_by_link,
    rename_to_new,
    swap_files,
)

MAX_FILE_BYTES = 1024 * 1024

_INTERNAL, _TMP, _SWAPPED, _CONFLICTS = ".lamina", "tmp", "swapped", "conflicts"
_LEFTOVER_AGE_NS = 3600 * 10**9
_RECENT_NS = 2_100_000_000
_READ_TRIES = 5
_MAX_NAME_BYTES, _MAX_PATH_BYTES = 255, 4000
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_LOCK_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
_COPY_NAME = re.compile(r"([0-9a-f]{64})-([0-9a-f]{16}-(\d{1,20}))")
_UNREAD_HASH, _ASIDE_HASH = "0" * 64, "f" * 64
_entry_name = attrgetter("name")


class UnusableFile(InvalidInput):
    """Raised if something in the vault is no plain file, too large, or behind a link."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path!r} {reason}; it is left unchanged")


class Stamp(NamedTuple):
    """What distinguishes a changed file from an unchanged one. A tuple, because every scan creates and compares
    many."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def content(self) -> tuple[int, int, int]:
        """Return the part that a save changes and a rename does not."""
        return self.size, self.mtime_ns, self.inode


@dataclass(frozen=True, slots=True)
class SwapResult:
    """The bytes that an exchange replaced, the name of their copy, and the stamp of the new file."""

    data: bytes
    copy_name: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class SwapCopy:
    """A copy of a replaced file. If its bytes no longer hash to `sha256`, they were written after the exchange.

    `is_recent`: it was written shortly before it was replaced or later, so its bytes must be checked.
    """

    name: str
    sha256: str
    at_ns: int
    is_recent: bool


class Disk:
    """The vault's folder. Every path is relative to it, with forward slashes."""

    def __init__(self, root: Path, syscalls: Syscalls | None = None) -> None:
        self.root = root.resolve(strict=True)
        self._sys = syscalls or Syscalls()
        self._root = self._sys.open_folder(str(self.root))
        self.close = weakref.finalize(self, os.close, self._root)
        self._delete_leftovers()

    def read(self, path: str) -> tuple[bytes, Stamp]:
        """Return the bytes of a file and their stamp; FileNotFoundError or UnusableFile if there is no such file."""
        with self._open_entry(path) as entry:
            return self._read_at(entry, path)

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of the file; None if there is no plain file at the path."""
        try:
            with self._open_entry(path) as entry:
                return self._stamp_at(entry)
        except (FileNotFoundError, NotADirectoryError, UnusableFile):
            return None

    def create(self, path: str, data: bytes) -> Stamp:
        """Write a new file atomically; FileExistsError if anything is there."""
        try:
            return self._create_once(path, data)
        except FileNotFoundError:  # a folder was removed between two steps: create it again, once
            return self._create_once(path, data)

    def exchange(self, path: str, data: bytes) -> SwapResult:
        """Replace a file that a person may be saving at this moment, and return what it was."""
        with self._open_entry(path) as entry, self._internal_folder(_SWAPPED) as folder:
            self._check(self._sys.stat(entry), path)
            with self._draft(data) as (draft, own_stamp), self._slot(folder, path) as slot:
                staged = FolderEntry(folder, f"{_UNREAD_HASH}-{slot}")
                # A copy with this name after a crash is either complete and ours, or a person's.
                self._sys.rename(draft, staged)
                try:
                    return self._swap(staged, entry, slot, own_stamp, path)
                except (OSError, UnusableFile):
                    self._retract(staged, own_stamp)
                    raise

    def restore_copy(self, copy_name: str, path: str) -> SwapResult:
        """Exchange a copy back into place; FileNotFoundError, and the copy stays, if there is no file."""
        old_slot = _copy_slot(copy_name)
        with self._open_entry(path) as entry, self._internal_folder(_SWAPPED) as folder:
            copy = FolderEntry(folder, copy_name)
            before = _stamp(self._sys.stat(copy))
            self._check(self._sys.stat(entry), path)
            with self._slot(folder, path) as slot:
                swapped = self._swap(copy, entry, slot, before, path)
            self._try_unlink(FolderEntry(folder, f"{old_slot}.path"))
            return swapped

    def move(self, old: str, new: str) -> Stamp:
        """Rename a file and create its folders; FileExistsError if anything is there.

        A person may have saved since the caller last read it: compare `Stamp.content` with the known one.
        """
        with self._open_entry(old) as source, self._open_entry(new, make=True) as target:
            before = self._sys.stat(source)
            if not is_regular(before):
                raise UnusableFile(old, "is not a plain file")
            try:
                self._sys.rename_new(source, target)
            except OSError as error:
                if not is_unsupported(error):
                    raise
                with self._internal_folder(_SWAPPED) as folder, self._slot(folder, old) as slot:
                    move_by_link(self._sys, source, target, FolderEntry(folder, f"{_ASIDE_HASH}-{slot}"))
                    self._try_unlink(FolderEntry(folder, f"{slot}.path"))
            return self._stamp_after_rename(target, _stamp(before))

    def move_durably(self, old: str, new: str) -> Stamp:
        """Move a file durably; FileExistsError if anything is there."""
        moved = self.move(old, new)
        self._fsync_folders(old, new)
        return moved

    def create_durably(self, path: str, data: bytes) -> None:
        """Write a new file durably; FileExistsError if anything is there."""
        with self._open_entry(path, make=True) as entry, self._draft(data, durable=True) as (draft, _):
            rename_to_new(self._sys, draft, entry)
        self._fsync_folders(path)

    def remove(self, path: str, known: Stamp) -> bool:
        """Delete a file durably if it is still the known one; return whether it was."""
        with self._open_entry(path) as entry:
            if self._stamp_at(entry) != known:
                return False
            self._sys.unlink(entry)
        self._fsync_folders(path)
        return True

    def _fsync_folders(self, *paths: str) -> None:
        for path in paths:
            with self._open_folder(_split_path(path)[:-1]) as folder:
                self._sys.fsync(folder)

    def files_in(self, folder: str) -> Iterator[tuple[str, Stamp]]:
        """Yield every plain file in a folder (ending in a slash) and its subfolders, whatever its name; none if there
        is no folder.

        Hidden files are left out, and links are not followed.
        """
        remaining = [folder]
        while remaining:
            files, folders = self._list_folder(remaining.pop(), "")
            yield from files
            remaining.extend(reversed(folders))

    def remove_empty_dirs(self, path: str, keep: int = 1) -> None:
        """Remove the folders that a moved file left empty, except the topmost `keep`. Errors are ignored."""
        folders = _split_path(path)[:-1]
        with suppress(OSError, UnusableFile):
            while len(folders) > keep:
                with self._open_folder(folders[:-1]) as parent:
                    self._sys.rmdir(FolderEntry(parent, folders[-1]))
                folders = folders[:-1]

    def scan(self) -> Iterator[tuple[str, Stamp]]:
        """Yield every plain `.md` file outside hidden folders; links are not followed.

        A folder that cannot be listed raises, because its files must not look deleted. A path that `read` refuses is
        included, so that it can be reported; one that is not UTF-8 is not.
        """
        remaining = [""]
        while remaining:
            prefix = remaining.pop()
            files, folders = self._list_folder(prefix)
            yield from files
            remaining.extend(reversed(folders))

    def swap_copies(self) -> list[SwapCopy]:
        """Return the copies of replaced files, oldest first.

        A hash of zeros or of f marks a copy that was not read yet, left by a killed process or a failing disk.
        """
        with self._internal_folder(_SWAPPED) as folder:
            copies = [copy for entry in self._sys.entries(folder) if (copy := self._parse_copy(entry))]
        return sorted(copies, key=lambda copy: (copy.at_ns, copy.name))

    def _parse_copy(self, entry: os.DirEntry[str]) -> SwapCopy | None:
        match = _COPY_NAME.fullmatch(entry.name)
        if match is None:
            return None
        at_ns = int(match[3])
        written = self._sys.entry_stat(entry).st_mtime_ns
        return SwapCopy(
            match[0], match[1], at_ns, match[1] in (_UNREAD_HASH, _ASIDE_HASH) or written > at_ns - _RECENT_NS
        )

    def copy_path(self, name: str) -> str | None:
        """Return the path that a copy had; None if it is not known."""
        with self._internal_folder(_SWAPPED) as folder:
            return self._copy_origin(folder, _copy_slot(name))

    def copy_bytes(self, name: str) -> bytes:
        """Return the current bytes of a copy."""
        _copy_slot(name)
        with self._internal_folder(_SWAPPED) as folder:
            return self._read_at(FolderEntry(folder, name), name)[0]

    def delete_copy(self, name: str) -> None:
        """Delete a copy if it exists."""
        slot = _copy_slot(name)
        with self._internal_folder(_SWAPPED) as folder:
            with suppress(FileNotFoundError):
                self._sys.unlink(FolderEntry(folder, name))
            with suppress(FileNotFoundError):
                self._sys.unlink(FolderEntry(folder, f"{slot}.path"))

    def save_conflict(self, path: str, data: bytes) -> str:
        """Write a copy under `.lamina/conflicts` durably, and return its path."""
        stem = _split_path(path)[-1].removesuffix(".md").encode()[:100].decode(errors="ignore")
        name = f"{stem}-{disk_time_ns()}-{secrets.token_hex(4)}.md"
        with self._internal_folder(_CONFLICTS) as folder, self._open_folder([_INTERNAL]) as internal:
            with self._draft(data, durable=True) as (draft, _):
                rename_to_new(self._sys, draft, FolderEntry(folder, name))
            self._sys.fsync(folder)
            self._sys.fsync(internal)
        return f"{_INTERNAL}/{_CONFLICTS}/{name}"

    @contextmanager
    def _hold_lock(self, name: str, timeout: float) -> Iterator[None]:
        deadline = time.monotonic() + timeout
        fd = self._try_lock(name)
        while fd is None:
            if time.monotonic() >= deadline:
                raise StoreBusy(f"another process held {name!r} for more than {timeout:g} s; try again later")
            time.sleep(random.uniform(0.001, 0.012))
            fd = self._try_lock(name)
        try:
            yield
        finally:
            _unlock(fd)
            self._sys.close(fd)

    def lock(self, name: str, timeout: float) -> AbstractContextManager[None]:
        """Hold `.lamina/<name>.lock`; StoreBusy after `timeout` seconds. The system releases it when the process
        ends."""
        if not _LOCK_NAME.fullmatch(name):
            raise InvalidInput(f"{name!r} is not a valid lock name; use lower-case letters, digits and hyphens")
        return self._hold_lock(name, timeout)

    def _try_lock(self, name: str) -> int | None:
        with self._open_folder([_INTERNAL], make=True) as internal:
            entry = FolderEntry(internal, f"{name}.lock")
            fd = self._sys.open_lock(entry)
            try:
                # The lock file may have been deleted: a lock on a file without a name protects nothing.
                is_locked = _locked(fd) and self._has_inode(entry, self._sys.fstat(fd).st_ino)
            except BaseException:
                self._close_folder(fd)
                raise
            if is_locked:
                return fd
            self._close_folder(fd)
            return None

    def _create_once(self, path: str, data: bytes) -> Stamp:
        with self._open_entry(path, make=True) as entry, self._draft(data) as (draft, own_stamp):
            rename_to_new(self._sys, draft, entry)
            return self._stamp_after_rename(entry, own_stamp)

    def _swap(self, ours: FolderEntry, entry: FolderEntry, slot: str, before: Stamp, path: str) -> SwapResult:
        aside = FolderEntry(ours.folder, f"{_ASIDE_HASH}-{slot}")
        swap_files(self._sys, ours, entry, aside)
        try:
            data, _ = self._read_at(ours, path)
        except UnusableFile:  # it was a link or too large: put it back
            swap_files(self._sys, ours, entry, aside)
            raise
        copy_name = f"{hashlib.sha256(data).hexdigest()}-{slot}"
        self._sys.rename(ours, FolderEntry(ours.folder, copy_name))
        return SwapResult(data, copy_name, self._stamp_after_rename(entry, before))

    def _retract(self, staged: FolderEntry, ours: Stamp) -> None:
        """Delete our own bytes, but never what a failed exchange may have brought out."""
        with suppress(OSError):
            if self._has_inode(staged, ours.inode):
                self._sys.unlink(staged)

    @contextmanager
    def _slot(self, folder: int, path: str) -> Iterator[str]:
        """Create a unique ending for the names of one exchange, and a file beside them that contains the path."""
        slot = f"{secrets.token_hex(8)}-{disk_time_ns()}"
        origin = FolderEntry(folder, f"{slot}.path")
        try:
            self._write_new(origin, path.encode(), durable=False)
            yield slot
        except BaseException:
            with suppress(OSError):
                if slot not in self._slots(folder):
                    self._sys.unlink(origin)
            raise

    def _slots(self, folder: int) -> set[str]:
        """Return the endings of the existing copies."""
        matches = (_COPY_NAME.fullmatch(entry.name) for entry in self._sys.entries(folder))
        return {match[2] for match in matches if match}

    def _copy_origin(self, folder: int, slot: str) -> str | None:
        try:
            path = self._read_at(FolderEntry(folder, f"{slot}.path"), slot)[0].decode()
            _split_path(path)
        except (FileNotFoundError, UnicodeDecodeError, InvalidInput):  # a crash may leave it empty or incomplete
            return None
        return path

    @contextmanager
    def _draft(self, data: bytes, *, durable: bool = False) -> Iterator[tuple[FolderEntry, Stamp]]:
        """Write a complete file to a folder that is not scanned, for the caller to rename."""
        with self._internal_folder(_TMP) as folder:
            draft = FolderEntry(folder, secrets.token_hex(8))
            try:
                yield draft, self._write_new(draft, data, durable=durable)
            except BaseException:
                self._try_unlink(draft)
                raise

    def _write_new(self, entry: FolderEntry, data: bytes, *, durable: bool) -> Stamp:
        fd = self._sys.open_new(entry)
        try:
            self._sys.chmod(fd, FILE_MODE)
            rest = memoryview(data)
            while rest:
                rest = rest[self._sys.write(fd, rest) :]
            if durable:
                self._sys.fsync(fd)
            return _stamp(self._sys.fstat(fd))
        finally:
            self._sys.close(fd)

    def _read_at(self, entry: FolderEntry, label: str) -> tuple[bytes, Stamp]:
        """Return bytes and stamp; if the file keeps changing, the stamp will not match, so that it is read again."""
        data, before, after = self._read_once(entry, label)
        for _ in range(_READ_TRIES):
            if before == after:
                break
            data, before, after = self._read_once(entry, label)
        return data, before

    def _read_once(self, entry: FolderEntry, label: str) -> tuple[bytes, Stamp, Stamp]:
        self._check(self._sys.stat(entry), label)  # before opening: opening a device may have effects
        fd = self._sys.open_read(entry)
        try:
            before = self._sys.fstat(fd)
            self._check(before, label)
            data = self._read_all(fd, label)
            return data, _stamp(before), _stamp(self._sys.fstat(fd))
        finally:
            self._sys.close(fd)

    def _read_all(self, fd: int, label: str) -> bytes:
        parts: list[bytes] = []
        remaining = MAX_FILE_BYTES + 1
        while remaining and (part := self._sys.read(fd, min(remaining, 65536))):
            parts.append(part)
            remaining -= len(part)
        if not remaining:
            _refuse_size(label)
        return b"".join(parts)

    def _check(self, info: os.stat_result, label: str) -> None:
        if not is_regular(info):
            raise UnusableFile(label, "is not a plain file")
        if info.st_size > MAX_FILE_BYTES:
            _refuse_size(label)

    def _stamp_at(self, entry: FolderEntry) -> Stamp | None:
        try:
            info = self._sys.stat(entry)
        except FileNotFoundError:
            return None
        return _stamp(info) if is_regular(info) else None

    def _stamp_after_rename(self, entry: FolderEntry, before: Stamp) -> Stamp:
        """Return the stamp after a rename; one that does not match if a person saved meanwhile, so that the save is
        noticed."""
        after = self._stamp_at(entry)
        return after if after and after.content == before.content else before

    def _has_inode(self, entry: FolderEntry, inode: int) -> bool:
        stamp = self._stamp_at(entry)
        return stamp is not None and stamp.inode == inode

    def _try_unlink(self, entry: FolderEntry) -> None:
        with suppress(OSError):
            self._sys.unlink(entry)

    @contextmanager
    def _open_entry(self, path: str, *, make: bool = False) -> Iterator[FolderEntry]:
        *folders, name = _split_path(path)
        with self._open_folder(folders, make=make) as folder:
            yield FolderEntry(folder, name)

    def _internal_folder(self, name: str) -> AbstractContextManager[int]:
        return self._open_folder([_INTERNAL, name], make=True)

    @contextmanager
    def _open_folder(self, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
        """Open a folder component by component, each time, so that one that a person moved or linked is noticed."""
        folder = self._root
        try:
            for name in names:
                subfolder = self._open_subfolder(FolderEntry(folder, name), make)
                self._close_folder(folder)
                folder = subfolder
            yield folder
        finally:
            self._close_folder(folder)

    def _close_folder(self, folder: int) -> None:
        if folder != self._root:
            with suppress(OSError):
                self._sys.close(folder)

    def _open_subfolder(self, entry: FolderEntry, make: bool) -> int:
        try:
            return self._sys.open_folder(entry.name, entry.folder)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP) or not is_link(self._sys.stat(entry)):
                raise
            raise UnusableFile(entry.name, "is a link to another folder") from error
        return self._make_folder(entry)

    def _make_folder(self, entry: FolderEntry) -> int:
        try:
            self._sys.mkdir(entry)
        except FileExistsError:
            return self._sys.open_folder(entry.name, entry.folder)
        folder = self._sys.open_folder(entry.name, entry.folder)
        try:
            self._sys.chmod(folder, FOLDER_MODE)
        except OSError:
            self._close_folder(folder)
            raise
        return folder

    def _list_folder(self, prefix: str, ending: str = ".md") -> tuple[list[tuple[str, Stamp]], list[str]]:
        files: list[tuple[str, Stamp]] = []
        folders: list[str] = []
        with (
            suppress(FileNotFoundError, NotADirectoryError, UnusableFile),
            self._open_folder(prefix.split("/")[:-1]) as descriptor,
        ):
            for entry in sorted(self._sys.entries(descriptor), key=_entry_name):
                name = entry.name
                if not _is_listed(name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{prefix}{name}/")
                elif name.endswith(ending) and entry.is_file(follow_symlinks=False):
                    try:
                        files.append((prefix + name, _stamp(self._sys.entry_stat(entry))))
                    except FileNotFoundError:  # deleted since the folder was listed
                        continue
        return files, [folder for folder in folders if len(folder) < _MAX_PATH_BYTES]

    def _delete_leftovers(self) -> None:
        """Delete what killed processes left: drafts, and the paths of deleted copies. Copies are never deleted."""
        oldest = disk_time_ns() - _LEFTOVER_AGE_NS
        for name in (_TMP, _SWAPPED):
            with suppress(OSError, UnusableFile), self._open_folder([_INTERNAL, name]) as folder:
                used = self._slots(folder)
                for entry in self._sys.entries(folder):
                    is_leftover = name == _TMP or (entry.name.endswith(".path") and entry.name[:-5] not in used)
                    if is_leftover and self._sys.entry_stat(entry).st_mtime_ns < oldest:
                        self._try_unlink(FolderEntry(folder, entry.name))


def _split_path(path: str) -> list[str]:
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
    if longest > _MAX_NAME_BYTES or whole > _MAX_PATH_BYTES:
        _refuse_path(path, "is too long")
    return names


def _refuse_path(path: str, reason: str) -> NoReturn:
    raise InvalidInput(f"the path {path[:200]!r} {reason}; give one relative to the vault, such as 'notes/tea.md'")


def _refuse_size(label: str) -> NoReturn:
    raise UnusableFile(label, f"is larger than {MAX_FILE_BYTES} bytes")


def _copy_slot(copy_name: str) -> str:
    match = _COPY_NAME.fullmatch(copy_name)
    if match is None:
        raise InvalidInput(f"{copy_name[:200]!r} is not the name of a stored copy")
    return match[2]


def _is_listed(name: str) -> bool:
    if name.startswith("."):
        return False
    return name.isascii() or not any("\ud800" <= char <= "\udfff" for char in name)


def _stamp(info: os.stat_result) -> Stamp:
    return Stamp(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


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
