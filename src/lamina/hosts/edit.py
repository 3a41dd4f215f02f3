"""Edits a host's configuration file safely: a backup first, then the whole change or nothing."""

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
"""Folders that may exist only because of our files, and are removed when empty."""


class Done(StrEnum):
    """What an edit did to a file."""

    ADDED = "added"
    UPDATED = "updated"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Edited:
    """An edited file, what was done, and its backup if there is one."""

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
    """Change a file, or with `write=False` report what would happen. `has_secret` makes it readable by its owner only.

    A file that becomes empty is deleted, unless it is a link. Contents in `known_contents` get no backup.
    `is_removal` says that something is removed. InvalidInput if the file cannot be parsed or is write-protected,
    StoreBusy if it keeps changing; the file is then unchanged.
    """
    is_link, path = path.is_symlink(), _real(path)
    for _ in range(TRIES):
        before = _read(path)
        after = _changed(path, before, change)
        if after == (before or b""):
            return Edited(path, Done.UNCHANGED)
        _unprotected(path, before)
        is_empty = _NOTHING.fullmatch(after) is not None
        done = Done.REMOVED if taking or is_empty else Done.ADDED if before is None else Done.UPDATED
        if not write:
            return Edited(path, done)
        needs_no_backup = before in [content.encode() for content in known]
        backup = None if before is None or needs_no_backup else _keep_copy(path, before, now)
        if _replace(path, before, None if is_empty and not is_link else after, secret=secret):
            return Edited(path, done, backup)
        if backup is not None:
            backup.unlink()
    raise StoreBusy(f"{path} keeps being changed by another program; close that program and try again")


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:
        raise InvalidInput(f"{path} is a symbolic link that points to itself; remove the link and try again") from error


def _unprotected(path: Path, before: bytes | None) -> None:
    if before is not None and not path.stat().st_mode & stat.S_IWUSR:
        raise InvalidInput(
            f"{path} is write-protected and was not changed; leave --write out and paste what is printed"
        )


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
            f"{path} was not changed: {error}. Correct it and try again, or leave --write out and paste what is printed"
        ) from error


def _keep_copy(path: Path, before: bytes, now: datetime) -> Path:
    stem = f"{path.name}.{now:%Y%m%d-%H%M%S}"
    for n in range(100):
        backup = path.with_name(f"{stem}{f'-{n}' if n else ''}.backup")
        try:
            _write(backup, before, stat.S_IMODE(path.stat().st_mode))
        except FileExistsError:
            continue
        return backup
    raise StoreBusy(f"there are too many backups of {path.name}; delete old ones and try again")


def _replace(path: Path, before: bytes | None, after: bytes | None, *, secret: bool) -> bool:
    """Replace the content, or delete the file if it is None; False if another program changed the file meanwhile."""
    if after is None:
        return _delete(path, before)
    mode = stat.S_IMODE(path.stat().st_mode) if before is not None else 0o600 if secret else 0o644
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        _write(temporary, after, mode & 0o600 if secret else mode)
        if _read(path) != before:
            return False
        temporary.replace(path)
        return True
    finally:
        temporary.unlink(missing_ok=True)


def _delete(path: Path, before: bytes | None) -> bool:
    """Delete the file and the host folders that are empty without it; False if the file changed meanwhile."""
    if _read(path) != before:
        return False
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder.name not in _FOLDERS:
            break
        try:
            folder.rmdir()
        except OSError:
            break  # the folder is not empty
    return True


def _write(path: Path, data: bytes, mode: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
