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

from lamina.atom.atom import Atom, Signals, is_atom_id
from lamina.atom.json_record import from_record
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Origin, limit_origin
from lamina.atom.status import Status
from lamina.capture.caller_input import parse_draft
from lamina.capture.pieces import TextPiece
from lamina.errors import InvalidInput, LaminaError
from lamina.importers.documents.parsed_document import DAMAGED_FILE_ERRORS
from lamina.importers.documents.regular_file import MAX_EXPORT_BYTES, read_head, read_regular_file
from lamina.importers.evidence_quotes import NOT_ENDED, EvidenceIndex, session_id_of
from lamina.importers.import_items import (
    EvidenceQuote,
    ImportedConversation,
    ImportedFact,
    ImportProblem,
    ImportStep,
    SkippedItem,
    content_hash_of,
    prefix_hashes,
)
from lamina.importers.note_folder import MAX_NOTE_BYTES, list_folder, read_note
from lamina.text.normal_form import one_line
from lamina.vault import layout
from lamina.vault.atom_file import parse_file
from lamina.vault.frontmatter_fields import SIGNAL_FIELDS

SOURCE_NAME, FORMAT_NAME = "lamina", "lamina export"
_JSON_MARKER = b'"lamina_export"'
_SNIFFED_BYTES = 4096
_SAMPLE_SIZE = 50
_IMPORTED_FIELD_NAMES = """
    content kind subject attribute value tags entities metadata observed_at session_id valid_from valid_until expires_at
    confidence importance valence durability memory_type
"""
_IMPORTED_FIELDS = tuple(_IMPORTED_FIELD_NAMES.split())
UNUSED = Signals()
"""The counters of an atom that was never used."""
_WITHDRAWN = frozenset({Status.INVALIDATED, Status.TOMBSTONED})

ExportEntry: TypeAlias = tuple[str, Atom | ImportProblem | SkippedItem, Signals]
"""Where an entry is in the export, the atom it contains, and its counters of use."""


@dataclass(frozen=True, slots=True)
class LaminaExport:
    """An export of lamina in any format; `entries` reads it from the beginning."""

    entries: Callable[[], Iterator[ExportEntry]]
    name: str = FORMAT_NAME

    def total(self) -> int:
        return sum(1 for _ in self.entries())

    def steps(self) -> Iterator[ImportStep]:
        """Yield words first: a statement may rest on words that were said after it was made."""
        words, others = list[ExportEntry](), list[ExportEntry]()
        for entry in self.entries():
            (words if isinstance(entry[1], Atom) and entry[1].is_segment else others).append(entry)
        sources = EvidenceIndex(content for _, content, _ in (*words, *others) if isinstance(content, Atom))
        for place, content, signals in (*words, *others):
            yield import_step(content, place, sources, signals) if isinstance(content, Atom) else content


def open_json_export(path: Path) -> LaminaExport | None:
    """Return the JSON export at a path, or None if it is not one."""
    if not path.is_file() or path.suffix.lower() != ".json":
        return None
    if _JSON_MARKER not in read_head(path, _SNIFFED_BYTES):
        return None
    return LaminaExport(lambda: _json_entries(path))


