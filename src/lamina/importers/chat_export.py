"""Find and read the conversations in the export of a chat program: a zip, a folder, or one JSON file."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from lamina.capture.pieces import TURN_LIMIT, TextPiece
from lamina.capture.pieces.piece import split_turn
from lamina.errors import InvalidInput
from lamina.importers.documents.parsed_document import unpacks_too_large
from lamina.importers.documents.regular_file import is_regular_file
from lamina.importers.documents.text_decoding import storable_text
from lamina.importers.import_items import ImportedConversation, ImportProblem, ImportStep, SkippedItem, prefix_hashes
from lamina.text.normal_form import one_line
from lamina.text.timestamps import to_utc

CHUNK = 1 << 20
LONGEST = 64 << 20
"""Characters of the longest element."""

_GAP = re.compile(r"[\s,]*")


def iter_elements(stream: TextIO, chunk: int = CHUNK) -> Iterator[object]:
    """Yield the elements of the array in a stream, or the one value it holds; ValueError where it is not valid JSON."""
    decoder = json.JSONDecoder()
    text, at = stream.read(chunk).removeprefix("\ufeff"), 0
    at = _skip_gap(text, at)
    array = text.startswith("[", at)
    at += array
    while True:
        at = _skip_gap(text, at)
        if at < len(text) and text[at] == "]" and array:
            return
        try:
            if at == len(text):
                raise json.JSONDecodeError("it ends too early", text[-20:], 0)
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            more = stream.read(max(chunk, len(text) - at)) if len(text) - at <= LONGEST else ""
            if not more or isinstance(error, RecursionError):
                raise ValueError(f"it is not valid JSON: {error.args[0]}") from error
            text, at = text[at:] + more, 0
            continue
        yield value
        if not array:
            return


def _skip_gap(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    return match.end() if match else at


_CONVERSATIONS_FILE = re.compile(r"(?:.*/)?conversations(?:[-_]\d+)?\.json", re.IGNORECASE)
_DAMAGED_FILE_ERRORS = (OSError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error)
_MAX_ID_LENGTH, _MAX_TITLE_LENGTH = 80, 200


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """The format of a chat program: `recognizes` a parsed conversation, and `parse` reads it, with the file's name."""

    name: str
    recognizes: Callable[[object], bool]
    parse: Callable[[Mapping[str, Any], str], ImportedConversation]


@dataclass(frozen=True, slots=True)
class ChatExport:
    """The conversations of an export, in the order of its files."""

    path: Path
    members: tuple[str, ...]
    chat_format: ChatFormat

    @classmethod
    def from_path(cls, path: Path, chat_formats: Sequence[ChatFormat]) -> ChatExport | None:
        """Return the export at a path, or None if it has none of the formats."""
        members = find_conversation_files(path)
        if not members:
            return None
        first = _first_value(path, members)
        chat_format = next((candidate for candidate in chat_formats if candidate.recognizes(first)), None)
        return cls(path, members, chat_format) if chat_format is not None else None

    @property
    def name(self) -> str:
        return self.chat_format.name

    def total(self) -> int:
        return sum(1 for _ in _read_values(self.path, self.members))

    def steps(self) -> Iterator[ImportStep]:
        """Yield each conversation; one of another format is a problem, and the rest continue."""
        for n, value in enumerate(_read_values(self.path, self.members), 1):
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
                item = self.chat_format.parse(value, self.path.name)
            except (InvalidInput, TypeError, KeyError, AttributeError, ValueError) as error:
                yield ImportProblem(place, f"unknown format: {one_line(str(error))}")
                continue
            yield item if item.pieces else SkippedItem(place, "it has no messages")


def describe_unreadable_chats(path: Path) -> str:
    """Return why no conversations can be read from a JSON file or archive; empty if there is no reason."""
    members = find_conversation_files(path)
    if not members:
        is_archive = path.is_file() and zipfile.is_zipfile(path)
        return "contains no conversations.json; unpack it and import the folder" if is_archive else ""
    first = _first_value(path, members)
    if first is None:
        return "contains no conversations"
    return f"cannot be read: {first.reason}" if isinstance(first, ImportProblem) else ""


def find_conversation_files(path: Path) -> tuple[str, ...]:
    """Return the files of a folder or archive that may contain conversations; a JSON file is one itself."""
    if path.is_dir():
        names = [file.name for file in path.iterdir() if is_regular_file(file)]
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.count("/") < 2]
    else:
        return (path.name,) if path.suffix.lower() == ".json" else ()
    return tuple(sorted(name for name in names if _CONVERSATIONS_FILE.fullmatch(name)))


def _first_value(path: Path, members: tuple[str, ...]) -> object:
    """Return the first conversation, to detect the program; a problem if none can be read."""
    first = None
    for value in _read_values(path, members):
        if not isinstance(value, ImportProblem):
            return value
        first = first or value
    return first


def _read_values(path: Path, members: tuple[str, ...]) -> Iterator[object]:
    """Yield each conversation as parsed JSON; a problem where a file cannot be read further."""
    for member in members:
        try:
            with _open_member(path, member) as stream:
                yield from iter_elements(stream)
        except _DAMAGED_FILE_ERRORS as error:
            yield ImportProblem(member, one_line(str(error)))


@contextmanager
def _open_member(path: Path, member: str) -> Iterator[TextIO]:
    if path.is_dir() or not zipfile.is_zipfile(path):
        with (path / member if path.is_dir() else path).open(encoding="utf-8", errors="replace") as stream:
            yield stream
        return
    with zipfile.ZipFile(path) as archive:
        part = archive.getinfo(member)
        if unpacks_too_large([part]):
            raise ValueError(f"it would unpack to {part.file_size >> 20} MB; not opened")
        with archive.open(part) as packed:
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
