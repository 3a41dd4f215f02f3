"""Remembers how far each session was captured, and which turns, so that no turn is captured twice."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from lamina.hosts.hook_place import HookPlace
from lamina.hosts.transcript import Position

NAME = 8
"""Bytes of a turn's digest."""
MOST = 65_536
"""Number of digests remembered; older turns of a copied transcript are recognised by the store alone."""


class Bookmarks:
    """The position in one session's transcript, and the digests of recently captured turns of all sessions."""

    def __init__(self, place: HookPlace, session: str) -> None:
        self._mark, self._names = place.file(session, "json"), place.file("captured", "names")

    def position(self) -> Position:
        """Return the saved position; the start if none can be read."""
        try:
            saved = json.loads(self._mark.read_text(encoding="utf-8"))
            return Position(int(saved["offset"]), str(saved["before"]))
        except (OSError, ValueError, KeyError, TypeError):
            return Position()

    def keep(self, position: Position) -> None:
        """Save the position up to which turns were captured."""
        _write(self._mark, json.dumps({"offset": position.offset, "before": position.before}).encode())

    def known(self) -> set[bytes]:
        """Return the digests of captured turns."""
        try:
            data = self._names.read_bytes()
        except FileNotFoundError:
            return set()
        return {data[at : at + NAME] for at in range(0, len(data) - NAME + 1, NAME)}

    def add(self, names: Iterable[bytes]) -> None:
        """Add digests of captured turns, dropping the oldest beyond the limit."""
        data = b""
        with contextlib.suppress(FileNotFoundError):
            data = self._names.read_bytes()
        all_digests = data[: len(data) - len(data) % NAME] + b"".join(names)
        _write(self._names, all_digests[-MOST * NAME :])


def _write(path: Path, data: bytes) -> None:
    """Write a file completely or not at all."""
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
