"""Define how each field of an atom is read from and written to frontmatter, and its default.

Links between atoms are wikilinks that a person can click and that carry the id of their target.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from lamina.atom.atom import Atom, AtomId, Evidence, Relation, RelationName, Signals, is_atom_id
from lamina.atom.kinds import Durability, Layer, MemoryType
from lamina.atom.metadata import Metadata, MetadataScalar, MetadataValue, parse_scalar, to_text
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.lifecycle.signals import HIGHEST_QUALITY, LOWEST_QUALITY
from lamina.text.timestamps import format_time, parse_time
from lamina.vault.yaml_codec import FrontmatterValue, PlainScalar, PlainText, YamlValue

StemLookup = Callable[[str], str]
"""Returns the file stem for the wikilink to an id."""

ID_LENGTH = 26

_WIKILINK = re.compile(r"\[\[(.+)\]\]", re.DOTALL)
_UNLINKABLE = re.compile(r"[|#]|\.md$|^\s|\s$")
_EVIDENCE = re.compile(r"\[\[(.+)#\^p(\d{1,9})(?:\|(\d{1,9})-(\d{1,9})(?: ([0-9a-z]{26}))?)?\]\]", re.DOTALL)
_RELATION = re.compile(
    r"(\w+) +(\[\[.+\]\]|[^\[ ][^ ]*)(?: +([0-9.][0-9.e-]*))?(?: +(\d{4}-[0-9-]+T[0-9:.]+Z))?", re.DOTALL
)


def read_link(text: str) -> AtomId:
    """Return the id that a link or a bare name points to; the name itself if it carries no id."""
    match = _WIKILINK.fullmatch(text.strip())
    if match is None:
        return AtomId(_id_at_end(text.strip()))
    target, bar, alias = match[1].partition("|")
    if bar and is_atom_id(alias):
        return AtomId(alias)
    return AtomId(_id_at_end(target.partition("#")[0].removesuffix(".md")))


def write_link(target: str, stem_lookup: StemLookup) -> str:
    """Return a wikilink to an atom. If the name of its file does not end with the id, the id is the link's text."""
    if is_atom_id(target):
        stem = stem_lookup(target)
        return f"[[{stem}]]" if stem.endswith(target) else f"[[{stem}|{target}]]"
    return target if _UNLINKABLE.search(target) else f"[[{target}]]"


def read_evidence(text: str) -> Evidence:
    """Return the position in a segment that `[[segment#^p7|12-48]]` names; ValueError if malformed."""
    match = _EVIDENCE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'{text!r} is not a place in a segment; write "[[segment#^p7|12-48]]"')
    segment, passage, start, end, segment_id = match.groups()
    if segment_id is None or not is_atom_id(segment_id):
        segment_id = _id_at_end(segment)
    return Evidence(segment_id, int(passage), int(start or 0), int(end or 0))


def write_evidence(evidence: Evidence, stem_lookup: StemLookup) -> str:
    """Return the position as a wikilink to its passage."""
    segment = evidence.segment
    stem = stem_lookup(segment) if is_atom_id(segment) else segment
    span = f"{evidence.start}-{evidence.end}" if evidence.start or evidence.end else ""
    if not stem.endswith(segment):
        span = f"{evidence.start}-{evidence.end} {segment}"
    return f"[[{stem}#^p{evidence.passage}{'|' + span if span else ''}]]"


def read_relation(text: str) -> Relation:
    """Return the relation that `depends_on [[fact-01…]] 0.85 2026-11-14T09:12:00Z` names; ValueError if malformed."""
    match = _RELATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'{text!r} is not a relation; write "depends_on [[name]] 0.85"')
    name, target, confidence, reinforced_at = match.groups()
    if name not in RelationName.__members__.values():
        raise ValueError(f"{name!r} is not a relation; choose one of {', '.join(RelationName)}")
    strength = float(confidence) if confidence else 1.0
    if strength > 1.0:
        raise ValueError(f"the confidence {confidence} of a relation is above 1")
    return Relation(
        RelationName(name), read_link(target), strength, parse_time(reinforced_at) if reinforced_at else None
    )


def write_relation(relation: Relation, stem_lookup: StemLookup) -> str:
    """Return the relation as text: its name, a wikilink, its confidence unless 1, and when it was last reinforced."""
    words = [relation.name.value, write_link(relation.target, stem_lookup)]
    if relation.confidence != 1.0:
        words.append(repr(relation.confidence))
    if relation.last_reinforced_at is not None:
        words.append(format_time(relation.last_reinforced_at))
    return " ".join(words)


def _id_at_end(name: str) -> str:
    end = name[-ID_LENGTH:]
    return end if is_atom_id(end) else name


