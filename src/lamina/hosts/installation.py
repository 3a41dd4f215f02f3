"""Adds our parts to a host's files, or removes them, file by file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from lamina.errors import InvalidInput
from lamina.hosts.edit import Edited, edit
from lamina.hosts.parts import Part

MCP = "/mcp"


def put_in(parts: Sequence[Part], now: datetime, *, write: bool = True) -> list[Edited]:
    """Add every part to its file, or none if one file cannot be changed; `write=False` only reports the result."""

    def edit_each(*, write: bool) -> list[Edited]:
        return [
            edit(
                file,
                _every(part.put for part in file_parts),
                now,
                secret=any(part.secret for part in file_parts),
                write=write,
            )
            for file, file_parts in _by_file(parts)
        ]

    planned = edit_each(write=False)
    return edit_each(write=True) if write else planned


def take_out(parts: Sequence[Part], now: datetime, *, write: bool = True) -> list[Edited]:
    """Remove every part from its file; other content stays."""
    return [
        edit(file, _every(part.take for part in file_parts), now, write=write, taking=True, known=[*_alone(file_parts)])
        for file, file_parts in _by_file(parts)
    ]


def program(executable: str, found: Callable[[str], bool] = lambda path: os.access(path, os.X_OK)) -> tuple[str, ...]:
    """Return the command that starts this installation of lamina from any folder."""
    script = str(Path(executable).absolute().with_name("lamina.exe" if sys.platform == "win32" else "lamina"))
    return (script,) if found(script) else (executable, "-m", "lamina")


def address(given: str) -> str:
    """Return the MCP address of a server, adding the path if it is missing; InvalidInput if it is not a URL."""
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise InvalidInput(f"{given!r} is not a server address; write it like http://127.0.0.1:8377")
    return given if parts.path.rstrip("/") else f"{given.rstrip('/')}{MCP}"


def _alone(parts: Iterable[Part]) -> Iterator[str]:
    """Yield the contents of a file with only the first part, then with the first two, and so on."""
    text = ""
    for part in parts:
        text = part.put(text)
        yield text


def _by_file(parts: Iterable[Part]) -> list[tuple[Path, list[Part]]]:
    files: dict[Path, list[Part]] = {}
    for part in parts:
        files.setdefault(part.file, []).append(part)
    return list(files.items())


def _every(changes: Iterable[Callable[[str], str]]) -> Callable[[str], str]:
    all_changes = tuple(changes)

    def change(text: str) -> str:
        for apply in all_changes:
            text = apply(text)
        return text

    return change
