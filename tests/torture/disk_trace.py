"""Record what a workload does to the disk, through the file layers that the engine takes as parameters.

A trace is a list of operations: of SQLite on the databases (through a VFS), and of the engine on the vault (through
`Syscalls`). From it `crash_images` makes what a power loss may leave.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from lamina.vault.syscalls import FolderEntry, Syscalls


class Op(NamedTuple):
    """One operation. `target` is a database file, a path of the vault, or the number of a file's content."""

    kind: str
    target: str
    other: str = ""
    offset: int = 0
    data: bytes = b""


@dataclass(slots=True)
class Trace:
    """The operations in their order; `marks` has the number of operations at each acknowledgement."""

    ops: list[Op] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)

    def add(self, kind: str, target: str, other: str = "", offset: int = 0, data: bytes = b"") -> None:
        self.ops.append(Op(kind, target, other, offset, data))

    def mark(self) -> None:
        """Note that what was done so far is acknowledged."""
        self.marks.append(len(self.ops))


def read_tree(root: Path) -> dict[str, bytes]:
    """Return the files of a vault by path, without locks and shared memory, which do not outlive a power loss."""
    paths = (path for path in sorted(root.rglob("*")) if path.is_file())
    named = {path.relative_to(root).as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in named.items() if not _is_volatile(name)}


def _is_volatile(name: str) -> bool:
    return name.endswith(("-shm", ".lock"))


def is_database(name: str) -> bool:
    return name.startswith(".lamina/") and ".db" in name


class RecordingVFS(apsw.VFS):
    """SQLite's own file layer, with every change of a file noted."""

    def __init__(self, name: str, trace: Trace) -> None:
        self.trace, self.vfs_name = trace, name
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None:  # a temporary file
            return apsw.VFSFile("", name, flags)
        if not Path(path).exists():
            self.trace.add("open", _database_name(path))
        return _RecordingFile(name, flags, self.trace, _database_name(path))

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.trace.add("delete", _database_name(filename), "synced" if syncdir else "")
        super().xDelete(filename, syncdir)


class _RecordingFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], trace: Trace, label: str) -> None:
        self._trace, self._label = trace, label
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        self._trace.add("write", self._label, offset=offset, data=bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._trace.add("truncate", self._label, offset=newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._trace.add("sync", self._label)


def _database_name(path: str) -> str:
    return f".lamina/{Path(path).name}"


class RecordingSyscalls(Syscalls):
    """The vault's system calls, with every change of a folder or a file noted. Descriptors tell the folders."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._folders: dict[int, str] = {}
        self._contents: dict[int, str] = {}
        self._count = 0

    def _path(self, entry: FolderEntry) -> str:
        return f"{self._folders[entry.folder]}{entry.name}"

    def open_folder(self, path: str, folder: int | None = None) -> int:
        fd = super().open_folder(path, folder)
        self._folders[fd] = "" if folder is None else f"{self._folders[folder]}{path}/"
        return fd

    def open_new(self, entry: FolderEntry) -> int:
        fd = super().open_new(entry)
        self._count += 1
        self._contents[fd] = f"content {self._count}"
        self.trace.add("create", self._path(entry), self._contents[fd])
        return fd

    def write(self, fd: int, data: memoryview) -> int:
        written = super().write(fd, data)
        self.trace.add("append", self._contents[fd], data=bytes(data[:written]))
        return written

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        if fd in self._contents:
            self.trace.add("sync content", self._contents[fd])
        else:
            self.trace.add("sync folder", self._folders[fd])

    def close(self, fd: int) -> None:
        self._folders.pop(fd, None)
        self._contents.pop(fd, None)
        super().close(fd)

    def mkdir(self, entry: FolderEntry) -> None:
        super().mkdir(entry)
        self.trace.add("mkdir", self._path(entry))

    def rmdir(self, entry: FolderEntry) -> None:
        super().rmdir(entry)
        self.trace.add("rmdir", self._path(entry))

    def unlink(self, entry: FolderEntry) -> None:
        super().unlink(entry)
        self.trace.add("unlink", self._path(entry))

    def link(self, old: FolderEntry, new: FolderEntry) -> None:
        super().link(old, new)
        self.trace.add("link", self._path(old), self._path(new))

    def rename(self, old: FolderEntry, new: FolderEntry) -> None:
        super().rename(old, new)
        self.trace.add("rename", self._path(old), self._path(new))

    def rename_new(self, old: FolderEntry, new: FolderEntry) -> None:
        super().rename_new(old, new)
        self.trace.add("rename", self._path(old), self._path(new))

    def exchange(self, one: FolderEntry, other: FolderEntry) -> None:
        super().exchange(one, other)
        self.trace.add("exchange", self._path(one), self._path(other))


def save_durably(root: Path, path: str, data: bytes, trace: Trace) -> None:
    """Save a file as a careful editor does: a new file, synced, renamed into place, and the folder synced."""
    draft = (root / path).with_name(".editor")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(root / path)
    trace.add("person", path, data=data)
