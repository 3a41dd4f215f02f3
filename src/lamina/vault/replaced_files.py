"""Replace files by exchange, and keep what they were under `.lamina/swapped`."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from lamina.clock import disk_time_ns
from lamina.errors import InvalidInput
from lamina.vault.entry_files import check_entry, has_inode, read_entry, stamp_after_rename, try_unlink, write_new_entry
from lamina.vault.file_stamp import Stamp, UnusableFile, make_stamp
from lamina.vault.folder_tree import FolderTree
from lamina.vault.syscalls import FolderEntry, Syscalls, move_by_link, swap_files
from lamina.vault.vault_path import split_path

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
