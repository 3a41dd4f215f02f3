"""Two file layers whose nth operation fails: the vault's system calls, and SQLite's own files."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from functools import partial
from typing import Any

import apsw

from lamina.vault.syscalls import Syscalls

KINDS = ("EIO", "ENOSPC", "EACCES", "short")
"""What may go wrong. `KILL` beside these ends the process before, within or after the operation."""

READING = frozenset(
    {
        "open_folder",
        "open_read",
        "read",
        "fstat",
        "stat",
        "entries",
        "entry_stat",
        "close",
        "xRead",
        "xFileSize",
        "xAccess",
        "xLock",
        "xFullPathname",
    }
)
"""Operations that change nothing on the disk; all others are tried without exception."""

_CODES = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EACCES": errno.EACCES}


class Fault:
    """Counts operations while it is armed, and says of each whether it shall fail. Every operation is noted."""

    def __init__(self) -> None:
        self.kind, self.persistent, self.nth, self.armed = "EIO", False, 0, False
        self.only: frozenset[str] | None = None
        self.count, self.names, self.hit = 0, list[str](), ""

    def arm(self, nth: int, kind: str, *, persistent: bool, only: frozenset[str] | None = None) -> None:
        self.kind, self.persistent, self.nth, self.armed, self.only = kind, persistent, nth, True, only
        self.count, self.names, self.hit = 0, [], ""

    def disarm(self) -> None:
        self.armed = False

    def due(self, name: str) -> bool:
        if not self.armed:
            return False
        self.names.append(name)
        if self.only is not None and name not in self.only:
            return False
        self.count += 1
        due = self.count == self.nth or (self.persistent and self.count > self.nth > 0)
        if due and not self.hit:
            self.hit = name
        return due


def end_process() -> None:
    """As by `kill -9`: nothing is flushed, closed or unlocked by the program."""
    os.kill(os.getpid(), signal.SIGKILL)


class FaultySyscalls(Syscalls):
    """The vault's system calls with a fault among them."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault

    def _call(self, name: str, real: Callable[..., Any], initial: tuple[Any, ...]) -> Any:
        if not self.fault.due(name):
            return real(*initial)
        if self.fault.kind == "KILL":
            if name == "write" and self.fault.nth % 3 == 0:
                real(initial[0], initial[1][: len(initial[1]) // 2])
            elif self.fault.nth % 3 == 1:
                real(*initial)
            end_process()
        if self.fault.kind == "short":
            if name == "write" and len(initial[1]) > 1:
                return real(initial[0], initial[1][: len(initial[1]) // 2])
            if name == "read":
                return real(initial[0], max(1, initial[1] // 2))
        if name == "close":
            real(*initial)
        code = _CODES.get(self.fault.kind, errno.EIO)
        raise OSError(code, os.strerror(code))


def _wrapped(name: str) -> Callable[..., Any]:
    real = getattr(Syscalls, name)

    def method(self: FaultySyscalls, *initial: Any) -> Any:
        return self._call(name, partial(real, self), initial)

    return method


for _name in [name for name in vars(Syscalls) if not name.startswith("_")]:
    setattr(FaultySyscalls, _name, _wrapped(_name))


class FaultyVFS(apsw.VFS):
    """SQLite's view of the disk with a fault in it. Shared memory is left alone."""

    def __init__(self, name: str, fault: Fault) -> None:
        self.fault, self.vfs_name = fault, name
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if self.fault.due("xOpen"):
            raise _error(self.fault.kind, apsw.CantOpenError, apsw.SQLITE_CANTOPEN)
        return _FaultyFile(name, flags, self.fault)

    def excepthook(self, *result: object) -> bool:
        """Faults that SQLite cannot hand on, such as a second one while it takes back a first, are no news."""
        return True

    def xDelete(self, filename: str, syncdir: bool) -> None:
        if self.fault.due("xDelete"):
            raise _error(self.fault.kind, apsw.IOError, apsw.SQLITE_IOERR_DELETE)
        super().xDelete(filename, syncdir)

    def xAccess(self, pathname: str, flags: int) -> bool:
        if self.fault.due("xAccess"):
            raise _error(self.fault.kind, apsw.IOError, apsw.SQLITE_IOERR_ACCESS)
        return super().xAccess(pathname, flags)


class _FaultyFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], fault: Fault) -> None:
        self._fault = fault
        super().__init__("", name, flags)

    def excepthook(self, *result: object) -> bool:
        """As for the folder."""
        return True

    def _io_error(self, extended: int) -> apsw.Error:
        return _error("KILL" if self._fault.kind == "KILL" else "EIO", apsw.IOError, extended)

    def xRead(self, amount: int, offset: int) -> bytes:
        if self._fault.due("xRead"):
            # A short read in the middle of a file counts as zeros for SQLite: a disk that lies, which is no fault here.
            raise self._io_error(apsw.SQLITE_IOERR_READ)
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:
        if self._fault.due("xWrite"):
            if self._fault.kind in ("short", "KILL"):
                super().xWrite(bytes(data)[: len(data) // 2], offset)
            raise _error(self._fault.kind, apsw.IOError, apsw.SQLITE_IOERR_WRITE)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if self._fault.due("xSync"):
            raise self._io_error(apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        if self._fault.due("xTruncate"):
            raise _error(self._fault.kind, apsw.IOError, apsw.SQLITE_IOERR_TRUNCATE)
        super().xTruncate(newsize)

    def xFileSize(self) -> int:
        if self._fault.due("xFileSize"):
            raise _error(self._fault.kind, apsw.IOError, apsw.SQLITE_IOERR_FSTAT)
        return super().xFileSize()

    def xLock(self, level: int) -> None:
        if self._fault.due("xLock"):
            raise self._io_error(apsw.SQLITE_IOERR_LOCK)
        super().xLock(level)


def _error(kind: str, otherwise: type[apsw.Error], extended: int) -> apsw.Error:
    if kind == "KILL":
        end_process()
    match kind:
        case "ENOSPC":
            return _with_code(apsw.FullError("injected"), apsw.SQLITE_FULL)
        case "EACCES" if otherwise is apsw.IOError and extended == apsw.SQLITE_IOERR_WRITE:
            return _with_code(apsw.ReadOnlyError("injected"), apsw.SQLITE_READONLY)
        case _:
            return _with_code(otherwise("injected"), extended)


def _with_code(error: apsw.Error, extended: int) -> apsw.Error:
    vars(error).update(result=extended & 0xFF, extendedresult=extended)
    return error
