"""Reads text from an argument, a file or a pipe, plain or as JSON turns."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.cli.output import Json
from lamina.errors import InvalidInput, NotFound
from lamina.text.times import parse_time

if TYPE_CHECKING:
    from lamina.capture.pieces import Piece

_FILE_NAME = re.compile(r"\S+\.(?:md|txt|json|jsonl|log|csv|html|pdf|docx|pptx|xlsx)|\S*/\S+\.\w+")


_DOCUMENTS = frozenset({".pdf", ".docx", ".pptx", ".xlsx", ".xlsm", ".doc", ".ppt", ".xls", ".html", ".htm", ".xhtml"})


class NoFile(NotFound):
    """An argument that looks like a file name is not an existing file."""


def words_from(given: str | None) -> tuple[str, str | None]:
    """Return the text and the name of its file; without an argument or with `-` it is read from stdin.

    InvalidInput if there is nothing to read, InputFileNotFound if a file is missing.
    """
    if given is None or given == "-":
        if given is None and sys.stdin.isatty():
            raise InvalidInput("give a text, a file, or `-` to read from stdin")
        return _decoded(sys.stdin.buffer.read(), "stdin"), None
    file = Path(given).expanduser()
    if _is_file(file):
        return _decoded(file.read_bytes(), given), file.name
    if _FILE_NAME.fullmatch(given):
        raise NoFile(f"there is no file {given}")
    return given, None


@dataclass(frozen=True, slots=True)
class Opened:
    """The pieces of a document that is not plain text, with its file name."""

    name: str
    pieces: tuple[Piece, ...]


def document_from(given: str | None) -> Opened | None:
    """Return the document of a PDF, Office or HTML file; None for anything else."""
    file = Path(given).expanduser() if given and given != "-" else None
    if file is None or file.suffix.lower() not in _DOCUMENTS or not _is_file(file):
        return None
    from lamina.importers.documents import read_document

    return Opened(file.name, read_document(file).pieces)


def turns_from(text: str) -> list[dict[str, Json]]:
    """Return turns {speaker|role, content, at} from a JSON list or JSON lines; InvalidInput if they are malformed."""
    if text.lstrip().startswith("["):
        turns = _loaded(text, "the list of turns")
    else:
        turns = [_loaded(line, f"line {n}") for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise InvalidInput(
            'turns must be objects like {"speaker": "Ann", "content": "Hello.", "at": "2026-11-15T09:00Z"}'
        )
    return turns


def moment(text: str | None, *, end: bool = False) -> datetime | None:
    """Parse an ISO 8601 time, UTC unless it has a zone; with `end`, a date means the end of that day."""
    if text is None:
        return None
    try:
        return parse_time(text, end=end)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is not a time; write 2026-11-15 or 2026-11-15T09:00Z") from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 text (byte {error.start})") from error


def _loaded(text: str, name: str) -> Json:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{name} is not JSON: {error}") from error
