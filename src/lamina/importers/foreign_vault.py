"""Read vaults of other memories with one statement per file: facts become drafts, other notes documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from lamina.atom.status import Status
from lamina.capture.draft import parse_draft
from lamina.errors import LaminaError
from lamina.importers.documents import UnreadableDocument
from lamina.importers.foreign_frontmatter import ForeignFrontmatter
from lamina.importers.import_items import ImportedFact, ImportProblem, ImportStep, SkippedItem, content_hash_of
from lamina.importers.note_folder import NoteFolder, find_notes, read_note
from lamina.text.normal_form import one_line

SAMPLE_SIZE = 200
_MIN_SHARE = 0.3
_KIND_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class ForeignFact:
    """A statement of another memory: the fields of a draft, its status there and its successor."""

    foreign_id: str
    fields: dict[str, object]
    status: Status
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class VaultFormat:
    """How one memory writes its files. `read` returns the fact, or the reason to skip it."""

    source: str
    name: str
    recognizes: Callable[[ForeignFrontmatter], bool]
    read: Callable[[ForeignFrontmatter], ForeignFact | str]
    skipped_folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignVault:
    """The facts of another memory, and the notes beside them."""

    vault_format: VaultFormat
    folder: NoteFolder

    @classmethod
    def from_path(cls, path: Path, vault_format: VaultFormat) -> ForeignVault:
        """Return the vault at a path in this format."""
        files = find_notes(path, tuple(path / name for name in vault_format.skipped_folders))
        return cls(vault_format, NoteFolder(path, files, vault_format.source, vault_format.name))

    @property
    def name(self) -> str:
        return self.vault_format.name

    def total(self) -> int:
        return self.folder.total()

    def steps(self) -> Iterator[ImportStep]:
        for file in self.folder.files:
            yield self._import_file(file)

    def _import_file(self, file: Path) -> ImportStep:
        place = self.folder.relative_path(file)
        if file.suffix.lower() != ".md":
            return self.folder.import_file(file)
        try:
            front = read_note(file)
            if not self.vault_format.recognizes(front):
                return self.folder.import_file(file)
            fact = self.vault_format.read(front)
            return SkippedItem(place, fact) if isinstance(fact, str) else self._build_fact(fact, place)
        except UnreadableDocument as error:
            return ImportProblem(place, error.reason)
        except (LaminaError, OSError) as error:
            return ImportProblem(place, one_line(str(error)))

    def _build_fact(self, fact: ForeignFact, place: str) -> ImportedFact:
        source_id = f"{self.vault_format.source}:{fact.foreign_id}"
        fields = {name: value for name, value in fact.fields.items() if value not in (None, "", (), {})}
        draft = parse_draft(**fields, source_id=source_id)
        return ImportedFact(
            draft=draft,
            status=fact.status,
            foreign_id=fact.foreign_id,
            replaced_by=fact.replaced_by,
            source_id=source_id,
            path=place,
            content_hash=content_hash_of("fact", source_id, draft.kind, draft.subject, draft.content),
        )


def detect_vault_format(path: Path, vault_formats: tuple[VaultFormat, ...]) -> VaultFormat | None:
    """Return the format of most of a folder's notes, or None."""
    files = [file for file in find_notes(path, ()) if file.suffix.lower() == ".md"]
    fronts = [front for file in _sample_files(files) if (front := _try_read_note(file)) is not None and front.values]
    counts = {dialect.source: sum(1 for front in fronts if dialect.recognizes(front)) for dialect in vault_formats}
    best = max(vault_formats, key=lambda dialect: counts[dialect.source])
    return best if counts[best.source] > _MIN_SHARE * len(fronts) else None


def parse_kind(text: str | None) -> str:
    """Return the kind as written there if it is a valid kind, otherwise `fact`."""
    kind = (text or "").strip().lower().replace(" ", "_")
    return kind if _KIND_NAME.fullmatch(kind) else "fact"


def _sample_files(files: list[Path]) -> Iterator[Path]:
    """Return an evenly spaced sample of the files."""
    return islice(files, 0, None, max(1, len(files) // SAMPLE_SIZE))


def _try_read_note(file: Path) -> ForeignFrontmatter | None:
    try:
        return read_note(file)
    except (LaminaError, OSError):
        return None
