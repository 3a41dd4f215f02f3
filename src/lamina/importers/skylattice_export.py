"""Import what Skylattice exported: its memory records with their layer, status, metadata and supersession.

Records that count there are pending review here, as in every import; the metadata key `imported_status` has the status
they had. Superseded and tombstoned records keep their status, so that their text and what replaced them stay known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.atom.kinds import Layer
from lamina.atom.metadata import MetadataScalar, MetadataValue, check_value, to_text
from lamina.atom.proposals_and_pairs import PROPOSAL_TYPE_KEY, ProposalType
from lamina.atom.status import Status
from lamina.capture.caller_input import parse_draft
from lamina.capture.existing_statements import FORGET_REQUESTED_AT
from lamina.errors import InvalidInput, LaminaError
from lamina.importers.documents.parsed_document import DAMAGED_FILE_ERRORS
from lamina.importers.documents.regular_file import MAX_EXPORT_BYTES, read_head, read_regular_file
from lamina.importers.import_items import ImportedFact, ImportProblem, ImportStep, content_hash_of
from lamina.text.normal_form import one_line
from lamina.text.timestamps import format_time, parse_time

SOURCE_NAME, FORMAT_NAME = "skylattice", "Skylattice export"
IMPORTED_STATUS = "imported_status"
"""The metadata key of the status that a statement had in the memory it comes from, if it is pending review here."""
DECIDED_PROPOSAL = "decided_proposal"
"""The metadata key of what a record proposed that was confirmed or rejected there: here it is no proposal."""
_MARKERS = (b'"export_version"', b'"records"')
_SNIFFED_BYTES = 4096
_MAX_METADATA_DEPTH = 20
_KINDS = {
    Layer.PROFILE: "preference",
    Layer.SEMANTIC: "fact",
    Layer.PROCEDURAL: "procedure",
    Layer.EPISODIC: "event",
    Layer.WORKING: "interaction",
}
_STATUSES = (Status.ACTIVE, Status.CONSTRAINED, Status.SUPERSEDED, Status.TOMBSTONED)
_PROPOSALS = (ProposalType.PROFILE_UPDATE, ProposalType.SEMANTIC_COMPACTION, ProposalType.PROCEDURAL_DEDUP)
_SOURCE_KEYS = ("source_record_ids", "compacted_from")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkylatticeRecord:
    """One record as it was exported; `sources` are the records that a compaction or canonical procedure is made of."""

    record_id: str
    layer: Layer
    status: Status
    summary: str
    source_refs: tuple[str, ...]
    metadata: Mapping[str, MetadataValue]
    confidence: float
    run_id: str | None
    supersedes: str | None
    created_at: datetime
    updated_at: datetime
    sources: tuple[str, ...]

    @property
    def is_confirmed(self) -> bool:
        """Return whether it counts or counted, and so superseded its sources."""
        return self.status in (Status.ACTIVE, Status.SUPERSEDED) or self.supersedes is not None


@dataclass(frozen=True, slots=True)
class SkylatticeExport:
    """The records of an export, oldest first, and those that are no records."""

    path: Path
    records: tuple[SkylatticeRecord, ...]
    problems: tuple[ImportProblem, ...]
    name: str = FORMAT_NAME

    def total(self) -> int:
        return len(self.records) + len(self.problems)

    def steps(self) -> Iterator[ImportStep]:
        """Yield every record; predecessors come before what superseded them, if both were made in this order."""
        yield from self.problems
        known = {record.record_id: record for record in self.records}
        successors = _find_successors(self.records, known)
        for record in self.records:
            place = f"{self.path.name} {record.record_id}"
            try:
                yield _import_record(record, place, known, successors)
            except LaminaError as error:
                yield ImportProblem(place, one_line(str(error)))


def open_skylattice_export(path: Path) -> SkylatticeExport | None:
    """Return the export at a path, or None if it is not one; InvalidInput if it is incomplete."""
    if not path.is_file() or path.suffix.lower() != ".json":
        return None
    head = read_head(path, _SNIFFED_BYTES)
    if not all(marker in head for marker in _MARKERS):
        return None
    try:
        document = json.loads(read_regular_file(path, MAX_EXPORT_BYTES))
        rows = list(document["records"])
    except DAMAGED_FILE_ERRORS as error:
        raise InvalidInput(f"{path.name} is not a complete export: {one_line(str(error))}; export it again") from error
    return _read_export(path, rows, document.get("count"))


def _read_export(path: Path, rows: Sequence[Any], count: object) -> SkylatticeExport:
    records: list[SkylatticeRecord] = []
    problems: list[ImportProblem] = []
    for n, row in enumerate(rows, 1):
        try:
            records.append(_parse_record(row))
        except DAMAGED_FILE_ERRORS as error:
            problems.append(ImportProblem(f"{path.name} #{n}", f"it is not a record: {one_line(str(error))}"))
    if isinstance(count, int) and count != len(rows):
        problems.append(ImportProblem(path.name, f"{count} records were exported, but it has {len(rows)}"))
    records.sort(key=lambda record: (record.created_at, record.record_id))
    return SkylatticeExport(path, tuple(records), tuple(problems))


def _parse_record(row: Mapping[str, Any]) -> SkylatticeRecord:
    """Return the record of a row; ValueError or another error of `DAMAGED_FILE_ERRORS` if it is none."""
    layer, status = Layer(row["layer"]), Status(row["status"])
    if layer not in _KINDS or status not in _STATUSES:
        raise ValueError(f"{layer} and {status} are no layer and status of Skylattice")
    metadata = _flatten(row.get("metadata") or {})
    created_at = parse_time(row["created_at"])
    sources = next((metadata[key] for key in _SOURCE_KEYS if key in metadata), ())
    return SkylatticeRecord(
        record_id=_require_text(row["record_id"]),
        layer=layer,
        status=status,
        summary=_require_text(row["summary"]),
        source_refs=tuple(map(str, row.get("source_refs") or ())),
        metadata=metadata,
        confidence=float(row.get("confidence", 1.0)),
        run_id=row.get("run_id"),
        supersedes=row.get("supersedes"),
        created_at=created_at,
        updated_at=parse_time(row["updated_at"]) if row.get("updated_at") else created_at,
        sources=tuple(map(str, sources)) if isinstance(sources, tuple) else (),
    )


def _require_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text is missing")
    return value


def _flatten(values: Mapping[str, Any], depth: int = 0) -> dict[str, MetadataValue]:
    """Return metadata without nested maps: their values have keys like `outer.inner`; null is left out."""
    if depth > _MAX_METADATA_DEPTH:
        raise ValueError("its metadata is nested too deeply")
    flat: dict[str, MetadataValue] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{name}": item for name, item in _flatten(value, depth + 1).items()}
        elif isinstance(value, list):
            flat[key] = tuple(map(_to_scalar, value))
        elif value is not None:
            flat[key] = check_value(value)
    return flat


def _to_scalar(value: object) -> MetadataScalar:
    is_scalar = isinstance(value, str | bool | int | float)
    return value if is_scalar else json.dumps(value, ensure_ascii=False)  # type: ignore[return-value]


def _find_successors(
    records: Sequence[SkylatticeRecord], known: Mapping[str, SkylatticeRecord]
) -> dict[str, SkylatticeRecord]:
    """Return what superseded each superseded record: a record that says so, else the last that was made of it."""
    by_sources = {source: record for record in records if record.is_confirmed for source in record.sources}
    by_links = {record.supersedes: record for record in records if record.supersedes is not None}
    return {
        record_id: successor
        for record_id, successor in (by_sources | by_links).items()
        if record_id in known and known[record_id].status is Status.SUPERSEDED
    }


def _import_record(
    record: SkylatticeRecord,
    place: str,
    known: Mapping[str, SkylatticeRecord],
    successors: Mapping[str, SkylatticeRecord],
) -> ImportedFact:
    source_id = f"{SOURCE_NAME}:{record.record_id}"
    is_pending = record.status in (Status.ACTIVE, Status.CONSTRAINED)
    ended = [known[name].updated_at for name, other in successors.items() if other.record_id == record.record_id]
    has_start = bool(ended) or (record.layer is Layer.PROFILE and record.status is not Status.CONSTRAINED)
    starts = max([record.created_at, *ended]) if has_start else None
    ends = record.updated_at if record.status is Status.SUPERSEDED else None
    fields: dict[str, object] = {
        "content": record.summary,
        "kind": "synthesis" if "compacted_from" in record.metadata else _KINDS[record.layer],
        "value": to_text(record.metadata.get("value", "")) or None if record.layer is Layer.PROFILE else None,
        "metadata": _metadata_of(record, known),
        "observed_at": record.created_at,
        "valid_from": starts if starts is None or ends is None or starts < ends else None,
        "valid_until": ends if ends is None or ends > record.created_at else None,
        "confidence": record.confidence,
        "layer": record.layer,
    }
    draft = parse_draft(**{name: value for name, value in fields.items() if value is not None}, source_id=source_id)
    successor = successors.get(record.record_id)
    return ImportedFact(
        draft=draft,
        status=Status.CONSTRAINED if is_pending else record.status,
        foreign_id=record.record_id,
        replaced_by=successor.record_id if successor else None,
        source_id=source_id,
        path=place,
        content_hash=content_hash_of(
            "fact", source_id, record.layer, record.summary, "active" if is_pending else record.status
        ),
        run_id=record.run_id,
        sources=record.sources,
        keeps_retracted=True,
    )


def _metadata_of(record: SkylatticeRecord, known: Mapping[str, SkylatticeRecord]) -> dict[str, MetadataValue]:
    """Return the metadata with the fields of the record that an atom does not have."""
    metadata = {key: value for key, value in record.metadata.items() if key != FORGET_REQUESTED_AT}
    proposal_type = metadata.get(PROPOSAL_TYPE_KEY)
    if proposal_type is not None and not (record.status is Status.CONSTRAINED and proposal_type in _PROPOSALS):
        metadata[DECIDED_PROPOSAL] = metadata.pop(PROPOSAL_TYPE_KEY)
    if record.status in (Status.ACTIVE, Status.CONSTRAINED):
        metadata[IMPORTED_STATUS] = record.status.value
    if record.status is Status.TOMBSTONED:
        metadata[FORGET_REQUESTED_AT] = format_time(record.updated_at)
    if record.source_refs:
        metadata["source_refs"] = record.source_refs
    if record.updated_at != record.created_at:
        metadata["updated_at"] = format_time(record.updated_at)
    if record.supersedes is not None and record.supersedes not in known:
        metadata["supersedes"] = record.supersedes
    return metadata
