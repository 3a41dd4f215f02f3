"""Reads texts, turns and times from arguments, files or a pipe."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from lamina.atom.metadata import MetadataScalar, MetadataValue, parse_value
from lamina.cli.output import Json
from lamina.errors import InvalidInput, NotFound
from lamina.text.timestamps import parse_time, to_utc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.capture.pieces import TextPiece

_FILE_NAME_PATTERN = re.compile(r"\S+\.(?:md|txt|json|jsonl|log|csv|html|pdf|docx|pptx|xlsx)|\S*/\S+\.\w+")
_AGO = re.compile(r"(\d{1,6}) ?([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

_DOCUMENT_SUFFIXES = frozenset(
    {".pdf", ".docx", ".pptx", ".xlsx", ".xlsm", ".doc", ".ppt", ".xls", ".html", ".htm", ".xhtml"}
)


class InputFileNotFound(NotFound):
    """An argument that looks like a file name is not an existing file."""


def read_text_argument(argument: str | None) -> tuple[str, str | None]:
    """Return the text and the name of its file; without an argument or with `-` it is read from stdin.

    InvalidInput if there is nothing to read, InputFileNotFound if a file is missing.
    """
    if argument is None or argument == "-":
        if argument is None and sys.stdin.isatty():
            raise InvalidInput("give a text, a file, or `-` to read from stdin")
        return _decode_utf8(sys.stdin.buffer.read(), "stdin"), None
    file = Path(argument).expanduser()
    if _is_file(file):
        return _decode_utf8(file.read_bytes(), argument), file.name
    if _FILE_NAME_PATTERN.fullmatch(argument):
        raise InputFileNotFound(f"there is no file {argument}")
    return argument, None


@dataclass(frozen=True, slots=True)
class InputDocument:
    """The pieces of a document that is not plain text, with its file name."""

    name: str
    pieces: tuple[TextPiece, ...]


def read_document_argument(argument: str | None) -> InputDocument | None:
    """Return the document of a PDF, Office or HTML file; None for anything else."""
    file = Path(argument).expanduser() if argument and argument != "-" else None
    if file is None or file.suffix.lower() not in _DOCUMENT_SUFFIXES or not _is_file(file):
        return None
    from lamina.importers.documents import read_document

    return InputDocument(file.name, read_document(file).pieces)


def parse_json_turns(text: str) -> list[dict[str, Json]]:
    """Return turns {speaker|role, content, at} from a JSON list or JSON lines; InvalidInput if they are malformed."""
    if text.lstrip().startswith("["):
        turns = _parse_json(text, "the list of turns")
    else:
        turns = [_parse_json(line, f"line {n}") for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise InvalidInput(
            'turns must be objects like {"speaker": "Ann", "content": "Hello.", "at": "2026-11-15T09:00Z"}'
        )
    return turns


def parse_time_option(text: str | None, *, end: bool = False) -> datetime | None:
    """Parse an ISO 8601 time, UTC unless it has a zone; with `end`, a date means the end of that day."""
    if text is None:
        return None
    try:
        return parse_time(text, end=end)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is not a time; write 2026-11-15 or 2026-11-15T09:00Z") from error


def parse_metadata_options(options: Sequence[str] | None) -> dict[str, MetadataValue] | None:
    """Return metadata from KEY=VALUE options, a key that is repeated as a list; None if there are no options."""
    values: dict[str, MetadataValue] = {}
    for option in options or ():
        key, separator, text = option.partition("=")
        if not (separator and key.strip()):
            raise InvalidInput(f"{option!r} is not KEY=VALUE; write it like --metadata workflow=deploy")
        key = key.strip()
        try:
            value = parse_value(text)
        except ValueError as error:
            raise InvalidInput(f"{key}: {error}") from error
        values[key] = (*_as_list(values[key]), *_as_list(value)) if key in values else value
    return values or None


def _as_list(value: MetadataValue) -> tuple[MetadataScalar, ...]:
    return value if isinstance(value, tuple) else (value,)


def parse_since(text: str, now: datetime) -> datetime:
    """Return the time of a text; days are in the local zone, dates in UTC like the files. InvalidInput if unknown."""
    word = text.strip().casefold()
    if word in ("today", "yesterday"):
        day = now.astimezone().date() - timedelta(days=word == "yesterday")
        return to_utc(datetime.combine(day, time.min).astimezone())
    ago = _AGO.fullmatch(word)
    if ago:
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        return parse_time(text)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is not a time; write yesterday, today, 2d, 3h, or a date like 2026-11-15"
        ) from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _decode_utf8(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 text (byte {error.start})") from error


def _parse_json(text: str, name: str) -> Json:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{name} is not JSON: {error}") from error