MAX_SUBJECT = 500

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_BOOL_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_E = TypeVar("_E", bound=StrEnum)


class FieldCodec(NamedTuple):
    """A codec of one field: how it is read from frontmatter (ValueError if it cannot be) and written to it."""

    read: Callable[[FrontmatterValue], Any]
    write: Callable[[Any, StemLookup], YamlValue]


def read_text(value: FrontmatterValue) -> str:
    """Return the text as written; ValueError if it is a list or map or contains NUL."""
    if not isinstance(value, str):
        raise ValueError(f"must be text, not a {_type_name(value)}")
    if "\0" in value:
        raise ValueError("must not contain NUL")
    return str(value)


def read_bool(value: FrontmatterValue) -> bool:
    """Return the boolean of true, false, yes or no; ValueError for other values."""
    truth = parse_bool(read_text(value))
    if truth is None:
        raise ValueError(f"{value!r} is neither true nor false")
    return truth


def parse_bool(value: FrontmatterValue) -> bool | None:
    """Return the boolean that a text names; None if it names none."""
    return _BOOL_WORDS.get(value.strip().lower()) if isinstance(value, str) else None


def read_layer(value: FrontmatterValue) -> Layer:
    """Return the layer, or the layer of a tier in older files; ValueError if it is unknown."""
    return Layer.EPISODIC if value == "stm" else _enum_reader(Layer)(value)


def _read_subject(value: FrontmatterValue) -> str:
    text = read_text(value)
    if len(text) > MAX_SUBJECT:
        raise ValueError(f"is longer than {MAX_SUBJECT} characters")
    return text


def _number_reader(low: float, high: float) -> Callable[[FrontmatterValue], float]:
    def read(value: FrontmatterValue) -> float:
        text = read_text(value).strip()
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if math.isnan(number):
            raise ValueError(f"{text!r} is not a number")
        if not low <= number <= high or math.isinf(number):
            raise ValueError(f"{text} is not between {low:g} and {high:g}")
        return number

    return read


def _read_count(value: FrontmatterValue) -> int:
    text = read_text(value).strip()
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError(f"{text!r} is not a count")
    return int(text)


def _time_reader(*, end: bool = False) -> Callable[[FrontmatterValue], datetime]:
    def read(value: FrontmatterValue) -> datetime:
        text = read_text(value)
        try:
            return parse_time(text, end=end)
        except (ValueError, OverflowError):
            raise ValueError(f"{text!r} is not a time; write it as 2026-11-14T09:12:00Z") from None

    return read


def _enum_reader(enum: type[_E]) -> Callable[[FrontmatterValue], _E]:
    members = {member.value: member for member in enum}

    def read(value: FrontmatterValue) -> _E:
        member = members.get(read_text(value).strip().lower())
        if member is None:
            raise ValueError(f"{value!r} is unknown; choose one of {', '.join(members)}")
        return member

    return read


def _read_items(value: FrontmatterValue) -> list[str]:
    """Return the texts of a list; `[[name]]` without quotes is YAML for a list in a list, and means the link."""
    if isinstance(value, str):
        return [read_text(value)]
    if isinstance(value, dict):
        raise ValueError("must be a list, not a map")
    return [_read_item(item) for item in value]


def _read_item(value: FrontmatterValue) -> str:
    is_link = isinstance(value, list)
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return f"[[{read_text(value)}]]" if is_link else read_text(value)


def _read_texts(value: FrontmatterValue) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for text in map(read_text, value) if text)
    return tuple(text for text in _read_items(value) if text)


def _read_names(value: FrontmatterValue) -> tuple[str, ...]:
    if not isinstance(value, str):
        return _read_texts(value)
    return tuple(name for part in read_text(value).split(",") if (name := part.strip()))


def _tuple_reader(read: Callable[[str], Any]) -> Callable[[FrontmatterValue], tuple[Any, ...]]:
    return lambda value: tuple(item for text in _read_items(value) if text.strip() and (item := read(text)))


def _read_metadata(value: FrontmatterValue) -> dict[str, MetadataValue]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a map, not {'text' if isinstance(value, str) else 'a list'}")
    return {
        read_text(key): tuple(map(_read_metadata_scalar, item))
        if isinstance(item, list)
        else _read_metadata_scalar(item)
        for key, item in value.items()
    }


def _read_metadata_scalar(value: FrontmatterValue) -> MetadataScalar:
    text = read_text(value)
    return parse_scalar(text) if isinstance(value, PlainText) else text


def _write_metadata(metadata: Metadata, _: StemLookup) -> dict[str, str | list[str]]:
    return {
        key: list(map(_write_metadata_scalar, value)) if isinstance(value, tuple) else _write_metadata_scalar(value)
        for key, value in metadata.items()
    }


