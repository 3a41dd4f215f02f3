"""Parts put into a host's files or taken out again, file by file."""

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
    """Write every part into its file, or none where one of the files cannot be changed; or tell what would happen."""

    def each_file(*, write: bool) -> list[Edited]:
        return [
            edit(file, _every(each.put for each in own), now, secret=any(each.secret for each in own), write=write)
            for file, own in _by_file(parts)
        ]

    looked = each_file(write=False)
    return each_file(write=True) if write else looked


def take_out(parts: Sequence[Part], now: datetime, *, write: bool = True) -> list[Edited]:
    """Take every part out of its file; what else stands there stays."""
    return [
        edit(file, _every(each.take for each in own), now, write=write, taking=True, known=[*_alone(own)])
        for file, own in _by_file(parts)
    ]


def program(executable: str, found: Callable[[str], bool] = lambda path: os.access(path, os.X_OK)) -> tuple[str, ...]:
    """The command that starts this very installation, from wherever it is called."""
    beside = str(Path(executable).absolute().with_name("lamina.exe" if sys.platform == "win32" else "lamina"))
    return (beside,) if found(beside) else (executable, "-m", "lamina")


def address(given: str) -> str:
    """The address at which a served memory speaks MCP."""
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise InvalidInput(f"{given!r} is no address such as http://127.0.0.1:8377")
    return given if parts.path.rstrip("/") else f"{given.rstrip('/')}{MCP}"


def _alone(parts: Iterable[Part]) -> Iterator[str]:
    """What a file holds that has nothing but the first part, or the first two, and so on."""
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
    every = tuple(changes)

    def change(text: str) -> str:
        for each in every:
            text = each(text)
        return text

    return change
