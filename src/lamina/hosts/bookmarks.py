"""How far each session was captured, and which turns were: nothing is captured twice, in whatever file it stands."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from lamina.hosts.hook_place import HookPlace
from lamina.hosts.transcript import Position

NAME = 8
"""Bytes of a turn's name."""
MOST = 65_536
"""Turns remembered by name; beyond them a copied transcript is known by its words alone, in the store."""


class Bookmarks:
    """The position in one session's transcript, and the names of turns captured lately from any."""

    def __init__(self, place: HookPlace, session: str) -> None:
        self._mark, self._names = place.file(session, "json"), place.file("captured", "names")

    def position(self) -> Position:
        try:
            told = json.loads(self._mark.read_text(encoding="utf-8"))
            return Position(int(told["offset"]), str(told["before"]))
        except (OSError, ValueError, KeyError, TypeError):
            return Position()

    def keep(self, position: Position) -> None:
        _write(self._mark, json.dumps({"offset": position.offset, "before": position.before}).encode())

    def known(self) -> set[bytes]:
        try:
            told = self._names.read_bytes()
        except FileNotFoundError:
            return set()
        return {told[at : at + NAME] for at in range(0, len(told) - NAME + 1, NAME)}

    def add(self, names: Iterable[bytes]) -> None:
        told = b""
        with contextlib.suppress(FileNotFoundError):
            told = self._names.read_bytes()
        whole = told[: len(told) - len(told) % NAME] + b"".join(names)
        _write(self._names, whole[-MOST * NAME :])


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    beside = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
