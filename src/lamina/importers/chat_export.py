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

from lamina.capture.pieces import TURN_LIMIT, TextPiece
from lamina.capture.pieces.piece import split_turn
from lamina.errors import InvalidInput
from lamina.importers.documents.text_decoding import storable_text
from lamina.importers.import_items import ImportedConversation, ImportProblem, ImportStep, SkippedItem, prefix_hashes
from lamina.importers.json_array import iter_elements
from lamina.text.normal_form import one_line
from lamina.text.timestamps import to_utc

_CONVERSATIONS_FILE = re.compile(r"(?:.*/)?conversations(?:[-_]\d+)?\.json", re.IGNORECASE)
_DAMAGED_FILE_ERRORS = (
    OSError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
)
_MAX_ID_LENGTH, _MAX_TITLE_LENGTH = 80, 200

ConversationParser = Callable[[Mapping[str, Any]], ImportedConversation]


@dataclass(frozen=True, slots=True)
class ChatExport:
    """The conversations of an export, in the order of its files."""

    path: Path
    members: tuple[str, ...]

    @classmethod
    def from_path(cls, path: Path) -> ChatExport | None:
        """Return the export at a path, or None if there is none."""
        if path.is_dir():
            members = [
                file.name for file in path.iterdir() if _CONVERSATIONS_FILE.fullmatch(file.name) and file.is_file()
            ]
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                members = [
                    name for name in archive.namelist() if _CONVERSATIONS_FILE.fullmatch(name) and name.count("/") < 2
                ]
        else:
            members = [path.name] if path.suffix.lower() == ".json" else []
        return cls(path, tuple(sorted(members))) if members else None

    def first_value(self) -> object:
        """Return the first conversation, to detect the program; a problem if none can be read."""
        value = next(self.values(), None)
        return value if not isinstance(value, ImportProblem) else next((v for v in self.values() if v != value), value)

    def total(self) -> int:
        """Return how many conversations there are."""
        return sum(1 for _ in self.values())

    def values(self) -> Iterator[object]:
        """Yield each conversation as parsed JSON; a problem where a file cannot be read further."""
        for member in self.members:
            try:
                with self._open_member(member) as stream:
                    yield from iter_elements(stream)
            except _DAMAGED_FILE_ERRORS as error:
                yield ImportProblem(member, one_line(str(error)))

    def steps(self, parse: ConversationParser) -> Iterator[ImportStep]:
        """Yield each conversation as `parse` returns it; one of another format is a problem, and the rest continue."""
        for n, value in enumerate(self.values(), 1):
            if isinstance(value, ImportProblem):
                yield value
                continue
            place = f"{self.path.name} #{n}"
            if not isinstance(value, dict):
                yield ImportProblem(place, "it is not a conversation")
                continue
            title = value.get("title") or value.get("name")
            place = f"{place} {one_line(title)[:60]}" if isinstance(title, str) else place
            try:
                item = parse(value)
            except (InvalidInput, TypeError, KeyError, AttributeError, ValueError) as error:
                yield ImportProblem(place, f"unknown format: {one_line(str(error))}")
                continue
            yield item if item.pieces else SkippedItem(place, "it has no messages")

    @contextmanager
    def _open_member(self, member: str) -> Iterator[TextIO]:
        if self.path.is_dir() or not zipfile.is_zipfile(self.path):
            file = self.path / member if self.path.is_dir() else self.path
            with file.open(encoding="utf-8", errors="replace") as stream:
                yield stream
            return
        with zipfile.ZipFile(self.path) as archive, archive.open(member) as packed:
            yield io.TextIOWrapper(packed, encoding="utf-8", errors="replace")


def imported_conversation(
    source: str, foreign_id: object, title: object, began: datetime | None, pieces: list[TextPiece], path: str
) -> ImportedConversation:
    """Return a conversation with its session and source ids; InvalidInput if it has no id."""
    if not isinstance(foreign_id, str) or not foreign_id.strip():
        raise InvalidInput("it has no id")
    foreign_id = one_line(foreign_id)[:_MAX_ID_LENGTH]
    name = one_line(storable_text(title))[:_MAX_TITLE_LENGTH] if isinstance(title, str) else ""
    marks = prefix_hashes(f"{source}:{foreign_id}", pieces)
    return ImportedConversation(
        title=name,
        session_id=f"{source}-{foreign_id}",
        source_id=f"{source}:{foreign_id}",
        observed_at=began or next((piece.at for piece in pieces if piece.at), None),
        pieces=tuple(pieces),
        prefix_hashes=marks,
        path=path,
        content_hash=marks[-1] if marks else "",
    )


def turn_pieces(speaker: str, text: str, at: datetime | None, context: str = "") -> list[TextPiece]:
    """Split a turn into as few pieces as segments allow."""
    words = storable_text(text).strip("\n")
    return [TextPiece(part, speaker, at, context) for part in split_turn(words, TURN_LIMIT)]


def moment_from_seconds(seconds: object) -> datetime | None:
    """Return the moment of a number of seconds since 1970; None if it is not a valid number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return to_utc(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None
