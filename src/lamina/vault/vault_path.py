"""Paths of the vault: relative to its folder, with forward slashes."""

from __future__ import annotations

import re
from typing import NoReturn

from lamina.errors import InvalidInput

MAX_PATH_BYTES = 4000
_MAX_NAME_BYTES = 255
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


def split_path(path: str) -> list[str]:
    """Return the components of a path; InvalidInput if it leaves the vault or enters its hidden folders."""
    names = path.split("/")
    if _CONTROL.search(path) or _DRIVE.match(path):
        _refuse_path(path, "contains a character that is not allowed in file names")
    if any(not name or name.startswith(".") for name in names):
        _refuse_path(path, "is not a plain path below the vault")
    try:
        longest, whole = max(len(name.encode()) for name in names), len(path.encode())
    except UnicodeEncodeError:
        _refuse_path(path, "cannot be written as UTF-8")
    if longest > _MAX_NAME_BYTES or whole > MAX_PATH_BYTES:
        _refuse_path(path, "is too long")
    return names


def is_listed_name(name: str) -> bool:
    """Return whether a scan includes a name: it is not hidden, and it is UTF-8."""
    if name.startswith("."):
        return False
    return name.isascii() or not any("\ud800" <= char <= "\udfff" for char in name)


def _refuse_path(path: str, reason: str) -> NoReturn:
    raise InvalidInput(f"the path {path[:200]!r} {reason}; give one relative to the vault, such as 'notes/tea.md'")
