"""Import what lamina itself exported: as evidence and as pending statements.

An export states who wrote what and which status it had. It is trusted no more than any import: words get the origin of
an import or a less trusted one, statements are pending review, ended statements stay ended together with the sentences
they rest on, and retracted ones are not imported. Pins and generated atoms are made again here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from lamina.atom.atom import Atom
from lamina.atom.identity import is_atom_id
from lamina.atom.passage import passages_of
from lamina.atom.record import from_record
from lamina.atom.status import Status
from lamina.atom.trust import Origin, bound
from lamina.capture.draft import parse_draft
from lamina.capture.pieces import Piece
from lamina.errors import InvalidInput, LaminaError
from lamina.importers.folder import notes, read_note
from lamina.importers.item import ImportedConversation, ImportedFact, Problem, Quote, Skipped, Step, hash_of, marks_of
from lamina.importers.sources import STOOD, Sources, session_of
from lamina.text.normal import one_line
from lamina.vault import layout
from lamina.vault.codec import read_sheet

SOURCE, NAME = "lamina", "lamina export"
WRONG = (ValueError, TypeError, KeyError, AttributeError, OverflowError)
"""Errors that reading a file of another format may raise."""
_MARK = b'"lamina_export"'
_LOOKED_AT = 4096
_SAMPLE = 50
_BROUGHT = (
    "content",
    "kind",
    "subject",
    "attribute",
    "value",
    "tags",
    "entities",
    "metadata",
    "observed_at",
    "session_id",
    "valid_from",
    "valid_until",
    "expires_at",
    "confidence",
    "importance",
    "durability",
    "memory_type",
)
_WITHDRAWN = frozenset({Status.INVALIDATED, Status.TOMBSTONED})

Entry: TypeAlias = tuple[str, Atom | Problem | Skipped]
"""Where an entry is in the export, and the atom it contains."""


@dataclass(frozen=True, slots=True)
class Own:
    """An export of lamina in any format; `entries` reads it from the beginning."""

    entries: Callable[[], Iterator[Entry]]
    name: str = NAME

    def total(self) -> int:
        return sum(1 for _ in self.entries())

    def steps(self) -> Iterator[Step]:
        """Yield words first: a statement may rest on words that were said after it was made."""
        words, others = list[Entry](), list[Entry]()
        for entry in self.entries():
            (words if isinstance(entry[1], Atom) and entry[1].is_segment else others).append(entry)
        sources = Sources(content for _, content in (*words, *others) if isinstance(content, Atom))
        for place, content in (*words, *others):
            yield step_of(content, place, sources) if isinstance(content, Atom) else content


def own_json(path: Path) -> Own | None:
    """Return the JSON export at a path, or None if it is not one."""
    if not path.is_file() or path.suffix.lower() != ".json":
        return None
    with path.open("rb") as file:
        if _MARK not in file.read(_LOOKED_AT):
            return None
    return Own(lambda: _in_json(path))


def own_markdown(path: Path) -> Own | None:
    """Return the markdown export in a folder, or None if most of its notes are not atoms."""
    files = [file for file in notes(path, ()) if file.suffix.lower() == ".md"]
    sample = list(islice(files, 0, None, max(1, len(files) // _SAMPLE)))
    exported = sum(1 for file in sample if _is_own(file))
    return Own(lambda: _in_markdown(path, files)) if sample and 2 * exported > len(sample) else None


def atom_at(place: str, record: Callable[[], Mapping[str, Any]]) -> Entry:
    """Return the atom that a record describes, or a problem with the reason."""
    try:
        atom = from_record(record())
        return place, atom if isinstance(atom.content, str) else Problem(place, "its content is not text")
    except WRONG as error:
        return place, Problem(place, f"it is not an atom: {one_line(str(error))}")


def step_of(atom: Atom, place: str, sources: Sources | None = None) -> Step:
    """Return what is imported of an atom; a retracted one is imported only to keep its words out of recall."""
    quotes = sources.quotes(atom) if sources is not None and not atom.is_segment else ()
    is_imported = atom.status in STOOD or atom.status is Status.SUPERSEDED
    if not is_imported and not (quotes and atom.status in _WITHDRAWN):
        return Skipped(place, "retracted in the exported memory")
    if not atom.is_searched:
        return Skipped(place, "generated again by lamina")
    try:
        return (
            _words(atom, place, is_read=sources is not None and sources.rest_on(atom))
            if atom.is_segment
            else _fact(atom, place, quotes)
        )
    except LaminaError as error:
        return Problem(place, one_line(str(error)))
    except WRONG as error:
        return Problem(place, f"it is not an atom: {one_line(str(error))}")


def _words(atom: Atom, place: str, *, is_read: bool) -> Step:
    """Return words under the session they were said in; words that were pending review are pending again."""
    was_pending = atom.status is Status.CONSTRAINED and atom.origin not in (Origin.TOOL, Origin.WEB)
    passages = [passage for passage in passages_of(atom) if passage.text.strip()]
    if not passages:
        return Skipped(place, "it is empty")
    pieces = tuple(Piece(passage.text, passage.speaker, passage.at) for passage in passages)
    marks = marks_of(f"{SOURCE}:{atom.id}", pieces)
    return ImportedConversation(
        title="",
        session_id=session_of(atom),
        source_id=f"{SOURCE}:{atom.id}",
        observed_at=atom.observed_at,
        pieces=pieces,
        marks=marks,
        path=place,
        content_hash=marks[-1],
        origin=Origin.TOOL if was_pending else bound(Origin.IMPORT, atom.origin),
        foreign_id=atom.id,
        places=tuple(passage.n for passage in passages),
        is_read=is_read,
    )


def _fact(atom: Atom, place: str, quotes: tuple[Quote, ...]) -> ImportedFact:
    values = {name: getattr(atom, name) for name in _BROUGHT}
    source_id = f"{SOURCE}:{atom.id}"
    fields = {name: value for name, value in values.items() if value not in (None, "", (), {})}
    draft = parse_draft(**fields, source_id=source_id)
    status = Status.CONSTRAINED if atom.status in STOOD else atom.status
    end_status = () if status is Status.CONSTRAINED else (status.value,)
    return ImportedFact(
        draft=draft,
        status=status,
        foreign_id=atom.id,
        replaced_by=next(iter(atom.superseded_by), None),
        source_id=source_id,
        path=place,
        quotes=quotes,
        origin=bound(Origin.IMPORT, atom.origin),
        content_hash=hash_of("fact", source_id, draft.kind, draft.subject, draft.content, *end_status),
    )


def _in_json(path: Path) -> Iterator[Entry]:
    try:
        records = json.loads(path.read_bytes())["atoms"]
    except (*WRONG, RecursionError) as error:
        raise InvalidInput(f"{path.name} is not a complete export: {one_line(str(error))}; export it again") from error
    for n, record in enumerate(records, 1):
        yield atom_at(f"{path.name} #{n}", lambda record=record: _without_history(record))  # type: ignore[misc]


def _without_history(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in record.items() if name != "history"}


def _in_markdown(path: Path, files: list[Path]) -> Iterator[Entry]:
    for file in files:
        place = file.relative_to(path).as_posix()
        try:
            sheet = read_sheet(file.read_bytes())
            if sheet.id is None:
                yield place, Problem(place, "it has no atom id")
            else:
                yield place, Atom(scope=layout.DEFAULT_SCOPE, **sheet.fields)
        except (LaminaError, OSError, *WRONG) as error:
            yield place, Problem(place, one_line(str(error)))


def _is_own(file: Path) -> bool:
    try:
        front = read_note(file)
    except (LaminaError, OSError):
        return False
    return is_atom_id(front.text("id") or "") and bool(front.text("recorded_at"))
