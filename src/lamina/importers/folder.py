"""Read folders of notes and documents: Obsidian vaults and any other folder."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lamina.capture.pieces import Piece
from lamina.capture.pieces.form import MARKDOWN_NAMES
from lamina.errors import InvalidInput, LaminaError
from lamina.importers.documents import PROSE_NAMES, Document, UnreadableDocument, read_document, read_text
from lamina.importers.documents.decode import decode, holdable
from lamina.importers.front import Front, day_in, read_front
from lamina.importers.item import ImportedDocument, Problem, Skipped, Step, hash_of
from lamina.text.normal import one_line
from lamina.text.times import to_utc

_CREATED = ("created", "date", "created_at", "date created", "creation date", "created-at", "dateCreated")
_KEPT_BY_PROGRAMS = ("tags", "tag", "title", "aliases", "alias", "cssclass", "cssclasses", "publish", "position", "id")
_HOUSEKEEPING = frozenset([*_CREATED, *_KEPT_BY_PROGRAMS, "updated", "modified", "date modified"])
_NEVER = frozenset({"node_modules", "__pycache__", "__MACOSX"})
_LARGEST_NOTE = 20 << 20
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


@dataclass(frozen=True, slots=True)
class Folder:
    """The notes and documents of a folder, or one file."""

    path: Path
    files: tuple[Path, ...]
    source: str = "file"
    name: str = "folder"

    @classmethod
    def at(cls, path: Path) -> Folder:
        """Return the documents at a path, ordered by name."""
        if path.is_file():
            return cls(path.parent, (path,), name="file")
        if (path / ".obsidian").is_dir():
            return cls(path, notes(path, templates(path)), source="obsidian", name="Obsidian vault")
        return cls(path, notes(path, ()))

    def total(self) -> int:
        return len(self.files)

    def steps(self) -> Iterator[Step]:
        for file in self.files:
            yield self.step(file)

    def step(self, file: Path) -> Step:
        """Return one file as a document; a problem if it cannot be read, so that the rest continue."""
        place = self.place(file)
        try:
            return self._document(file, place)
        except UnreadableDocument as error:
            empty = error.reason == "it is empty"
            return Skipped(place, error.reason) if empty else Problem(place, error.reason)
        except (LaminaError, OSError) as error:
            return Problem(place, one_line(str(error)))

    def place(self, file: Path) -> str:
        """Return the path of a file relative to the folder."""
        return holdable(file.relative_to(self.path).as_posix())

    def _document(self, file: Path, place: str) -> ImportedDocument:
        if file.suffix.lower().removeprefix(".") not in MARKDOWN_NAMES:
            read, front = read_document(file), Front({}, "")
        else:
            front = read_note(file)
            read = _with_properties(read_text(file, front.body), front) if front.body.strip() else _bare(file, front)
        content_hash = hash_of("document", *(f"{piece.speaker or ''}\0{piece.text}" for piece in read.pieces))
        return ImportedDocument(
            title=front.text("title") or read.title,
            session_id=f"{one_line(holdable(file.stem))[:80]}-{content_hash[:8]}",
            source_id=f"{self.source}:{one_line(place)[:400]}",
            observed_at=_observed(file, front),
            pieces=read.pieces,
            path=place,
            content_hash=content_hash,
            tags=(*front.names("tags"), *front.names("tag")),
        )


def notes(path: Path, left_out: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the files of a folder that contain text for people, without links, hidden folders and tool folders."""
    files: list[Path] = []
    for folder, inner, names in os.walk(path):
        folder_path = Path(folder)
        inner[:] = [
            name
            for name in inner
            if not name.startswith(".") and name not in _NEVER and folder_path / name not in left_out
        ]
        files += [folder_path / name for name in names if _is_prose(folder_path / name)]
    return tuple(sorted(files, key=lambda file: file.relative_to(path).as_posix()))


def _is_prose(file: Path) -> bool:
    is_document = file.suffix.lower().removeprefix(".") in PROSE_NAMES
    return is_document and not file.name.startswith((".", "~$")) and not file.is_symlink()


def templates(path: Path) -> tuple[Path, ...]:
    """Return the template folders of an Obsidian vault."""
    settings = path / ".obsidian"
    configured = [
        _setting(settings / "templates.json", "folder"),
        _setting(settings / "plugins" / "templater-obsidian" / "data.json", "templates_folder"),
    ]
    return tuple(path / name for name in [*configured, "Templates", "templates", "_templates"] if name)


def _setting(file: Path, key: str) -> str | None:
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    value = settings.get(key) if isinstance(settings, dict) else None
    return value.strip("/") if isinstance(value, str) else None


def read_note(file: Path) -> Front:
    """Read a markdown file and its frontmatter; UnreadableDocument if it is too large or not text."""
    if file.stat().st_size > _LARGEST_NOTE:
        raise UnreadableDocument(file, f"it is larger than {_LARGEST_NOTE >> 20} MB; split it")
    try:
        return read_front(decode(file.read_bytes()))
    except ValueError as error:
        raise UnreadableDocument(file, str(error)) from error


def _with_properties(read: Document, front: Front) -> Document:
    """Add a note's properties to its text as a first piece; dates and tags become fields instead."""
    properties = front.raw.strip("\n") if front.values.keys() - _HOUSEKEEPING else ""
    return replace(read, pieces=(Piece(properties), *read.pieces)) if properties else read


def _bare(file: Path, front: Front) -> Document:
    document = _with_properties(Document(file.stem, "markdown", ()), front)
    if not document.pieces:
        raise UnreadableDocument(file, "it is empty")
    return document


def _observed(file: Path, front: Front) -> datetime | None:
    """Return when a note was written: by its frontmatter, its file name, or its modification time."""
    date_in_name = day_in(file.name) if _DATED.match(file.name) else None
    written_at = front.moment(*_CREATED) or date_in_name
    return written_at or to_utc(datetime.fromtimestamp(file.stat().st_mtime, UTC))


def refuse_own_vault(path: Path) -> None:
    """Raise InvalidInput if the folder is a lamina vault, which is opened and not imported."""
    if (path / ".lamina").is_dir():
        raise InvalidInput(f"{path} is already a lamina vault; open it with `--vault`, or import files outside it")
