"""Access the files of the vault: a file is complete or absent, and a person's save is never overwritten.

Files are not synced to disk: the journal is durable and writes them again after a crash. A file that an exchange
replaced is kept under `.lamina/swapped`, because an editor may still have it open and write to it later.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lamina.clock import disk_time_ns
from lamina.errors import InvalidInput
from lamina.vault.file_access import (
    INTERNAL,
    TMP,
    FolderTree,
    Stamp,
    UnusableFile,
    check_entry,
    has_inode,
    hold_lock,
    make_stamp,
    read_entry,
    split_path,
    stamp_after_rename,
    stamp_entry,
    try_unlink,
    write_new_entry,
)
from lamina.vault.syscalls import (
    FolderEntry,
    Syscalls,
    is_regular,
    is_unsupported,
    move_by_link,
    rename_to_new,
    swap_files,
)

SWAPPED = "swapped"
_RECENT_NS = 2_100_000_000
_COPY_NAME = re.compile(r"([0-9a-f]{64})-([0-9a-f]{16}-(\d{1,20}))")
_UNREAD_HASH, _ASIDE_HASH = "0" * 64, "f" * 64


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


class SwapFolder:
    """The folder of the copies of replaced files, each with a file beside it that contains its path."""

    def __init__(self, tree: FolderTree) -> None:
        self._tree, self._sys = tree, tree.system

    def exchange(self, path: str, data: bytes) -> SwapResult:
        """Replace a file that a person may be saving at this moment, and return what it was."""
        with self._tree.open_entry(path) as entry, self._tree.internal_folder(SWAPPED) as folder:
            check_entry(self._sys, entry, path)
            with self._tree.draft(data) as (draft, own_stamp), self._slot(folder, path) as slot:
                staged = FolderEntry(folder, f"{_UNREAD_HASH}-{slot}")
                # A copy with this name after a crash is either complete and ours, or a person's.
                self._sys.rename(draft, staged)
                try:
                    return self._swap(staged, entry, slot, own_stamp, path)
                except (OSError, UnusableFile):
                    self._retract(staged, own_stamp)
                    raise

    def restore(self, copy_name: str, path: str) -> SwapResult:
        """Exchange a copy back into place; FileNotFoundError, and the copy stays, if there is no file."""
        old_slot = _copy_slot(copy_name)
        with self._tree.open_entry(path) as entry, self._tree.internal_folder(SWAPPED) as folder:
            copy = FolderEntry(folder, copy_name)
            before = make_stamp(self._sys.stat(copy))
            check_entry(self._sys, entry, path)
            with self._slot(folder, path) as slot:
                swapped = self._swap(copy, entry, slot, before, path)
            try_unlink(self._sys, FolderEntry(folder, f"{old_slot}.path"))
            return swapped

    def move_by_link(self, source: FolderEntry, target: FolderEntry, path: str) -> None:
        """Rename a file on a file system that cannot refuse to replace another."""
        with self._tree.internal_folder(SWAPPED) as folder, self._slot(folder, path) as slot:
            move_by_link(self._sys, source, target, FolderEntry(folder, f"{_ASIDE_HASH}-{slot}"))
            try_unlink(self._sys, FolderEntry(folder, f"{slot}.path"))

    def list_copies(self) -> list[SwapCopy]:
        """Return the copies, oldest first."""
        with self._tree.internal_folder(SWAPPED) as folder:
            copies = [copy for entry in self._sys.entries(folder) if (copy := self._parse_copy(entry))]
        return sorted(copies, key=lambda copy: (copy.at_ns, copy.name))

    def path_of(self, name: str) -> str | None:
        """Return the path that a copy had; None if it is not known."""
        slot = _copy_slot(name)
        with self._tree.internal_folder(SWAPPED) as folder:
            try:
                path = read_entry(self._sys, FolderEntry(folder, f"{slot}.path"), slot)[0].decode()
                split_path(path)
            except (FileNotFoundError, UnicodeDecodeError, InvalidInput):  # a crash may leave it empty or incomplete
                return None
        return path

    def read(self, name: str) -> bytes:
        """Return the current bytes of a copy."""
        _copy_slot(name)
        with self._tree.internal_folder(SWAPPED) as folder:
            return read_entry(self._sys, FolderEntry(folder, name), name)[0]

    def delete(self, name: str) -> None:
        """Delete a copy if it exists."""
        slot = _copy_slot(name)
        with self._tree.internal_folder(SWAPPED) as folder:
            for file in (name, f"{slot}.path"):
                with suppress(FileNotFoundError):
                    self._sys.unlink(FolderEntry(folder, file))

    def _parse_copy(self, entry: os.DirEntry[str]) -> SwapCopy | None:
        match = _COPY_NAME.fullmatch(entry.name)
        if match is None:
            return None
        at_ns = int(match[3])
        written = self._sys.entry_stat(entry).st_mtime_ns
        return SwapCopy(
            match[0], match[1], at_ns, match[1] in (_UNREAD_HASH, _ASIDE_HASH) or written > at_ns - _RECENT_NS
        )

    def _swap(self, ours: FolderEntry, entry: FolderEntry, slot: str, before: Stamp, path: str) -> SwapResult:
        aside = FolderEntry(ours.folder, f"{_ASIDE_HASH}-{slot}")
        swap_files(self._sys, ours, entry, aside)
        try:
            data, _ = read_entry(self._sys, ours, path)
        except UnusableFile:  # it was a link or too large: put it back
            swap_files(self._sys, ours, entry, aside)
            raise
        copy_name = f"{hashlib.sha256(data).hexdigest()}-{slot}"
        self._sys.rename(ours, FolderEntry(ours.folder, copy_name))
        return SwapResult(data, copy_name, stamp_after_rename(self._sys, entry, before))

    def _retract(self, staged: FolderEntry, ours: Stamp) -> None:
        """Delete our own bytes, but never what a failed exchange may have brought out."""
        with suppress(OSError):
            if has_inode(self._sys, staged, ours.inode):
                self._sys.unlink(staged)

    @contextmanager
    def _slot(self, folder: int, path: str) -> Iterator[str]:
        """Create a unique ending for the names of one exchange, and a file beside them that contains the path."""
        slot = f"{secrets.token_hex(8)}-{disk_time_ns()}"
        origin = FolderEntry(folder, f"{slot}.path")
        try:
            write_new_entry(self._sys, origin, path.encode())
            yield slot
        except BaseException:
            with suppress(OSError):
                if slot not in copy_slots(self._sys, folder):
                    self._sys.unlink(origin)
            raise


def copy_slots(system: Syscalls, folder: int) -> set[str]:
    """Return the endings of the existing copies."""
    matches = (_COPY_NAME.fullmatch(entry.name) for entry in system.entries(folder))
    return {match[2] for match in matches if match}


def _copy_slot(copy_name: str) -> str:
    match = _COPY_NAME.fullmatch(copy_name)
    if match is None:
        raise InvalidInput(f"{copy_name[:200]!r} is not the name of a stored copy")
    return match[2]


_CONFLICTS = "conflicts"
_LEFTOVER_AGE_NS = 3600 * 10**9


class Disk:
    """The vault's folder. Every path is relative to it, with forward slashes."""

    def __init__(self, root: Path, syscalls: Syscalls | None = None) -> None:
        self.root = root.resolve(strict=True)
        self._sys = syscalls or Syscalls()
        self._tree = FolderTree(self.root, self._sys)
        self._swaps = SwapFolder(self._tree)
        self.close = self._tree.close
        self._delete_leftovers()

    def read(self, path: str) -> tuple[bytes, Stamp]:
        """Return the bytes of a file and their stamp; FileNotFoundError or UnusableFile if there is no such file."""
        with self._tree.open_entry(path) as entry:
            return read_entry(self._sys, entry, path)

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of the file; None if there is no plain file at the path."""
        try:
            with self._tree.open_entry(path) as entry:
                return stamp_entry(self._sys, entry)
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
        return self._swaps.exchange(path, data)

    def restore_copy(self, copy_name: str, path: str) -> SwapResult:
        """Exchange a copy back into place; FileNotFoundError, and the copy stays, if there is no file."""
        return self._swaps.restore(copy_name, path)

    def move(self, old: str, new: str) -> Stamp:
        """Rename a file and create its folders; FileExistsError if anything is there.

        A person may have saved since the caller last read it: compare `Stamp.content` with the known one.
        """
        with self._tree.open_entry(old) as source, self._tree.open_entry(new, make=True) as target:
            before = self._sys.stat(source)
            if not is_regular(before):
                raise UnusableFile(old, "is not a plain file")
            try:
                self._sys.rename_new(source, target)
            except OSError as error:
                if not is_unsupported(error):
                    raise
                self._swaps.move_by_link(source, target, old)
            return stamp_after_rename(self._sys, target, make_stamp(before))

    def move_durably(self, old: str, new: str) -> Stamp:
        """Move a file durably; FileExistsError if anything is there."""
        moved = self.move(old, new)
        self._fsync_folders(old, new)
        return moved

    def create_durably(self, path: str, data: bytes) -> None:
        """Write a new file durably; FileExistsError if anything is there."""
        with self._tree.open_entry(path, make=True) as entry, self._tree.draft(data, durable=True) as (draft, _):
            rename_to_new(self._sys, draft, entry)
        self._fsync_folders(path)

    def remove(self, path: str, known: Stamp) -> bool:
        """Delete a file durably if it is still the known one; return whether it was."""
        with self._tree.open_entry(path) as entry:
            if stamp_entry(self._sys, entry) != known:
                return False
            self._sys.unlink(entry)
        self._fsync_folders(path)
        return True

    def _fsync_folders(self, *paths: str) -> None:
        for path in paths:
            with self._tree.open_folder(split_path(path)[:-1]) as folder:
                self._sys.fsync(folder)

    def files_in(self, folder: str) -> Iterator[tuple[str, Stamp]]:
        """Yield every plain file in a folder (ending in a slash) and its subfolders, whatever its name; none if there
        is no folder.

        Hidden files are left out, and links are not followed.
        """
        return self._walk(folder, "")

    def find_vanished_folder(self, path: str) -> str | None:
        """Return the first folder on the way to a file that is missing or is no folder, with a slash at its end."""
        folders = path.split("/")[:-1]
        for count in range(1, len(folders) + 1):
            try:
                with self._tree.open_folder(folders[:count]):
                    continue
            except (FileNotFoundError, NotADirectoryError, UnusableFile):
                return "/".join(folders[:count]) + "/"
        return None

    def remove_empty_dirs(self, path: str, keep: int = 1) -> None:
        """Remove the folders that a moved file left empty, except the topmost `keep`. Errors are ignored."""
        folders = split_path(path)[:-1]
        with suppress(OSError, UnusableFile):
            while len(folders) > keep:
                with self._tree.open_folder(folders[:-1]) as parent:
                    self._sys.rmdir(FolderEntry(parent, folders[-1]))
                folders = folders[:-1]

    def scan(self) -> Iterator[tuple[str, Stamp]]:
        """Yield every plain `.md` file outside hidden folders; links are not followed.

        A folder that cannot be listed raises, because its files must not look deleted. A path that `read` refuses is
        included, so that it can be reported; one that is not UTF-8 is not.
        """
        return self._walk("", ".md")

    def swap_copies(self) -> list[SwapCopy]:
        """Return the copies of replaced files, oldest first.

        A hash of zeros or of f marks a copy that was not read yet, left by a killed process or a failing disk.
        """
        return self._swaps.list_copies()

    def copy_path(self, name: str) -> str | None:
        """Return the path that a copy had; None if it is not known."""
        return self._swaps.path_of(name)

    def copy_bytes(self, name: str) -> bytes:
        """Return the current bytes of a copy."""
        return self._swaps.read(name)

    def delete_copy(self, name: str) -> None:
        """Delete a copy if it exists."""
        self._swaps.delete(name)

    def save_conflict(self, path: str, data: bytes) -> str:
        """Write a copy under `.lamina/conflicts` durably, and return its path."""
        stem = split_path(path)[-1].removesuffix(".md").encode()[:100].decode(errors="ignore")
        name = f"{stem}-{disk_time_ns()}-{secrets.token_hex(4)}.md"
        with self._tree.internal_folder(_CONFLICTS) as folder, self._tree.open_folder([INTERNAL]) as internal:
            with self._tree.draft(data, durable=True) as (draft, _):
                rename_to_new(self._sys, draft, FolderEntry(folder, name))
            self._sys.fsync(folder)
            self._sys.fsync(internal)
        return f"{INTERNAL}/{_CONFLICTS}/{name}"

    def lock(self, name: str, timeout: float) -> AbstractContextManager[None]:
        """Hold `.lamina/<name>.lock`; StoreBusy after `timeout` seconds. The system releases it when the process
        ends."""
        return hold_lock(self._tree, name, timeout)

    def _walk(self, folder: str, ending: str) -> Iterator[tuple[str, Stamp]]:
        remaining = [folder]
        while remaining:
            files, folders = self._tree.list_folder(remaining.pop(), ending)
            yield from files
            remaining.extend(reversed(folders))

    def _create_once(self, path: str, data: bytes) -> Stamp:
        with self._tree.open_entry(path, make=True) as entry, self._tree.draft(data) as (draft, own_stamp):
            rename_to_new(self._sys, draft, entry)
            return stamp_after_rename(self._sys, entry, own_stamp)

    def _delete_leftovers(self) -> None:
        """Delete what killed processes left: drafts, and the paths of deleted copies. Copies are never deleted."""
        oldest = disk_time_ns() - _LEFTOVER_AGE_NS
        for name in (TMP, SWAPPED):
            with suppress(OSError, UnusableFile), self._tree.open_folder([INTERNAL, name]) as folder:
                used = copy_slots(self._sys, folder)
                for entry in self._sys.entries(folder):
                    is_leftover = name == TMP or (entry.name.endswith(".path") and entry.name[:-5] not in used)
                    if is_leftover and self._sys.entry_stat(entry).st_mtime_ns < oldest:
                        try_unlink(self._sys, FolderEntry(folder, entry.name))
