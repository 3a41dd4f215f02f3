"""Turn the rows of engram's tables into statements, with what other tables say about them, and its diary into words."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from lamina.atom.atom import Signals
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.status import Status
from lamina.capture.caller_input import LABEL_LIMIT, Draft, parse_draft
from lamina.capture.pieces import TextPiece
from lamina.errors import InvalidInput
from lamina.importers.chat_export import moment_from_seconds
from lamina.importers.documents.text_decoding import storable_text
from lamina.importers.import_items import ImportedDocument, ImportedFact, ImportStep, SkippedItem, content_hash_of
from lamina.lifecycle.signals import MAX_USE_TIMES
from lamina.text.normal_form import one_line
from lamina.text.timestamps import format_time, parse_time_or_none

SOURCE = "engram"
Row: TypeAlias = Mapping[str, Any]
_STATUSES = {
    "challenged": Status.CHALLENGED,
    "invalidated": Status.INVALIDATED,
    "merged": Status.MERGED,
    "superseded": Status.SUPERSEDED,
}
"""Statuses that are kept; everything else is pending review."""
_CONFIDENCE = {
    "remember:human": 1.0,
    "remember:ai": 0.8,
    "interaction": 0.8,
    "code_scan": 0.8,
    "ingest": 0.7,
    "dream": 0.5,
}
_DEFAULT_CONFIDENCE = 0.7
_SUCCESSOR_KEYS = ("superseded_by", "merged_into", "replaced_by")
_FIELD_KEYS = frozenset({"pinned", "tags", "keywords"})
"""Keys of the metadata that become fields."""
_KEPT_COLUMNS = ("source_file", "source_type", "fact_date", "fact_date_end", "previous_memory_id")
_MAX_HISTORY = 20
"""The most changes of a status or an importance that are listed."""


@dataclass(frozen=True, slots=True)
class EngramContext:
    """The rows of other tables about a memory, by its id, and the names of entities by theirs."""

    entity_names: Mapping[str, str]
    mentions: Mapping[str, Sequence[str]]
    transitions: Mapping[str, Sequence[str]]
    accesses: Mapping[str, Sequence[datetime]]
    scores: Mapping[str, Sequence[str]]

    @classmethod
    def from_tables(cls, tables: Mapping[str, Sequence[Row]]) -> EngramContext:
        """Return the context in the rows of these tables."""
        names = {str(row.get("id")): storable_text(str(row.get("canonical_name") or "")) for row in tables["entities"]}
        mentions, transitions, scores = defaultdict[str, list[str]](list), defaultdict(list), defaultdict(list)
        accesses = defaultdict[str, list[datetime]](list)
        for row in tables["entity_mentions"]:
            if name := names.get(str(row.get("entity_id"))):
                mentions[str(row.get("memory_id"))].append(name)
        for row in tables["status_history"]:
            transitions[str(row.get("memory_id"))].append(_describe_transition(row))
        for row in tables["importance_history"]:
            scores[str(row.get("memory_id"))].append(f"{_day(row.get('recorded_at'))} {row.get('score')}")
        for row in tables["access_log"]:
            if (at := moment_from_seconds(row.get("accessed_at"))) is not None:
                accesses[str(row.get("memory_id"))].append(at)
        return cls(names, mentions, transitions, accesses, scores)


def import_memory(row: Row, place: str, context: EngramContext) -> ImportStep:
    """Return the statement that a memory is."""
    foreign_id, content = str(row["id"]), storable_text(str(row["content"] or "")).strip()
    if not content:
        return SkippedItem(place, "it is empty")
    metadata = _parse_metadata(row.get("metadata"))
    status, source_id = _status_of(row, metadata), f"{SOURCE}:{foreign_id}"
    created_at, happened_at = moment_from_seconds(row.get("created_at")), parse_time_or_none(row.get("fact_date"))
    fields: dict[str, object] = {
        "content": content,
        "kind": _kind_of(row),
        "layer": _member_or_none(Layer, row.get("layer")),
        "memory_type": _member_or_none(MemoryType, row.get("memory_type")),
        "importance": _clamp(row.get("importance"), 0.0),
        "valence": _clamp(row.get("emotional_valence"), -1.0) if row.get("emotional_valence") else None,
        "confidence": _CONFIDENCE.get(str(row.get("source_type")), _DEFAULT_CONFIDENCE),
        "pinned": bool(metadata.get("pinned")),
        "tags": _labels([*_list_of(metadata.get("tags")), *_list_of(metadata.get("keywords"))]),
        "entities": _labels(context.mentions.get(foreign_id, ())),
        "observed_at": happened_at or created_at,
        "metadata": _kept_metadata(row, metadata, context),
    }
    draft = parse_draft(**{name: value for name, value in fields.items() if value is not None}, source_id=source_id)
    successors = (metadata.get(key) for key in _SUCCESSOR_KEYS)
    ended = () if status is Status.CONSTRAINED else (status.value,)
    return ImportedFact(
        draft=draft,
        status=status,
        foreign_id=foreign_id,
        replaced_by=next((str(successor) for successor in successors if successor), None),
        source_id=source_id,
        path=place,
        content_hash=content_hash_of("fact", source_id, draft.kind, draft.subject, draft.content, *ended),
        signals=_signals_of(row, context.accesses.get(foreign_id, ())),
        note="; ".join(context.transitions.get(foreign_id, ())[-_MAX_HISTORY:]),
        keeps_retracted=True,
        has_faded=bool(row.get("forgotten")),
    )


def import_diary(row: Row, place: str) -> list[ImportStep]:
    """Return an entry of the diary as words of its session."""
    text = storable_text(str(row["text"] or "")).strip()
    if not text:
        return [SkippedItem(place, "it is empty")]
    at, session = moment_from_seconds(row.get("created_at")), f"{SOURCE}-{row.get('session_id') or 'diary'}"
    source_id = f"{SOURCE}:diary"
    return [
        ImportedDocument(
            title="diary",
            session_id=session,
            source_id=source_id,
            observed_at=at,
            pieces=(TextPiece(text, at=at),),
            path=place,
            content_hash=content_hash_of(source_id, session, text),
        )
    ]


def _status_of(row: Row, metadata: Row) -> Status:
    """Return the status; a memory that was forgotten there is hidden here, and can be restored."""
    if row.get("forgotten"):
        return Status.TOMBSTONED
    status = _STATUSES.get(str(row.get("status")).lower(), Status.CONSTRAINED)
    return Status.INVALIDATED if metadata.get("invalidated") and status is Status.CONSTRAINED else status


def _kind_of(row: Row) -> str:
    layer, memory_type = str(row.get("layer")), str(row.get("memory_type"))
    if layer == "codebase":
        return "code"
    if memory_type == "procedure" or layer == "procedural":
        return "procedure"
    return "fact" if memory_type == "fact" or layer == "semantic" else "event"


def _kept_metadata(row: Row, metadata: Row, context: EngramContext) -> dict[str, str]:
    """Return everything that has no field, as text, with the history of the status and of the importance."""
    foreign_id, created_at = str(row["id"]), moment_from_seconds(row.get("created_at"))
    metadata_fields = {name: row.get(name) for name in _KEPT_COLUMNS}
    metadata_fields |= {name: value for name, value in metadata.items() if name not in _FIELD_KEYS}
    metadata_fields["created_at"] = format_time(created_at) if created_at else None
    metadata_fields["status_history"] = "; ".join(context.transitions.get(foreign_id, ())[-_MAX_HISTORY:])
    metadata_fields["importance_history"] = ", ".join(context.scores.get(foreign_id, ())[-_MAX_HISTORY:])
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in metadata_fields.items()}
    is_kept = {name for name, value in metadata_fields.items() if value not in (None, "", [], {})}
    return {one_line(name)[:LABEL_LIMIT]: storable_text(text) for name, text in texts.items() if name in is_kept}


def _signals_of(row: Row, accesses: Sequence[datetime]) -> Signals:
    """Return the counters of use."""
    count, times = max(int(row.get("access_count") or 0), len(accesses)), sorted(accesses)
    last = moment_from_seconds(row.get("last_accessed")) if count else None
    times = times or ([last] if last else [])
    if not count:
        return Signals()
    return Signals(
        recall_count=count,
        last_recalled_at=max([*times, *([last] if last else [])], default=None),
        uses=tuple(times[-MAX_USE_TIMES:]),
        first_used_at=times[0] if times else None,
        use_days=len({at.date() for at in times}),
    )


def _parse_metadata(value: object) -> dict[str, Any]:
    """Return the metadata, which the database holds as JSON and the export as an object."""
    parsed = json.loads(value or "{}") if isinstance(value, str) else value
    if parsed is None:
        return {}
    if not isinstance(parsed, dict):
        raise InvalidInput("its metadata is not an object")
    return parsed


def _describe_transition(row: Row) -> str:
    change = f"{_day(row.get('changed_at'))} {row.get('old_status')} → {row.get('new_status')}"
    reason = one_line(str(row.get("reason") or ""))
    return storable_text(f"{change}: {reason}" if reason else change)


def _day(seconds: object) -> str:
    at = moment_from_seconds(seconds)
    return format_time(at) if at else "?"


def _list_of(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _labels(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(label for name in names if (label := one_line(storable_text(name))[:LABEL_LIMIT])))


def _clamp(value: object, lowest: float) -> float | None:
    return min(1.0, max(lowest, float(value))) if isinstance(value, int | float) else None


def _member_or_none(names: type[Layer] | type[MemoryType], value: object) -> str | None:
    return str(value) if value in {member.value for member in names} else None


_MIN_CONFIDENCE = 0.4
"""Relations are at least inferred: a lower confidence would make them guesses that expire."""


def import_relation(row: Row, place: str, context: EngramContext) -> ImportedFact:
    """Return the statement that a relation of two entities is; InvalidInput if one of them is missing."""
    ends = [str(row.get(f"{end}_entity_id") or row.get(end)) for end in ("source", "target")]
    names = [context.entity_names.get(end, "") for end in ends]
    if not all(names):
        raise InvalidInput("it relates an entity that is missing")
    relation = one_line(str(row.get("relation_type") or "related to"))
    strength = row.get("strength")
    metadata = {
        name: str(row[name]) for name in ("strength", "evidence_count") if isinstance(row.get(name), int | float)
    }
    begins, ends_at = moment_from_seconds(row.get("valid_from")), moment_from_seconds(row.get("valid_to"))
    draft = parse_draft(
        content=f"{names[0]} {relation.replace('_', ' ').lower()} {names[1]}",
        kind="relationship",
        subject=names[0],
        entities=names,
        metadata={"relation": relation, **metadata},
        confidence=min(1.0, max(_MIN_CONFIDENCE, strength)) if isinstance(strength, int | float) else _MIN_CONFIDENCE,
        observed_at=moment_from_seconds(row.get("last_seen")) or moment_from_seconds(row.get("created_at")),
        valid_from=begins,
        valid_until=ends_at if ends_at and (begins is None or ends_at > begins) else None,
    )
    return _imported_fact(draft, f"{ends[0]} {relation} {ends[1]}", place)


def import_names(row: Row, place: str) -> Iterator[ImportedFact]:
    """Yield a statement for each other name of an entity."""
    name, aliases = one_line(storable_text(str(row["canonical_name"]))), row.get("aliases")
    for alias in json.loads(aliases) if isinstance(aliases, str) else aliases or ():
        other_name = one_line(storable_text(str(alias)))
        draft = parse_draft(
            content=f"{name} is also called {other_name}.",
            subject=name,
            attribute="alias",
            value=other_name,
            entities=[name],
            metadata={"entity_type": str(row.get("entity_type") or "concept")},
            observed_at=moment_from_seconds(row.get("first_seen")),
        )
        yield _imported_fact(draft, f"{row.get('id')} {other_name}", place)


def _imported_fact(draft: Draft, foreign_id: str, place: str) -> ImportedFact:
    source_id = f"{SOURCE}:entities"
    return ImportedFact(
        draft=draft.model_copy(update={"source_id": source_id}),
        status=Status.CONSTRAINED,
        foreign_id=foreign_id,
        replaced_by=None,
        source_id=source_id,
        path=place,
        content_hash=content_hash_of("fact", source_id, foreign_id, draft.content),
    )
