"""The only module that touches the disk for the vault: complete or absent, never over a person's save.

Files carry no fsync of their own: the journal is durable and writes them again after a crash. What an exchange brings
out is kept under `.lamina/swapped`, because an editor may still hold it open and write into it later.
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
from lamina.vault.exchange import (
    FILE_MODE,
    FOLDER_MODE,
    Place,
    Syscalls,
    is_link,
    is_regular,
    move_by_link,
    put_new,
    swap,
    unsupported,
)

LARGEST_FILE = 1024 * 1024

_HOME, _TMP, _SWAPPED, _CONFLICTS = ".lamina", "tmp", "swapped", "conflicts"
_LEFTOVER_NS = 3600 * 10**9
_JUST_BEFORE_NS = 2_100_000_000
_READ_TRIES = 5
_LONGEST_NAME, _LONGEST_PATH = 255, 4000
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_LOCK_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
_KEPT_NAME = re.compile(r"([0-9a-f]{64})-([0-9a-f]{16}-(\d{1,20}))")
_UNREAD, _ASIDE = "0" * 64, "f" * 64
_name = attrgetter("name")


class UnusableFile(InvalidInput):
    """Something in the vault that is no plain file of a sensible size, or lies behind a link."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path!r} {reason}; it is left as it is")


class Stamp(NamedTuple):
    """What tells a changed file from an unchanged one. A tuple: every look makes and compares one for each file."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def content(self) -> tuple[int, int, int]:
        """The part that a rename leaves alone and a save does not."""
        return self.size, self.mtime_ns, self.inode


@dataclass(frozen=True, slots=True)
class Swapped:
    """What an exchange brought out, and the stamp of what is at the path in its stead."""

    data: bytes
    kept: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Kept:
    """A swapped-out copy. Bytes that no longer hash to `sha256` were never seen by the engine: somebody wrote later.

    `stirred`: it was written about when it came out or later, so that its bytes have to be looked at.
    """

    name: str
    sha256: str
    at_ns: int
    stirred: bool


class Disk:
    """The vault's folder. Every path is relative to it, with forward slashes."""

    def __init__(self, root: Path, syscalls: Syscalls | None = None) -> None:
        self.root = root.resolve(strict=True)
        self._sys = syscalls or Syscalls()
        self._root = self._sys.open_folder(str(self.root))
        self.close = weakref.finalize(self, os.close, self._root)
        self._sweep()

    def read(self, path: str) -> tuple[bytes, Stamp]:
        """The bytes and the stamp they belong to; FileNotFoundError or UnusableFile if there is no such file."""
        with self._spot(path) as spot:
            return self._read_at(spot, path)

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of the file, or None if there is no plain file within the vault at the path."""
        try:
            with self._spot(path) as spot:
                return self._stamp_at(spot)
        except (FileNotFoundError, NotADirectoryError, UnusableFile):
            return None

    def create(self, path: str, data: bytes) -> Stamp:
        """Write a new file, complete at once; FileExistsError if anything is there."""
        try:
            return self._create(path, data)
        except FileNotFoundError:  # somebody removed a folder between two steps: make it again, once
            return self._create(path, data)

    def exchange(self, path: str, data: bytes) -> Swapped:
        """Replace a file that a person may be saving at this moment, and return what stood there."""
        with self._spot(path) as spot, self._room(_SWAPPED) as room:
            self._check(self._sys.stat(spot), path)
            with self._draft(data) as (draft, ours), self._slot(room, path) as slot:
                staged = Place(room, f"{_UNREAD}-{slot}")
                # Under this name a copy found after a crash is either complete and ours, or a person's.
                self._sys.rename(draft, staged)
                try:
                    return self._swap(staged, spot, slot, ours, path)
                except (OSError, UnusableFile):
                    self._retract(staged, ours)
                    raise

    def put_back(self, kept: str, path: str) -> Swapped:
        """Exchange a kept copy back into place; FileNotFoundError, and the copy stays, if no file is there."""
        old_slot = _slot_of(kept)
        with self._spot(path) as spot, self._room(_SWAPPED) as room:
            copy = Place(room, kept)
            before = _stamp(self._sys.stat(copy))
            self._check(self._sys.stat(spot), path)
            with self._slot(room, path) as slot:
                swapped = self._swap(copy, spot, slot, before, path)
            self._forget(Place(room, f"{old_slot}.path"))
            return swapped

    def move(self, old: str, new: str) -> Stamp:
        """Rename a file, making folders; FileExistsError if anything is there.

        A person may have saved since the caller last looked: compare `Stamp.content` with the known one.
        """
        with self._spot(old) as source, self._spot(new, make=True) as target:
            before = self._sys.stat(source)
            if not is_regular(before):
                raise UnusableFile(old, "is not a plain file")
            try:
                self._sys.rename_new(source, target)
            except OSError as error:
                if not unsupported(error):
                    raise
                with self._room(_SWAPPED) as room, self._slot(room, old) as slot:
                    move_by_link(self._sys, source, target, Place(room, f"{_ASIDE}-{slot}"))
                    self._forget(Place(room, f"{slot}.path"))
            return self._settled(target, _stamp(before))

    def put_away(self, old: str, new: str) -> Stamp:
        """Move a file, on the disk for certain when this returns; FileExistsError if anything is there."""
        moved = self.move(old, new)
        self._settle_names(old, new)
        return moved

    def put_copy(self, path: str, data: bytes) -> None:
        """Write a new file, on the disk for certain when this returns; FileExistsError if anything is there."""
        with self._spot(path, make=True) as spot, self._draft(data, durable=True) as (draft, _):
            put_new(self._sys, draft, spot)
        self._settle_names(path)

    def remove(self, path: str, known: Stamp) -> bool:
        """Delete a file if it is still the known one; on the disk for certain when this returns."""
        with self._spot(path) as spot:
            if self._stamp_at(spot) != known:
                return False
            self._sys.unlink(spot)
        self._settle_names(path)
        return True

    def _settle_names(self, *paths: str) -> None:
        for path in paths:
            with self._folder(_checked(path)[:-1]) as folder:
                self._sys.fsync(folder)

    def files_in(self, folder: str) -> Iterator[tuple[str, Stamp]]:
        """Every plain file of a folder (ending in a slash) and of those in it, whatever its name; none if it is not
        there. What is hidden is left out, and links are not followed."""
        waiting = [folder]
        while waiting:
            files, folders = self._list(waiting.pop(), "")
            yield from files
            waiting.extend(reversed(folders))

    def remove_empty_dirs(self, path: str, keep: int = 1) -> None:
        """Remove the folders that a moved file left empty, but none of the topmost. Best effort."""
        folders = _checked(path)[:-1]
        with suppress(OSError, UnusableFile):
            while len(folders) > keep:
                with self._folder(folders[:-1]) as parent:
                    self._sys.rmdir(Place(parent, folders[-1]))
                folders = folders[:-1]

    def scan(self) -> Iterator[tuple[str, Stamp]]:
        """Every plain `.md` file outside hidden folders; links are not followed.

        A folder that cannot be listed raises: its files must not look deleted. A path with characters that `read`
        refuses is still told, so that it can be reported; one that is no UTF-8 is not.
        """
        waiting = [""]
        while waiting:
            prefix = waiting.pop()
            files, folders = self._list(prefix)
            yield from files
            waiting.extend(reversed(folders))

    def kept(self) -> list[Kept]:
        """The swapped-out copies, oldest first.

        A hash of zeros or of f marks a copy that nobody has read, left by a killed process or a failing disk.
        """
        with self._room(_SWAPPED) as room:
            kept = [copy for entry in self._sys.entries(room) if (copy := self._kept(entry))]
        return sorted(kept, key=lambda copy: (copy.at_ns, copy.name))

    def _kept(self, entry: os.DirEntry[str]) -> Kept | None:
        match = _KEPT_NAME.fullmatch(entry.name)
        if match is None:
            return None
        at_ns = int(match[3])
        written = self._sys.entry_stat(entry).st_mtime_ns
        return Kept(match[0], match[1], at_ns, match[1] in (_UNREAD, _ASIDE) or written > at_ns - _JUST_BEFORE_NS)

    def kept_path(self, name: str) -> str | None:
        """Where a kept copy stood; None if that is not known any more."""
        with self._room(_SWAPPED) as room:
            return self._origin(room, _slot_of(name))

    def kept_bytes(self, name: str) -> bytes:
        """What a kept copy holds at this moment."""
        _slot_of(name)
        with self._room(_SWAPPED) as room:
            return self._read_at(Place(room, name), name)[0]

    def drop_kept(self, name: str) -> None:
        """Delete a kept copy; it need not be there."""
        slot = _slot_of(name)
        with self._room(_SWAPPED) as room:
            with suppress(FileNotFoundError):
                self._sys.unlink(Place(room, name))
            with suppress(FileNotFoundError):
                self._sys.unlink(Place(room, f"{slot}.path"))

    def save_conflict(self, path: str, data: bytes) -> str:
        """Write a copy under `.lamina/conflicts`, on the disk for certain when this returns, and return its path."""
        stem = _checked(path)[-1].removesuffix(".md").encode()[:100].decode(errors="ignore")
        name = f"{stem}-{disk_time_ns()}-{secrets.token_hex(4)}.md"
        with self._room(_CONFLICTS) as room, self._folder([_HOME]) as home:
            with self._draft(data, durable=True) as (draft, _):
                put_new(self._sys, draft, Place(room, name))
            self._sys.fsync(room)
            self._sys.fsync(home)
        return f"{_HOME}/{_CONFLICTS}/{name}"

    @contextmanager
    def _lock(self, name: str, timeout: float) -> Iterator[None]:
        deadline = time.monotonic() + timeout
        fd = self._try_lock(name)
        while fd is None:
            if time.monotonic() >= deadline:
                raise StoreBusy(f"another process held {name!r} for more than {timeout:g} s; try again")
            time.sleep(random.uniform(0.001, 0.012))
            fd = self._try_lock(name)
        try:
            yield
        finally:
            _unlock(fd)
            self._sys.close(fd)

    def lock(self, name: str, timeout: float) -> AbstractContextManager[None]:
        """Hold `.lamina/<name>.lock`; StoreBusy after `timeout` seconds. The system frees it when its holder dies."""
        if not _LOCK_NAME.fullmatch(name):
            raise InvalidInput(f"{name!r} is no name for a lock; use small letters, digits and hyphens")
        return self._lock(name, timeout)

    def _try_lock(self, name: str) -> int | None:
        with self._folder([_HOME], make=True) as home:
            place = Place(home, f"{name}.lock")
            fd = self._sys.open_lock(place)
            try:
                # Somebody may have deleted the lock file: a lock on a file without a name protects nothing.
                held = _locked(fd) and self._is_at(place, self._sys.fstat(fd).st_ino)
            except BaseException:
                self._leave(fd)
                raise
            if held:
                return fd
            self._leave(fd)
            return None

    def _create(self, path: str, data: bytes) -> Stamp:
        with self._spot(path, make=True) as spot, self._draft(data) as (draft, ours):
            put_new(self._sys, draft, spot)
            return self._settled(spot, ours)

    def _swap(self, ours: Place, spot: Place, slot: str, before: Stamp, path: str) -> Swapped:
        aside = Place(ours.folder, f"{_ASIDE}-{slot}")
        swap(self._sys, ours, spot, aside)
        try:
            data, _ = self._read_at(ours, path)
        except UnusableFile:  # a link or a giant came out: it belongs where it was
            swap(self._sys, ours, spot, aside)
            raise
        kept = f"{hashlib.sha256(data).hexdigest()}-{slot}"
        self._sys.rename(ours, Place(ours.folder, kept))
        return Swapped(data, kept, self._settled(spot, before))

    def _retract(self, staged: Place, ours: Stamp) -> None:
        """Delete our own bytes, but never what an exchange that failed half-way may have brought out."""
        with suppress(OSError):
            if self._is_at(staged, ours.inode):
                self._sys.unlink(staged)

    @contextmanager
    def _slot(self, room: int, path: str) -> Iterator[str]:
        """A fresh ending for the names of one exchange, and a file beside them that tells the path."""
        slot = f"{secrets.token_hex(8)}-{disk_time_ns()}"
        origin = Place(room, f"{slot}.path")
        try:
            self._write_new(origin, path.encode(), durable=False)
            yield slot
        except BaseException:
            with suppress(OSError):
                if slot not in self._slots(room):
                    self._sys.unlink(origin)
            raise

    def _slots(self, room: int) -> set[str]:
        """The endings of the copies that are there."""
        found = (_KEPT_NAME.fullmatch(entry.name) for entry in self._sys.entries(room))
        return {match[2] for match in found if match}

    def _origin(self, room: int, slot: str) -> str | None:
        try:
            path = self._read_at(Place(room, f"{slot}.path"), slot)[0].decode()
            _checked(path)
        except (FileNotFoundError, UnicodeDecodeError, InvalidInput):  # a crash may leave it empty or torn
            return None
        return path

    @contextmanager
    def _draft(self, data: bytes, *, durable: bool = False) -> Iterator[tuple[Place, Stamp]]:
        """A complete file in a folder where nobody looks for atoms, to be renamed by the caller."""
        with self._room(_TMP) as room:
            draft = Place(room, secrets.token_hex(8))
            try:
                yield draft, self._write_new(draft, data, durable=durable)
            except BaseException:
                self._forget(draft)
                raise

    def _write_new(self, place: Place, data: bytes, *, durable: bool) -> Stamp:
        fd = self._sys.open_new(place)
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

    def _read_at(self, spot: Place, label: str) -> tuple[bytes, Stamp]:
        """If the file never stands still, the stamp is one that no longer fits, so the next look reads it again."""
        data, before, after = self._read_once(spot, label)
        for _ in range(_READ_TRIES):
            if before == after:
                break
            data, before, after = self._read_once(spot, label)
        return data, before

    def _read_once(self, spot: Place, label: str) -> tuple[bytes, Stamp, Stamp]:
        self._check(self._sys.stat(spot), label)  # before opening: to open a device may already do something
        fd = self._sys.open_read(spot)
        try:
            before = self._sys.fstat(fd)
            self._check(before, label)
            data = self._read_all(fd, label)
            return data, _stamp(before), _stamp(self._sys.fstat(fd))
        finally:
            self._sys.close(fd)

    def _read_all(self, fd: int, label: str) -> bytes:
        parts: list[bytes] = []
        room = LARGEST_FILE + 1
        while room and (part := self._sys.read(fd, min(room, 65536))):
            parts.append(part)
            room -= len(part)
        if not room:
            _too_large(label)
        return b"".join(parts)

    def _check(self, info: os.stat_result, label: str) -> None:
        if not is_regular(info):
            raise UnusableFile(label, "is not a plain file")
        if info.st_size > LARGEST_FILE:
            _too_large(label)

    def _stamp_at(self, spot: Place) -> Stamp | None:
        try:
            info = self._sys.stat(spot)
        except FileNotFoundError:
            return None
        return _stamp(info) if is_regular(info) else None

    def _settled(self, spot: Place, before: Stamp) -> Stamp:
        """The stamp after a rename; one that does not fit if a person has saved meanwhile, so that the save is seen."""
        after = self._stamp_at(spot)
        return after if after and after.content == before.content else before

    def _is_at(self, place: Place, inode: int) -> bool:
        found = self._stamp_at(place)
        return found is not None and found.inode == inode

    def _forget(self, place: Place) -> None:
        with suppress(OSError):
            self._sys.unlink(place)

    @contextmanager
    def _spot(self, path: str, *, make: bool = False) -> Iterator[Place]:
        *folders, name = _checked(path)
        with self._folder(folders, make=make) as folder:
            yield Place(folder, name)

    def _room(self, name: str) -> AbstractContextManager[int]:
        return self._folder([_HOME, name], make=True)

    @contextmanager
    def _folder(self, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
        """Walked afresh each time: a folder that a person moves or links elsewhere is noticed, and it costs little."""
        here = self._root
        try:
            for name in names:
                there = self._step(Place(here, name), make)
                self._leave(here)
                here = there
            yield here
        finally:
            self._leave(here)

    def _leave(self, folder: int) -> None:
        if folder != self._root:
            with suppress(OSError):
                self._sys.close(folder)

    def _step(self, place: Place, make: bool) -> int:
        try:
            return self._sys.open_folder(place.name, place.folder)
        except FileNotFoundError:
            if not make:
                raise
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP) or not is_link(self._sys.stat(place)):
                raise
            raise UnusableFile(place.name, "is a link to another folder") from error
        return self._make_folder(place)

    def _make_folder(self, place: Place) -> int:
        try:
            self._sys.mkdir(place)
        except FileExistsError:
            return self._sys.open_folder(place.name, place.folder)
        folder = self._sys.open_folder(place.name, place.folder)
        try:
            self._sys.chmod(folder, FOLDER_MODE)
        except OSError:
            self._leave(folder)
            raise
        return folder

    def _list(self, prefix: str, ending: str = ".md") -> tuple[list[tuple[str, Stamp]], list[str]]:
        files: list[tuple[str, Stamp]] = []
        folders: list[str] = []
        with (
            suppress(FileNotFoundError, NotADirectoryError, UnusableFile),
            self._folder(prefix.split("/")[:-1]) as here,
        ):
            for entry in sorted(self._sys.entries(here), key=_name):
                name = entry.name
                if not _is_told(name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{prefix}{name}/")
                elif name.endswith(ending) and entry.is_file(follow_symlinks=False):
                    try:
                        files.append((prefix + name, _stamp(self._sys.entry_stat(entry))))
                    except FileNotFoundError:  # deleted since the folder was listed
                        continue
        return files, [folder for folder in folders if len(folder) < _LONGEST_PATH]

    def _sweep(self) -> None:
        """Delete what killed processes left: drafts, and the paths of copies that are gone. Copies are never swept."""
        oldest = disk_time_ns() - _LEFTOVER_NS
        for name in (_TMP, _SWAPPED):
            with suppress(OSError, UnusableFile), self._folder([_HOME, name]) as room:
                used = self._slots(room)
                for entry in self._sys.entries(room):
                    leftover = name == _TMP or (entry.name.endswith(".path") and entry.name[:-5] not in used)
                    if leftover and self._sys.entry_stat(entry).st_mtime_ns < oldest:
                        self._forget(Place(room, entry.name))


def _checked(path: str) -> list[str]:
    """The components of a path that stays within the vault and out of its hidden folders."""
    names = path.split("/")
    if _CONTROL.search(path) or _DRIVE.match(path):
        _refuse(path, "holds a character that file names here may not have")
    if any(not name or name.startswith(".") for name in names):
        _refuse(path, "is not a plain path below the vault")
    try:
        longest, whole = max(len(name.encode()) for name in names), len(path.encode())
    except UnicodeEncodeError:
        _refuse(path, "cannot be written as UTF-8")
    if longest > _LONGEST_NAME or whole > _LONGEST_PATH:
        _refuse(path, "is too long")
    return names


def _refuse(path: str, reason: str) -> NoReturn:
    raise InvalidInput(f"the path {path[:200]!r} {reason}; give one relative to the vault, such as 'notes/tea.md'")


def _too_large(label: str) -> NoReturn:
    raise UnusableFile(label, f"is larger than {LARGEST_FILE} bytes")


def _slot_of(kept: str) -> str:
    match = _KEPT_NAME.fullmatch(kept)
    if match is None:
        raise InvalidInput(f"{kept[:200]!r} is not the name of a kept copy")
    return match[2]


def _is_told(name: str) -> bool:
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