def open_markdown_export(path: Path) -> LaminaExport | None:
    """Return the markdown export in a folder, or None if most of its notes are not atoms."""
    listed, skipped = list_folder(path)
    files = [file for file in listed if file.suffix.lower() == ".md"]
    sample = list(islice(files, 0, None, max(1, len(files) // _SAMPLE_SIZE)))
    exported = sum(1 for file in sample if _is_exported_atom(file))
    if not sample or 2 * exported <= len(sample):
        return None
    return LaminaExport(lambda: _markdown_entries(path, files, skipped))


def parse_entry(place: str, record: Callable[[], Mapping[str, Any]]) -> ExportEntry:
    """Return the atom that a record describes, or a problem with the reason."""
    try:
        fields = dict(record())
        counters = {name: fields.pop(name) for name in SIGNAL_FIELDS if name in fields}
        signals = Signals(**{name: SIGNAL_FIELDS[name].read(str(value)) for name, value in counters.items()})
        atom = from_record(fields)
        is_text = isinstance(atom.content, str)
        return place, atom if is_text else ImportProblem(place, "its content is not text"), signals
    except DAMAGED_FILE_ERRORS as error:
        return place, ImportProblem(place, f"it is not an atom: {one_line(str(error))}"), Signals()


def import_step(atom: Atom, place: str, evidence: EvidenceIndex | None = None, signals: Signals = UNUSED) -> ImportStep:
    """Return what is imported of an atom; a retracted one is imported only to keep its words out of recall."""
    quotes = evidence.quotes(atom) if evidence is not None and not atom.is_segment else ()
    is_imported = atom.status in NOT_ENDED or atom.status is Status.SUPERSEDED
    if not is_imported and not (quotes and atom.status in _WITHDRAWN):
        return SkippedItem(place, "retracted in the exported memory")
    if not atom.is_searched:
        return SkippedItem(place, "generated again by lamina")
    try:
        return (
            _import_words(atom, place, has_statements=evidence is not None and evidence.is_evidence(atom))
            if atom.is_segment
            else _import_fact(atom, place, quotes, signals)
        )
    except LaminaError as error:
        return ImportProblem(place, one_line(str(error)))
    except DAMAGED_FILE_ERRORS as error:
        return ImportProblem(place, f"it is not an atom: {one_line(str(error))}")


def _import_words(atom: Atom, place: str, *, has_statements: bool) -> ImportStep:
    """Return words under the session they were said in; words that were pending review are pending again."""
    was_pending = atom.status is Status.CONSTRAINED and atom.origin not in (Origin.TOOL, Origin.WEB)
    passages = [passage for passage in passages_of(atom) if passage.text.strip()]
    if not passages:
        return SkippedItem(place, "it is empty")
    pieces = tuple(TextPiece(passage.text, passage.speaker, passage.at) for passage in passages)
    marks = prefix_hashes(f"{SOURCE_NAME}:{atom.id}", pieces)
    return ImportedConversation(
        title="",
        session_id=session_id_of(atom),
        source_id=f"{SOURCE_NAME}:{atom.id}",
        observed_at=atom.observed_at,
        pieces=pieces,
        prefix_hashes=marks,
        path=place,
        content_hash=marks[-1],
        origin=Origin.TOOL if was_pending else limit_origin(Origin.IMPORT, atom.origin),
        foreign_id=atom.id,
        passage_numbers=tuple(passage.n for passage in passages),
        has_statements=has_statements,
    )


def _import_fact(atom: Atom, place: str, quotes: tuple[EvidenceQuote, ...], signals: Signals) -> ImportedFact:
    values = {name: getattr(atom, name) for name in _IMPORTED_FIELDS}
    source_id = f"{SOURCE_NAME}:{atom.id}"
    fields = {name: value for name, value in values.items() if value not in (None, "", (), {})}
    draft = parse_draft(**fields, source_id=source_id)
    status = Status.CONSTRAINED if atom.status in NOT_ENDED else atom.status
    end_status = () if status is Status.CONSTRAINED else (status.value,)
    return ImportedFact(
        draft=draft,
        status=status,
        foreign_id=atom.id,
        replaced_by=next(iter(atom.superseded_by), None),
        source_id=source_id,
        path=place,
        quotes=quotes,
        signals=signals,
        origin=limit_origin(Origin.IMPORT, atom.origin),
        content_hash=content_hash_of("fact", source_id, draft.kind, draft.subject, draft.content, *end_status),
    )


def _json_entries(path: Path) -> Iterator[ExportEntry]:
    try:
        records = json.loads(read_regular_file(path, MAX_EXPORT_BYTES))["atoms"]
    except DAMAGED_FILE_ERRORS as error:
        raise InvalidInput(f"{path.name} is not a complete export: {one_line(str(error))}; export it again") from error
    for n, record in enumerate(records, 1):
        yield parse_entry(f"{path.name} #{n}", lambda record=record: _without_history(record))  # type: ignore[misc]


def _without_history(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in record.items() if name != "history"}


def _markdown_entries(path: Path, files: list[Path], skipped: tuple[SkippedItem, ...]) -> Iterator[ExportEntry]:
    yield from ((item.path, item, UNUSED) for item in skipped)
    for file in files:
        place = file.relative_to(path).as_posix()
        try:
            sheet = parse_file(read_regular_file(file, MAX_NOTE_BYTES))
            if sheet.id is None:
                yield place, ImportProblem(place, "it has no atom id"), Signals()
            else:
                yield place, Atom(scope=layout.DEFAULT_SCOPE, **sheet.fields), sheet.signals
        except (LaminaError, OSError, *DAMAGED_FILE_ERRORS) as error:
            yield place, ImportProblem(place, one_line(str(error))), Signals()


def _is_exported_atom(file: Path) -> bool:
    try:
        front = read_note(file)
    except (LaminaError, OSError):
        return False
    return is_atom_id(front.text("id") or "") and bool(front.text("recorded_at"))