def _write_metadata_scalar(value: MetadataScalar) -> str:
    return value if isinstance(value, str) else PlainScalar(to_text(value))


def _type_name(value: FrontmatterValue) -> str:
    return "list" if isinstance(value, list) else "map"


_TEXT = FieldCodec(read_text, lambda text, _: text)
_NAMES = FieldCodec(_read_names, lambda names, _: list(names))
_TIME = FieldCodec(_time_reader(), lambda moment, _: PlainScalar(format_time(moment)))
_BOOL = FieldCodec(read_bool, lambda truth, _: PlainScalar("true" if truth else "false"))
_SHARE = FieldCodec(_number_reader(0, 1), lambda number, _: PlainScalar(repr(number)))
_LINKS = FieldCodec(_tuple_reader(read_link), lambda ids, link: [write_link(atom_id, link) for atom_id in ids])


def _enum_field(enum: type[StrEnum]) -> FieldCodec:
    return FieldCodec(_enum_reader(enum), lambda member, _: str(member))


FIELDS: Mapping[str, FieldCodec] = {
    "id": _TEXT,
    "kind": _TEXT,
    "subject": FieldCodec(_read_subject, lambda text, _: text),
    "attribute": _TEXT,
    "value": _TEXT,
    "status": _enum_field(Status),
    "layer": FieldCodec(read_layer, lambda layer, _: str(layer)),
    "durability": _enum_field(Durability),
    "memory_type": _enum_field(MemoryType),
    "pinned": _BOOL,
    "resolved": _BOOL,
    "confidence": _SHARE,
    "importance": _SHARE,
    "surprise": FieldCodec(_number_reader(-1e9, 1e9), lambda number, _: PlainScalar(repr(number))),
    "valence": FieldCodec(_number_reader(-1, 1), lambda number, _: PlainScalar(repr(number))),
    "tags": _NAMES,
    "entities": FieldCodec(_read_texts, lambda texts, _: list(texts)),
    "agents": _NAMES,
    "observed_at": _TIME,
    "recorded_at": _TIME,
    "valid_from": _TIME,
    "valid_until": FieldCodec(_time_reader(end=True), _TIME.write),
    "expires_at": _TIME,
    "source_id": _TEXT,
    "session_id": _TEXT,
    "segment_id": _TEXT,
    "source_ref": _TEXT,
    "origin": _enum_field(Origin),
    "principal": _TEXT,
    "evidence": FieldCodec(
        _tuple_reader(read_evidence), lambda items, link: [write_evidence(item, link) for item in items]
    ),
    "derived_from": _LINKS,
    "supersedes": _LINKS,
    "superseded_by": _LINKS,
    "relations": FieldCodec(
        _tuple_reader(read_relation), lambda items, link: [write_relation(item, link) for item in items]
    ),
    "episode_id": _TEXT,
    "box_id": _TEXT,
    "trace_id": _TEXT,
    "run_id": _TEXT,
    "metadata": FieldCodec(_read_metadata, _write_metadata),
}
"""Every field of the frontmatter, in the order of a new file."""

SIGNAL_FIELDS: Mapping[str, FieldCodec] = {
    "quality_score": FieldCodec(
        _number_reader(LOWEST_QUALITY, HIGHEST_QUALITY), lambda number, _: PlainScalar(repr(number))
    ),
    "recall_count": FieldCodec(_read_count, lambda count, _: PlainScalar(count)),
    "last_recalled_at": _TIME,
}

EVIDENCE_COUNT_KEY = "evidence_count"
"""The key for the number of pieces of evidence, in files that show only the first and last ones."""
FIELD_ORDER: tuple[str, ...] = (
    *(key for name in FIELDS for key in ((name, EVIDENCE_COUNT_KEY) if name == "evidence" else (name,))),
    *SIGNAL_FIELDS,
)

FIELD_DEFAULTS: Mapping[str, Any] = {
    "id": None,
    "kind": "fact",
    "content": "",
    "observed_at": None,
    **{
        field.name: field.default for field in fields(Atom) if field.default is not MISSING and field.name != "revision"
    },
    "metadata": MappingProxyType({}),
}
"""The value of a field that the file does not set; layer, durability and memory_type depend on the kind instead."""


def used_counters(signals: Signals) -> dict[str, Any]:
    """Return the counters of use that differ from those of an atom that was never used, with times as text."""
    values = ((name, getattr(signals, name)) for name in SIGNAL_FIELDS)
    return {
        name: format_time(value) if isinstance(value, datetime) else value
        for name, value in values
        if value != getattr(Signals(), name)
    }


SIGNAL_DEFAULTS: Mapping[str, Any] = {name: getattr(Signals(), name) for name in SIGNAL_FIELDS}
