"""A file of a host's changed with care: a copy beside it first, then all of the change or nothing of it."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from lamina.errors import InvalidInput, StoreBusy

TRIES = 5
_NOTHING = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*\})?\s*")
_FOLDERS = frozenset({"lamina-memory", "skills", ".claude", ".cursor", ".vscode", ".codex"})
"""Folders that a host's files may have been the first to need."""


class Done(StrEnum):
    """What became of a file."""

    ADDED = "added"
    UPDATED = "updated"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Edited:
    """A file, what became of it, and where it stands as it was."""

    path: Path
    done: Done
    backup: Path | None = None


def edit(
    path: Path,
    change: Callable[[str], str],
    now: datetime,
    *,
    secret: bool = False,
    write: bool = True,
    taking: bool = False,
    known: Collection[str] = (),
) -> Edited:
    """Change a file, or tell what would become of it. A `secret` leaves it readable to its owner alone.

    One that is left without anything is deleted, unless a link leads there; no copy is kept of what is `known`. One
    that cannot be read, or that its owner has protected, is left alone. `taking` says that something is taken out.
    """
    linked, path = path.is_symlink(), _real(path)
    for _ in range(TRIES):
        before = _read(path)
        after = _changed(path, before, change)
        if after == (before or b""):
            return Edited(path, Done.UNCHANGED)
        _unprotected(path, before)
        empty = _NOTHING.fullmatch(after) is not None
        done = Done.REMOVED if taking or empty else Done.ADDED if before is None else Done.UPDATED
        if not write:
            return Edited(path, done)
        spared = before in [each.encode() for each in known]
        backup = None if before is None or spared else _keep_copy(path, before, now)
        if _replace(path, before, None if empty and not linked else after, secret=secret):
            return Edited(path, done, backup)
        if backup is not None:
            backup.unlink()
    raise StoreBusy(f"{path} is written by another program all the time; close it and try again")


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:
        raise InvalidInput(f"{path} is a link that leads round in a circle") from error


def _unprotected(path: Path, before: bytes | None) -> None:
    if before is not None and not path.stat().st_mode & stat.S_IWUSR:
        raise InvalidInput(f"{path} is write-protected and left as it is; leave --write out and paste what is printed")


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _changed(path: Path, before: bytes | None, change: Callable[[str], str]) -> bytes:
    try:
        return change((before or b"").decode()).encode()
    except (InvalidInput, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} is left as it is: {error}. Mend it and try again, or leave --write out and paste what is printed"
        ) from error


def _keep_copy(path: Path, before: bytes, now: datetime) -> Path:
    stem = f"{path.name}.{now:%Y%m%d-%H%M%S}"
    for n in range(100):
        beside = path.with_name(f"{stem}{f'-{n}' if n else ''}.backup")
        try:
            _write(beside, before, stat.S_IMODE(path.stat().st_mode))
        except FileExistsError:
            continue
        return beside
    raise StoreBusy(f"there are too many copies of {path.name}; delete old ones and try again")


def _replace(path: Path, before: bytes | None, after: bytes | None, *, secret: bool) -> bool:
    """Put the new content in the place of the old, or None; False where somebody else has changed it meanwhile."""
    if after is None:
        return _delete(path, before)
    mode = stat.S_IMODE(path.stat().st_mode) if before is not None else 0o600 if secret else 0o644
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        _write(beside, after, mode & 0o600 if secret else mode)
        if _read(path) != before:
            return False
        beside.replace(path)
        return True
    finally:
        beside.unlink(missing_ok=True)


def _delete(path: Path, before: bytes | None) -> bool:
    """Delete the file, and the folders of the host's that are empty without it."""
    if _read(path) != before:
        return False
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder.name not in _FOLDERS:
            break
        try:
            folder.rmdir()
        except OSError:
            break  # other things are in it
    return True


def _write(path: Path, data: bytes, mode: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
