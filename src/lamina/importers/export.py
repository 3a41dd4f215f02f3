"""Find and read the conversations in the export of a chat program: a zip, a folder, or one JSON file."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from lamina.capture.pieces import TURN_LIMIT, Piece
from lamina.capture.pieces.piece import cut_turn
from lamina.errors import InvalidInput
from lamina.importers.documents.decode import holdable
from lamina.importers.item import ImportedConversation, Problem, Skipped, Step, marks_of
from lamina.importers.json_array import elements
from lamina.text.normal import one_line
from lamina.text.times import to_utc

_FILE = re.compile(r"(?:.*/)?conversations(?:[-_]\d+)?\.json", re.IGNORECASE)
_DAMAGED = (OSError, ValueError, RuntimeError, NotImplementedError, EOFError, zipfile.BadZipFile, zlib.error)
_LONGEST_ID, _LONGEST_TITLE = 80, 200

Told = Callable[[Mapping[str, Any]], ImportedConversation]


@dataclass(frozen=True, slots=True)
class Export:
    """The conversations of an export, in the order of its files."""

    path: Path
    members: tuple[str, ...]

    @classmethod
    def at(cls, path: Path) -> Export | None:
        """Return the export at a path, or None if there is none."""
        if path.is_dir():
            members = [file.name for file in path.iterdir() if _FILE.fullmatch(file.name) and file.is_file()]
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                members = [name for name in archive.namelist() if _FILE.fullmatch(name) and name.count("/") < 2]
        else:
            members = [path.name] if path.suffix.lower() == ".json" else []
        return cls(path, tuple(sorted(members))) if members else None

    def first(self) -> object:
        """Return the first conversation, to detect the program; a problem if none can be read."""
        value = next(self.values(), None)
        return value if not isinstance(value, Problem) else next((v for v in self.values() if v != value), value)

    def total(self) -> int:
        """Return how many conversations there are."""
        return sum(1 for _ in self.values())

    def values(self) -> Iterator[object]:
        """Yield each conversation as parsed JSON; a problem where a file cannot be read further."""
        for member in self.members:
            try:
                with self._open(member) as stream:
                    yield from elements(stream)
            except _DAMAGED as error:
                yield Problem(member, one_line(str(error)))

    def steps(self, told: Told) -> Iterator[Step]:
        """Yield each conversation as `parse` returns it; one of another format is a problem, and the rest continue."""
        for n, value in enumerate(self.values(), 1):
            if isinstance(value, Problem):
                yield value
                continue
            place = f"{self.path.name} #{n}"
            if not isinstance(value, dict):
                yield Problem(place, "it is not a conversation")
                continue
            title = value.get("title") or value.get("name")
            place = f"{place} {one_line(title)[:60]}" if isinstance(title, str) else place
            try:
                item = told(value)
            except (InvalidInput, TypeError, KeyError, AttributeError, ValueError) as error:
                yield Problem(place, f"unknown format: {one_line(str(error))}")
                continue
            yield item if item.pieces else Skipped(place, "it has no messages")

    @contextmanager
    def _open(self, member: str) -> Iterator[TextIO]:
        if self.path.is_dir() or not zipfile.is_zipfile(self.path):
            file = self.path / member if self.path.is_dir() else self.path
            with file.open(encoding="utf-8", errors="replace") as stream:
                yield stream
            return
        with zipfile.ZipFile(self.path) as archive, archive.open(member) as packed:
            yield io.TextIOWrapper(packed, encoding="utf-8", errors="replace")


def conversation(
    source: str, own_id: object, title: object, began: datetime | None, pieces: list[Piece], path: str
) -> ImportedConversation:
    """Return a conversation with its session and source ids; InvalidInput if it has no id."""
    if not isinstance(own_id, str) or not own_id.strip():
        raise InvalidInput("it has no id")
    own_id = one_line(own_id)[:_LONGEST_ID]
    name = one_line(holdable(title))[:_LONGEST_TITLE] if isinstance(title, str) else ""
    marks = marks_of(f"{source}:{own_id}", pieces)
    return ImportedConversation(
        title=name,
        session_id=f"{source}-{own_id}",
        source_id=f"{source}:{own_id}",
        observed_at=began or next((piece.at for piece in pieces if piece.at), None),
        pieces=tuple(pieces),
        marks=marks,
        path=path,
        content_hash=marks[-1] if marks else "",
    )


def turn(speaker: str, text: str, at: datetime | None, context: str = "") -> list[Piece]:
    """Split a turn into as few pieces as segments allow."""
    words = holdable(text).strip("\n")
    return [Piece(part, speaker, at, context) for part in cut_turn(words, TURN_LIMIT)]


def moment_of(seconds: object) -> datetime | None:
    """Return the moment of a number of seconds since 1970; None if it is not a valid number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return to_utc(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None
