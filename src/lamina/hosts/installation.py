"""Adds our parts to a host's files, or removes them, file by file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from lamina.errors import InvalidInput
from lamina.hosts.config_edit import HostFileEdit, edit_file
from lamina.hosts.config_parts import ConfigPart

MCP_PATH = "/mcp"


def add_parts(parts: Sequence[ConfigPart], now: datetime, *, write: bool = True) -> list[HostFileEdit]:
    """Add every part to its file, or none if one file cannot be changed; `write=False` only reports the result."""

    def edit_each(*, write: bool) -> list[HostFileEdit]:
        return [
            edit_file(
                file,
                _combine_changes(part.add for part in file_parts),
                now,
                has_secret=any(part.has_secret for part in file_parts),
                write=write,
            )
            for file, file_parts in _group_by_file(parts)
        ]

    planned = edit_each(write=False)
    return edit_each(write=True) if write else planned


def remove_parts(parts: Sequence[ConfigPart], now: datetime, *, write: bool = True) -> list[HostFileEdit]:
    """Remove every part from its file; other content stays."""
    return [
        edit_file(
            file,
            _combine_changes(part.remove for part in file_parts),
            now,
            write=write,
            is_removal=True,
            known_contents=[*_partial_contents(file_parts)],
        )
        for file, file_parts in _group_by_file(parts)
    ]


def find_program(
    executable: str, is_executable: Callable[[str], bool] = lambda path: os.access(path, os.X_OK)
) -> tuple[str, ...]:
    """Return the command that starts this installation of lamina from any folder."""
    script = str(Path(executable).absolute().with_name("lamina.exe" if sys.platform == "win32" else "lamina"))
    return (script,) if is_executable(script) else (executable, "-m", "lamina")


def parse_mcp_url(url: str) -> str:
    """Return the MCP address of a server, adding the path if it is missing; InvalidInput if it is not a URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise InvalidInput(f"{url!r} is not a server address; write it like http://127.0.0.1:8377")
    return url if parts.path.rstrip("/") else f"{url.rstrip('/')}{MCP_PATH}"


def _partial_contents(parts: Iterable[ConfigPart]) -> Iterator[str]:
    """Yield the contents of a file with only the first part, then with the first two, and so on."""
    text = ""
    for part in parts:
        text = part.add(text)
        yield text


def _group_by_file(parts: Iterable[ConfigPart]) -> list[tuple[Path, list[ConfigPart]]]:
    files: dict[Path, list[ConfigPart]] = {}
    for part in parts:
        files.setdefault(part.file, []).append(part)
    return list(files.items())


def _combine_changes(changes: Iterable[Callable[[str], str]]) -> Callable[[str], str]:
    all_changes = tuple(changes)

    def change(text: str) -> str:
        for apply in all_changes:
            text = apply(text)
        return text

    return change
