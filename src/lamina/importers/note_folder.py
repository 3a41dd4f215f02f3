"""Read folders of notes and documents: Obsidian vaults and any other folder."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from lamina.capture.pieces import TextPiece
from lamina.capture.pieces.text_format import MARKDOWN_SUFFIXES
from lamina.errors import InvalidInput, LaminaError
from lamina.importers.documents import DOCUMENT_SUFFIXES, ParsedDocument, UnreadableDocument, read_document, read_text
from lamina.importers.documents.regular_file import describe_irregular, read_regular_file
from lamina.importers.documents.text_decoding import decode_text, storable_text
from lamina.importers.import_items import ImportedDocument, ImportProblem, ImportStep, SkippedItem, content_hash_of
from lamina.importers.lenient_frontmatter import ForeignFrontmatter, parse_leading_moment, read_frontmatter
from lamina.text.normal_form import one_line
from lamina.text.timestamps import to_utc

_CREATED_KEYS = ("created", "date", "created_at", "date created", "creation date", "created-at", "dateCreated")
_PROGRAM_KEYS = ("tags", "tag", "title", "aliases", "alias", "cssclass", "cssclasses", "publish", "position", "id")
_IGNORED_KEYS = frozenset([*_CREATED_KEYS, *_PROGRAM_KEYS, "updated", "modified", "date modified"])
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "__MACOSX"})
MAX_NOTE_BYTES = 20 << 20
"""Bytes of the longest note."""
_DATED_NAME = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


NoteParser = Callable[[ForeignFrontmatter, str], ImportStep | None]


@dataclass(frozen=True, slots=True)
class NoteFolder:
    """The notes and documents of a folder, or one file. `parse_note` reads the markdown files of a special format; a
    note for which it returns None is a document."""

    path: Path
    files: tuple[Path, ...]
    skipped: tuple[SkippedItem, ...] = ()
    source: str = "file"
    name: str = "folder"
    parse_note: NoteParser | None = None

    @classmethod
    def from_path(cls, path: Path) -> NoteFolder:
        """Return the documents at a path, ordered by name."""
        if path.is_file():
            return cls(path.parent, (path,), name="file")
        if (path / ".obsidian").is_dir():
            return cls(path, *list_folder(path, template_folders(path)), source="obsidian", name="Obsidian vault")
        return cls(path, *list_folder(path))

    def total(self) -> int:
        return len(self.skipped) + len(self.files)

    def steps(self) -> Iterator[ImportStep]:
        yield from self.skipped
        yield from map(self.import_file, self.files)

    def import_file(self, file: Path) -> ImportStep:
        """Return one file; a problem if it cannot be read, so that the rest continue."""
        place = storable_text(file.relative_to(self.path).as_posix())
        try:
            step = self.parse_note(read_note(file), place) if self.parse_note and file.suffix.lower() == ".md" else None
            return step or self._read_document(file, place)
        except UnreadableDocument as error:
            empty = error.reason == "it is empty"
            return SkippedItem(place, error.reason) if empty else ImportProblem(place, error.reason)
        except (LaminaError, OSError) as error:
            return ImportProblem(place, one_line(str(error)))

    def _read_document(self, file: Path, place: str) -> ImportedDocument:
        if file.suffix.lower().removeprefix(".") not in MARKDOWN_SUFFIXES:
            read, front = read_document(file), ForeignFrontmatter({}, "")
        else:
            front = read_note(file)
            read = (
                _with_properties(read_text(file, front.body), front)
                if front.body.strip()
                else _document_without_body(file, front)
            )
        content_hash = content_hash_of("document", *(f"{piece.speaker or ''}\0{piece.text}" for piece in read.pieces))
        return ImportedDocument(
            title=front.text("title") or read.title,
            session_id=f"{one_line(storable_text(file.stem))[:80]}-{content_hash[:8]}",
            source_id=f"{self.source}:{one_line(place)[:400]}",
            observed_at=_observed_at(file, front),
            pieces=read.pieces,
            path=place,
            content_hash=content_hash,
            tags=(*front.list_of("tags"), *front.list_of("tag")),
        )


class FolderFiles(NamedTuple):
    """The documents of a folder, and the links and special files in it, which are skipped."""

    files: tuple[Path, ...]
    skipped: tuple[SkippedItem, ...]


def list_folder(path: Path, left_out: tuple[Path, ...] = ()) -> FolderFiles:
    """Return the files of a folder that contain text for people, without hidden, temporary and tool files."""
    files: list[Path] = []
    skipped: list[SkippedItem] = []
    for folder, inner, names in os.walk(path):
        visited = [name for name in inner if name not in _SKIPPED_FOLDERS and Path(folder, name) not in left_out]
        inner[:] = [name for name in visited if not name.startswith(".")]
        for file in (Path(folder, name) for name in (*visited, *names) if not name.startswith((".", "~$"))):
            if reason := describe_irregular(file):
                skipped.append(SkippedItem(storable_text(file.relative_to(path).as_posix()), reason))
            elif file.suffix.lower().removeprefix(".") in DOCUMENT_SUFFIXES and file.is_file():
                files.append(file)
    return FolderFiles(
        tuple(sorted(files, key=lambda file: file.relative_to(path).as_posix())),
        tuple(sorted(skipped, key=lambda item: item.path)),
    )


def template_folders(path: Path) -> tuple[Path, ...]:
    """Return the template folders of an Obsidian vault."""
    settings = path / ".obsidian"
    configured = [
        _read_setting(settings / "templates.json", "folder"),
        _read_setting(settings / "plugins" / "templater-obsidian" / "data.json", "templates_folder"),
    ]
    return tuple(path / name for name in [*configured, "Templates", "templates", "_templates"] if name)


def _read_setting(file: Path, key: str) -> str | None:
    try:
        settings = json.loads(read_regular_file(file, MAX_NOTE_BYTES))
    except (OSError, ValueError, RecursionError, UnreadableDocument):
        return None
    value = settings.get(key) if isinstance(settings, dict) else None
    return value.strip("/") if isinstance(value, str) else None


def read_note(file: Path) -> ForeignFrontmatter:
    """Read a markdown file and its frontmatter; UnreadableDocument if it is too large or not text."""
    try:
        return read_frontmatter(decode_text(read_regular_file(file, MAX_NOTE_BYTES)))
    except ValueError as error:
        raise UnreadableDocument(file, str(error)) from error


def _with_properties(document: ParsedDocument, frontmatter: ForeignFrontmatter) -> ParsedDocument:
    """Add a note's properties to its text as a first piece; dates and tags become fields instead."""
    properties = frontmatter.raw.strip("\n") if frontmatter.values.keys() - _IGNORED_KEYS else ""
    return replace(document, pieces=(TextPiece(properties), *document.pieces)) if properties else document


def _document_without_body(file: Path, frontmatter: ForeignFrontmatter) -> ParsedDocument:
    document = _with_properties(ParsedDocument(file.stem, "markdown", ()), frontmatter)
    if not document.pieces:
        raise UnreadableDocument(file, "it is empty")
    return document


def _observed_at(file: Path, frontmatter: ForeignFrontmatter) -> datetime | None:
    """Return when a note was written: by its frontmatter, its file name, or its modification time."""
    date_in_name = parse_leading_moment(file.name) if _DATED_NAME.match(file.name) else None
    written_at = frontmatter.moment(*_CREATED_KEYS) or date_in_name
    return written_at or to_utc(datetime.fromtimestamp(file.stat().st_mtime, UTC))


def refuse_own_vault(path: Path) -> None:
    """Raise InvalidInput if the folder is a lamina vault, which is opened and not imported."""
    if (path / ".lamina").is_dir():
        raise InvalidInput(f"{path} is already a lamina vault; open it with `--vault`, or import files outside it")
