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

MAX_TRIES = 5
_EMPTY_FILE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*\})?\s*")
_HOST_FOLDERS = frozenset({"lamina-memory", "skills", ".claude", ".cursor", ".vscode", ".codex"})
"""Folders that may exist only because of our files, and are removed when empty."""


class EditResult(StrEnum):
    """A result of editing a file."""

    ADDED = "added"
    UPDATED = "updated"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class HostFileEdit:
    """An edited file, what was done, and its backup if there is one."""

    path: Path
    result: EditResult
    backup: Path | None = None


def edit_file(
    path: Path,
    change: Callable[[str], str],
    now: datetime,
    *,
    has_secret: bool = False,
    write: bool = True,
    is_removal: bool = False,
    known_contents: Collection[str] = (),
) -> HostFileEdit:
    """Change a file, or with `write=False` report what would happen. `has_secret` makes it readable by its owner only.

    A file that becomes empty is deleted, unless it is a link. Contents in `known_contents` get no backup.
    `is_removal` says that something is removed. InvalidInput if the file cannot be parsed or is write-protected,
    StoreBusy if it keeps changing; the file is then unchanged.
    """
    is_link, path = path.is_symlink(), _resolve_links(path)
    for _ in range(MAX_TRIES):
        before = _read_bytes(path)
        after = _apply_change(path, before, change)
        if after == (before or b""):
            return HostFileEdit(path, EditResult.UNCHANGED)
        _require_writable(path, before)
        is_empty = _EMPTY_FILE.fullmatch(after) is not None
        done = (
            EditResult.REMOVED if is_removal or is_empty else EditResult.ADDED if before is None else EditResult.UPDATED
        )
        if not write:
            return HostFileEdit(path, done)
        needs_no_backup = before in [content.encode() for content in known_contents]
        backup = None if before is None or needs_no_backup else _write_backup(path, before, now)
        if _replace_content(path, before, None if is_empty and not is_link else after, has_secret=has_secret):
            return HostFileEdit(path, done, backup)
        if backup is not None:
            backup.unlink()
    raise StoreBusy(f"{path} keeps being changed by another program; close that program and try again")


def _resolve_links(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:
        raise InvalidInput(f"{path} is a symbolic link that points to itself; remove the link and try again") from error


def _require_writable(path: Path, before: bytes | None) -> None:
    if before is not None and not path.stat().st_mode & stat.S_IWUSR:
        raise InvalidInput(
            f"{path} is write-protected and was not changed; leave --write out and paste what is printed"
        )


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _apply_change(path: Path, before: bytes | None, change: Callable[[str], str]) -> bytes:
    try:
        return change((before or b"").decode()).encode()
    except (InvalidInput, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} was not changed: {error}. Correct it and try again, or leave --write out and paste what is printed"
        ) from error


def _write_backup(path: Path, before: bytes, now: datetime) -> Path:
    stem = f"{path.name}.{now:%Y%m%d-%H%M%S}"
    for n in range(100):
        backup = path.with_name(f"{stem}{f'-{n}' if n else ''}.backup")
        try:
            _write_new_file(backup, before, stat.S_IMODE(path.stat().st_mode))
        except FileExistsError:
            continue
        return backup
    raise StoreBusy(f"there are too many backups of {path.name}; delete old ones and try again")


def _replace_content(path: Path, before: bytes | None, after: bytes | None, *, has_secret: bool) -> bool:
    """Replace the content, or delete the file if it is None; False if another program changed the file meanwhile."""
    if after is None:
        return _delete_file(path, before)
    mode = stat.S_IMODE(path.stat().st_mode) if before is not None else 0o600 if has_secret else 0o644
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        _write_new_file(temporary, after, mode & 0o600 if has_secret else mode)
        if _read_bytes(path) != before:
            return False
        temporary.replace(path)
        return True
    finally:
        temporary.unlink(missing_ok=True)


def _delete_file(path: Path, before: bytes | None) -> bool:
    """Delete the file and the host folders that are empty without it; False if the file changed meanwhile."""
    if _read_bytes(path) != before:
        return False
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder.name not in _HOST_FOLDERS:
            break
        try:
            folder.rmdir()
        except OSError:
            break  # the folder is not empty
    return True


def _write_new_file(path: Path, data: bytes, mode: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
