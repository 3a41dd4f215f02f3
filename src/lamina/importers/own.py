"""What lamina itself wrote elsewhere, brought in again: as evidence and as statements that wait, whatever it says.

An export says who wrote what and how it stood. None of that is believed further than an import is: words come in with
the origin of an import or a lesser one, statements wait for a person, what was over is history, and what was taken back
stays away. What was over there is over here, and so are the sentences it rests on. Pins and what was made of other
atoms are made anew here.
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
"""What reading a file of another shape may raise."""
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
"""Where something stands, and the atom it says it is."""


@dataclass(frozen=True, slots=True)
class Own:
    """An export of lamina, in whichever form; `entries` reads it from the beginning."""

    entries: Callable[[], Iterator[Entry]]
    name: str = NAME

    def total(self) -> int:
        return sum(1 for _ in self.entries())

    def steps(self) -> Iterator[Step]:
        """Words first: a statement may rest on some that were said after it was made."""
        words, others = list[Entry](), list[Entry]()
        for entry in self.entries():
            (words if isinstance(entry[1], Atom) and entry[1].is_segment else others).append(entry)
        sources = Sources(found for _, found in (*words, *others) if isinstance(found, Atom))
        for place, found in (*words, *others):
            yield step_of(found, place, sources) if isinstance(found, Atom) else found


def own_json(path: Path) -> Own | None:
    """The JSON export at a path, if it is one."""
    if not path.is_file() or path.suffix.lower() != ".json":
        return None
    with path.open("rb") as file:
        if _MARK not in file.read(_LOOKED_AT):
            return None
    return Own(lambda: _in_json(path))


def own_markdown(path: Path) -> Own | None:
    """The markdown export in a folder, if most of its notes are atoms."""
    files = [file for file in notes(path, ()) if file.suffix.lower() == ".md"]
    sample = list(islice(files, 0, None, max(1, len(files) // _SAMPLE)))
    own = sum(1 for file in sample if _is_own(file))
    return Own(lambda: _in_markdown(path, files)) if sample and 2 * own > len(sample) else None


def atom_at(place: str, record: Callable[[], Mapping[str, Any]]) -> Entry:
    """The atom a record describes, or why it describes none."""
    try:
        atom = from_record(record())
        return place, atom if isinstance(atom.content, str) else Problem(place, "its content is no text")
    except WRONG as error:
        return place, Problem(place, f"it is no atom: {one_line(str(error))}")


def step_of(atom: Atom, place: str, sources: Sources | None = None) -> Step:
    """What an import makes of an atom; what was taken back comes only to keep its words away."""
    quotes = sources.quotes(atom) if sources is not None and not atom.is_segment else ()
    comes = atom.status in STOOD or atom.status is Status.SUPERSEDED
    if not comes and not (quotes and atom.status in _WITHDRAWN):
        return Skipped(place, "taken back where it came from")
    if not atom.is_searched:
        return Skipped(place, "made anew here")
    try:
        return (
            _words(atom, place, is_read=sources is not None and sources.rest_on(atom))
            if atom.is_segment
            else _fact(atom, place, quotes)
        )
    except LaminaError as error:
        return Problem(place, one_line(str(error)))
    except WRONG as error:
        return Problem(place, f"it is no atom: {one_line(str(error))}")


def _words(atom: Atom, place: str, *, is_read: bool) -> Step:
    """Words under the session they were said in; those that waited for review wait again."""
    waited = atom.status is Status.CONSTRAINED and atom.origin not in (Origin.TOOL, Origin.WEB)
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
        origin=Origin.TOOL if waited else bound(Origin.IMPORT, atom.origin),
        foreign_id=atom.id,
        places=tuple(passage.n for passage in passages),
        is_read=is_read,
    )


def _fact(atom: Atom, place: str, quotes: tuple[Quote, ...]) -> ImportedFact:
    given = {name: getattr(atom, name) for name in _BROUGHT}
    source_id = f"{SOURCE}:{atom.id}"
    known = {name: value for name, value in given.items() if value not in (None, "", (), {})}
    draft = parse_draft(**known, source_id=source_id)
    status = Status.CONSTRAINED if atom.status in STOOD else atom.status
    became = () if status is Status.CONSTRAINED else (status.value,)
    return ImportedFact(
        draft=draft,
        status=status,
        foreign_id=atom.id,
        replaced_by=next(iter(atom.superseded_by), None),
        source_id=source_id,
        path=place,
        quotes=quotes,
        origin=bound(Origin.IMPORT, atom.origin),
        content_hash=hash_of("fact", source_id, draft.kind, draft.subject, draft.content, *became),
    )


def _in_json(path: Path) -> Iterator[Entry]:
    try:
        records = json.loads(path.read_bytes())["atoms"]
    except (*WRONG, RecursionError) as error:
        raise InvalidInput(f"{path.name} is no whole export: {one_line(str(error))}; export it again") from error
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
                yield place, Problem(place, "it has no id of an atom")
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
