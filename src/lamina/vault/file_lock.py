"""Locks between processes: files under `.lamina` that the system unlocks when their process ends."""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from lamina.errors import InvalidInput, StoreBusy
from lamina.vault.entry_files import has_inode
from lamina.vault.folder_tree import INTERNAL, FolderTree
from lamina.vault.syscalls import FolderEntry

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
