"""Define a parsed document, the error for files that cannot be read, and the size limits of both."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lamina.capture.pieces import Piece
from lamina.errors import InvalidInput
from lamina.text.normal import one_line

LARGEST = 100 << 20
"""Bytes of the largest file that is read."""
LONGEST = 20_000_000
"""Characters of the longest document."""

_UNPACKED = 300 << 20
_PARTS = 20_000
_RATIO = 100
_SMALL = 20 << 20
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Document:
    """A document's title, the format it was read as, and its pieces in reading order."""

    title: str
    form: str
    pieces: tuple[Piece, ...]


class UnreadableDocument(InvalidInput):
    """A file that cannot be read; `reason` says why and what to do."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path.name}: {reason}")


def package(module: str, path: Path) -> Any:
    """Import a library of the extra `documents`; UnreadableDocument if it is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        reason = f"reading {path.suffix or 'it'} needs an extra; run `pip install 'lamina[documents]'`"
        raise UnreadableDocument(path, reason) from error


def finished(path: Path, form: str, title: str | None, pieces: Iterable[Piece]) -> Document:
    """Return the document of these pieces, named after its file if it has no title; UnreadableDocument if it is too
    long.
    """
    collected: list[Piece] = []
    length = 0
    for piece in pieces:
        length += len(piece.text)
        if length > LONGEST:
            raise UnreadableDocument(path, f"it has more than {LONGEST:,} characters; split it")
        collected.append(piece)
    return Document(one_line(title or "")[:_LONGEST_TITLE] or path.stem, form, tuple(collected))


def check_archive(path: Path) -> None:
    """Refuse a zip-based file that would unpack into more than a real document contains."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OverflowError) as error:
        raise UnreadableDocument(path, f"it is damaged: {error}") from error
    unpacked, packed = sum(part.file_size for part in parts), sum(part.compress_size for part in parts)
    bomb = unpacked > _SMALL and unpacked > _RATIO * max(1, packed)
    if len(parts) > _PARTS or unpacked > _UNPACKED or bomb:
        raise UnreadableDocument(path, f"it would unpack to {unpacked >> 20} MB in {len(parts)} parts; not opened")
