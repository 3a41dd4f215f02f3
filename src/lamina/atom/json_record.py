"""Convert an atom to plain JSON values, and to the difference between two versions, as the journal stores them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any

from lamina.atom.atom import DATA_FIELDS, Atom, AtomId, Evidence, Relation, RelationName
from lamina.atom.kinds import Durability, Layer, MemoryType
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.text.timestamps import format_time, parse_time

Json = Any
Record = dict[str, Json]

_TIMES = ("observed_at", "recorded_at", "valid_from", "valid_until", "expires_at")
_TUPLES = ("tags", "entities", "agents", "derived_from", "supersedes", "superseded_by")
_ENUMS: dict[str, Callable[[str], Any]] = {
    "origin": Origin,
    "status": Status,
    "layer": Layer,
    "durability": Durability,
    "memory_type": MemoryType,
}


def _encode_relation(relation: Relation) -> Json:
    reinforced_at = relation.last_reinforced_at
    return [
        relation.name.value,
        relation.target,
        relation.confidence,
        format_time(reinforced_at) if reinforced_at else None,
    ]


def _decode_relation(item: Json) -> Relation:
    name, target, confidence, reinforced_at = item
    return Relation(
        RelationName(name), AtomId(target), confidence, parse_time(reinforced_at) if reinforced_at else None
    )


_ENCODERS: dict[str, Callable[[Any], Json]] = {
    **dict.fromkeys(_TIMES, format_time),
    **dict.fromkeys(_TUPLES, list),
    **dict.fromkeys(_ENUMS, str),
    "metadata": lambda values: {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items()
    },
    "evidence": lambda items: [[item.segment, item.passage, item.start, item.end] for item in items],
    "relations": lambda items: [_encode_relation(item) for item in items],
}
_DECODERS: dict[str, Callable[[Json], Any]] = {
    **dict.fromkeys(_TIMES, parse_time),
    **dict.fromkeys(_TUPLES, tuple),
    **_ENUMS,
    "metadata": lambda values: {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    },
    "evidence": lambda items: tuple(Evidence(*item) for item in items),
    "relations": lambda items: tuple(_decode_relation(item) for item in items),
    "id": AtomId,
    "scope": Scope,
}

_DEFAULTS: dict[str, Any] = {
    field.name: field.default_factory() if field.default_factory is not MISSING else field.default
    for field in fields(Atom)
    if field.default is not MISSING or field.default_factory is not MISSING
}


def to_record(atom: Atom) -> Record:
    """Return every field that differs from its default, as JSON values."""
    record: Record = {}
    for name in DATA_FIELDS:
        value = getattr(atom, name)
        if name not in _DEFAULTS or value != _DEFAULTS[name]:
            record[name] = encode_field(name, value)
    return record


def from_record(record: Mapping[str, Json], revision: int = 0) -> Atom:
    """Return the atom that a record describes."""
    return Atom(**{name: decode_field(name, value) for name, value in record.items()}, revision=revision)


@lru_cache(maxsize=4096)
def parse_record(text: str, revision: int) -> Atom:
    """Return the atom that a record in JSON describes; the last ones are cached, as atoms do not change."""
    return from_record(json.loads(text), revision)


def encode_field(name: str, value: Any) -> Json:
    """Return a field's value as JSON."""
    encode = _ENCODERS.get(name)
    return value if encode is None or value is None else encode(value)


def decode_field(name: str, value: Json) -> Any:
    """Return a field's value from JSON."""
    decode = _DECODERS.get(name)
    return value if decode is None or value is None else decode(value)


def diff_atoms(old: Atom | None, new: Atom) -> Record:
    """Return the fields that a new version sets, as JSON values. Content that was only appended to is {"+": the added
    text}."""
    if old is None:
        return to_record(new)
    changed: Record = {}
    for name in DATA_FIELDS:
        before, after = getattr(old, name), getattr(new, name)
        if before == after:
            continue
        if name == "content" and before and after.startswith(before):
            changed[name] = {"+": after[len(before) :]}
        else:
            changed[name] = encode_field(name, after)
    return changed


def apply_diff(old: Atom | None, changes: Mapping[str, Json], revision: int) -> Atom:
    """Return the version that results from the previous one and its difference; the inverse of `diff_atoms`."""
    if old is None:
        return from_record(changes, revision)
    values = {name: decode_field(name, value) for name, value in changes.items() if name != "content"}
    if "content" in changes:
        text = changes["content"]
        values["content"] = old.content + text["+"] if isinstance(text, dict) else text
    return old.with_(**values, revision=revision)
