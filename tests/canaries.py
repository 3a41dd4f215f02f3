"""Words that stand nowhere else, and a search for any piece of them in every byte of a folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

PIECE = 12
"""So many letters in a row are a trace."""


class Canaries:
    """Makes words of 24 letters that no stemmer shortens much, and finds what is left of them."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.made: list[str] = []

    def new(self) -> str:
        pairs = (self._random.choice("bdfgkmprtvz") + self._random.choice("aou") for _ in range(11))
        self.made.append("".join(pairs) + "zk")
        return self.made[-1]


def traces(folders: Iterable[Path], canaries: Iterable[str]) -> dict[str, set[str]]:
    """Which canaries, or twelve letters in a row of them, stand in which files, in UTF-8 or UTF-16, in any case."""
    pieces: dict[bytes, str] = {}
    for canary in canaries:
        for n in range(len(canary) - PIECE + 1):
            pieces[canary[n : n + PIECE].encode()] = canary
    fields: dict[str, set[str]] = {}
    for file in (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()):
        data = file.read_bytes().lower()
        for result in (data, data[::2], data[1::2], file.name.lower().encode()):
            for n in range(len(result) - PIECE + 1):
                if result[n : n + PIECE] in pieces:
                    fields.setdefault(pieces[result[n : n + PIECE]], set()).add(file.name)
    return fields
