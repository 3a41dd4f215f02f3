"""Define a parsed document, the error for files that cannot be read, and the size limits of both."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lamina.capture.pieces import TextPiece
from lamina.errors import InvalidInput
from lamina.text.normal_form import one_line

MAX_FILE_BYTES = 100 << 20
"""Bytes of the largest file that is read."""
LONGEST = 20_000_000
"""Characters of the longest document."""
DAMAGED_FILE_ERRORS = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, EOFError)
"""What libraries raise when they read a damaged file."""

_MAX_UNPACKED_BYTES = 300 << 20
_MAX_PARTS = 20_000
_MAX_RATIO = 100
_SMALL_UNPACKED_BYTES = 20 << 20
_BLOCK_BYTES = 1 << 20
_MAX_TITLE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document's title, the format it was read as, and its pieces in reading order."""

    title: str
    form: str
    pieces: tuple[TextPiece, ...]


class UnreadableDocument(InvalidInput):
    """A file that cannot be read; `reason` says why and what to do."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path.name}: {reason}")


def import_extra(module: str, path: Path) -> Any:
    """Import a library of the extra `documents`; UnreadableDocument if it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        reason = f"reading {path.suffix or 'it'} needs an extra; run `pip install 'lamina[documents]'`"
        raise UnreadableDocument(path, reason) from error


def build_document(path: Path, form: str, title: str | None, pieces: Iterable[TextPiece]) -> ParsedDocument:
    """Return the document of these pieces, named after its file if it has no title; UnreadableDocument if it is too
    long.
    """
    collected: list[TextPiece] = []
    length = 0
    for piece in pieces:
        length += len(piece.text)
        if length > LONGEST:
            raise UnreadableDocument(path, f"it has more than {LONGEST:,} characters; split it")
        collected.append(piece)
    return ParsedDocument(one_line(title or "")[:_MAX_TITLE_LENGTH] or path.stem, form, tuple(collected))


def unpacks_too_large(parts: Iterable[zipfile.ZipInfo]) -> bool:
    """Return whether parts of an archive unpack to far more than their packed size."""
    unpacked, packed = 0, 1
    for part in parts:
        unpacked, packed = unpacked + part.file_size, packed + part.compress_size
    return unpacked > _SMALL_UNPACKED_BYTES and unpacked > _MAX_RATIO * packed


def check_archive(path: Path) -> None:
    """Refuse a zip-based file that unpacks into more than a real document contains, or more than it says."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            unpacked = sum(part.file_size for part in parts)
            if len(parts) > _MAX_PARTS or unpacked > _MAX_UNPACKED_BYTES or unpacks_too_large(parts):
                reason = f"it would unpack to {unpacked >> 20} MB in {len(parts)} parts; not opened"
                raise UnreadableDocument(path, reason)
            for part in parts:
                _check_declared_size(archive, part)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OverflowError) as error:
        raise UnreadableDocument(path, f"it is damaged: {error}") from error


def _check_declared_size(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Unpack a part in small blocks, because libraries unpack it at once and believe the size it declares."""
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{part.filename} is packed in a way that documents do not use")
    with_one_more = copy(part)
    with_one_more.file_size += 1
    length = 0
    with archive.open(with_one_more) as stream:
        while block := stream.read(_BLOCK_BYTES):
            length += len(block)
    if length > part.file_size:
        raise ValueError(f"{part.filename} is larger than it says")
