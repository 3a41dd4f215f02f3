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
from lamina.importers.folder import Folder, notes, read_note
from lamina.importers.front import Front
from lamina.importers.item import ImportedFact, Problem, Skipped, Step, hash_of
from lamina.text.normal import one_line

SAMPLE = 200
_SHARE = 0.3
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class Told:
    """A statement of another memory: the fields of a draft, its status there and its successor."""

    foreign_id: str
    fields: dict[str, object]
    status: Status
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one memory writes its files. `read` returns the fact, or the reason to skip it."""

    source: str
    name: str
    claims: Callable[[Front], bool]
    read: Callable[[Front], Told | str]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vault:
    """The facts of another memory, and the notes beside them."""

    dialect: Dialect
    folder: Folder

    @classmethod
    def at(cls, path: Path, dialect: Dialect) -> Vault:
        """Return the vault at a path in this format."""
        files = notes(path, tuple(path / name for name in dialect.left_out))
        return cls(dialect, Folder(path, files, dialect.source, dialect.name))

    @property
    def name(self) -> str:
        return self.dialect.name

    def total(self) -> int:
        return self.folder.total()

    def steps(self) -> Iterator[Step]:
        for file in self.folder.files:
            yield self._step(file)

    def _step(self, file: Path) -> Step:
        place = self.folder.place(file)
        if file.suffix.lower() != ".md":
            return self.folder.step(file)
        try:
            front = read_note(file)
            if not self.dialect.claims(front):
                return self.folder.step(file)
            fact = self.dialect.read(front)
            return Skipped(place, fact) if isinstance(fact, str) else self._fact(fact, place)
        except UnreadableDocument as error:
            return Problem(place, error.reason)
        except (LaminaError, OSError) as error:
            return Problem(place, one_line(str(error)))

    def _fact(self, told: Told, place: str) -> ImportedFact:
        source_id = f"{self.dialect.source}:{told.foreign_id}"
        fields = {name: value for name, value in told.fields.items() if value not in (None, "", (), {})}
        draft = parse_draft(**fields, source_id=source_id)
        return ImportedFact(
            draft=draft,
            status=told.status,
            foreign_id=told.foreign_id,
            replaced_by=told.replaced_by,
            source_id=source_id,
            path=place,
            content_hash=hash_of("fact", source_id, draft.kind, draft.subject, draft.content),
        )


def spoken_by(path: Path, dialects: tuple[Dialect, ...]) -> Dialect | None:
    """Return the format of most of a folder's notes, or None."""
    files = [file for file in notes(path, ()) if file.suffix.lower() == ".md"]
    fronts = [front for file in _spread(files) if (front := _peeked(file)) is not None and front.values]
    counts = {dialect.source: sum(1 for front in fronts if dialect.claims(front)) for dialect in dialects}
    best = max(dialects, key=lambda dialect: counts[dialect.source])
    return best if counts[best.source] > _SHARE * len(fronts) else None


def kind_of(told: str | None) -> str:
    """Return the kind as written there if it is a valid kind, otherwise `fact`."""
    kind = (told or "").strip().lower().replace(" ", "_")
    return kind if _KIND.fullmatch(kind) else "fact"


def _spread(files: list[Path]) -> Iterator[Path]:
    """Return an evenly spaced sample of the files."""
    return islice(files, 0, None, max(1, len(files) // SAMPLE))


def _peeked(file: Path) -> Front | None:
    try:
        return read_note(file)
    except (LaminaError, OSError):
        return None
