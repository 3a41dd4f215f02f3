"""Open the folders below the vault without following a link out of it."""

from __future__ import annotations

import errno
import os
import secrets
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from operator import attrgetter
from pathlib import Path

from lamina.vault.entry_files import try_unlink, write_new_entry
from lamina.vault.file_stamp import Stamp, UnusableFile, make_stamp
from lamina.vault.syscalls import FOLDER_MODE, FolderEntry, Syscalls, is_link
from lamina.vault.vault_path import MAX_PATH_BYTES, is_listed_name, split_path

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
