"""Turn the entity graph of engram into statements: each relation of two entities, and each other name of one."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lamina.atom.status import Status
from lamina.capture.caller_input import Draft, parse_draft
from lamina.errors import InvalidInput
from lamina.importers.chat_export import moment_from_seconds
from lamina.importers.documents.text_decoding import storable_text
from lamina.importers.engram_memories import SOURCE, EngramContext, Row
from lamina.importers.import_items import ImportedFact, content_hash_of
from lamina.text.normal_form import one_line

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
