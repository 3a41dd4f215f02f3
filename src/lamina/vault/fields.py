"""Define how each field of an atom is read from and written to frontmatter, and its default."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from lamina.atom.atom import Atom, Signals
from lamina.atom.kinds import Durability, Layer, MemoryType
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.text.times import format_time, parse_time
from lamina.vault.emit_yaml import Emitted, Plain
from lamina.vault.links import Link, read_evidence, read_link, read_relation, write_evidence, write_link, write_relation
from lamina.vault.strict_yaml import Value

MAX_SUBJECT = 500

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_E = TypeVar("_E", bound=StrEnum)


class Field(NamedTuple):
    """How one field is read from frontmatter (ValueError if it cannot be) and written to it."""

    read: Callable[[Value], Any]
    write: Callable[[Any, Link], Emitted]


def read_text(value: Value) -> str:
    """Return the text as written; ValueError if it is a list or map or contains NUL."""
    if not isinstance(value, str):
        raise ValueError(f"must be text, not a {_shape(value)}")
    if "\0" in value:
        raise ValueError("must not contain NUL")
    return value


def read_truth(value: Value) -> bool:
    """Return the boolean of true, false, yes or no; ValueError for other values."""
    truth = truth_of(read_text(value))
    if truth is None:
        raise ValueError(f"{value!r} is neither true nor false")
    return truth


def truth_of(value: Value) -> bool | None:
    """Return the boolean that a text names; None if it names none."""
    return _TRUTH.get(value.strip().lower()) if isinstance(value, str) else None


def read_layer(value: Value) -> Layer:
    """Return the layer, or the layer of a tier in older files; ValueError if it is unknown."""
    return Layer.EPISODIC if value == "stm" else _one_of(Layer)(value)


def _read_subject(value: Value) -> str:
    text = read_text(value)
    if len(text) > MAX_SUBJECT:
        raise ValueError(f"is longer than {MAX_SUBJECT} characters")
    return text


def _number(low: float, high: float) -> Callable[[Value], float]:
    def read(value: Value) -> float:
        text = read_text(value).strip()
        number = float(text) if _NUMBER.fullmatch(text) else math.nan
        if math.isnan(number):
            raise ValueError(f"{text!r} is not a number")
        if not low <= number <= high or math.isinf(number):
            raise ValueError(f"{text} is not between {low:g} and {high:g}")
        return number

    return read


def _read_count(value: Value) -> int:
    text = read_text(value).strip()
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError(f"{text!r} is not a count")
    return int(text)


def _time(*, end: bool = False) -> Callable[[Value], datetime]:
    def read(value: Value) -> datetime:
        text = read_text(value)
        try:
            return parse_time(text, end=end)
        except (ValueError, OverflowError):
            raise ValueError(f"{text!r} is not a time; write it as 2026-11-14T09:12:00Z") from None

    return read


def _one_of(enum: type[_E]) -> Callable[[Value], _E]:
    members = {member.value: member for member in enum}

    def read(value: Value) -> _E:
        member = members.get(read_text(value).strip().lower())
        if member is None:
            raise ValueError(f"{value!r} is unknown; choose one of {', '.join(members)}")
        return member

    return read


def _items(value: Value) -> list[str]:
    """Return the texts of a list; `[[name]]` without quotes is YAML for a list in a list, and means the link."""
    if isinstance(value, str):
        return [read_text(value)]
    if isinstance(value, dict):
        raise ValueError("must be a list, not a map")
    return [_item(item) for item in value]


def _item(value: Value) -> str:
    is_link = isinstance(value, list)
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return f"[[{read_text(value)}]]" if is_link else read_text(value)


def _read_texts(value: Value) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(text for text in map(read_text, value) if text)
    return tuple(text for text in _items(value) if text)


def _read_names(value: Value) -> tuple[str, ...]:
    if not isinstance(value, str):
        return _read_texts(value)
    return tuple(name for part in read_text(value).split(",") if (name := part.strip()))


def _each(read: Callable[[str], Any]) -> Callable[[Value], tuple[Any, ...]]:
    return lambda value: tuple(item for text in _items(value) if text.strip() and (item := read(text)))


def _read_map(value: Value) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a map, not {'text' if isinstance(value, str) else 'a list'}")
    return {read_text(key): _joined(item) for key, item in value.items()}


def _joined(value: Value) -> str:
    return ", ".join(map(read_text, value)) if isinstance(value, list) else read_text(value)


def _shape(value: Value) -> str:
    return "list" if isinstance(value, list) else "map"


_TEXT = Field(read_text, lambda text, _: text)
_NAMES = Field(_read_names, lambda names, _: list(names))
_TIME = Field(_time(), lambda moment, _: Plain(format_time(moment)))
_BOOL = Field(read_truth, lambda truth, _: Plain("true" if truth else "false"))
_SHARE = Field(_number(0, 1), lambda number, _: Plain(repr(number)))
_LINKS = Field(_each(read_link), lambda ids, link: [write_link(atom_id, link) for atom_id in ids])


def _enum(enum: type[StrEnum]) -> Field:
    return Field(_one_of(enum), lambda member, _: str(member))


FIELDS: Mapping[str, Field] = {
    "id": _TEXT,
    "kind": _TEXT,
    "subject": Field(_read_subject, lambda text, _: text),
    "attribute": _TEXT,
    "value": _TEXT,
    "status": _enum(Status),
    "layer": Field(read_layer, lambda layer, _: str(layer)),
    "durability": _enum(Durability),
    "memory_type": _enum(MemoryType),
    "pinned": _BOOL,
    "resolved": _BOOL,
    "confidence": _SHARE,
    "importance": _SHARE,
    "surprise": Field(_number(-1e9, 1e9), lambda number, _: Plain(repr(number))),
    "valence": Field(_number(-1, 1), lambda number, _: Plain(repr(number))),
    "tags": _NAMES,
    "entities": Field(_read_texts, lambda texts, _: list(texts)),
    "agents": _NAMES,
    "observed_at": _TIME,
    "recorded_at": _TIME,
    "valid_from": _TIME,
    "valid_until": Field(_time(end=True), _TIME.write),
    "expires_at": _TIME,
    "source_id": _TEXT,
    "session_id": _TEXT,
    "segment_id": _TEXT,
    "source_ref": _TEXT,
    "origin": _enum(Origin),
    "principal": _TEXT,
    "evidence": Field(_each(read_evidence), lambda items, link: [write_evidence(item, link) for item in items]),
    "derived_from": _LINKS,
    "supersedes": _LINKS,
    "superseded_by": _LINKS,
    "relations": Field(_each(read_relation), lambda items, link: [write_relation(item, link) for item in items]),
    "episode_id": _TEXT,
    "box_id": _TEXT,
    "trace_id": _TEXT,
    "run_id": _TEXT,
    "metadata": Field(_read_map, lambda pairs, _: dict(pairs)),
}
"""Every field of the frontmatter, in the order of a new file."""

SIGNALS: Mapping[str, Field] = {
    "quality_score": Field(_number(0, 10), lambda number, _: Plain(repr(number))),
    "recall_count": Field(_read_count, lambda count, _: Plain(count)),
    "last_recalled_at": _TIME,
}

ORDER: tuple[str, ...] = (*FIELDS, *SIGNALS)

DEFAULTS: Mapping[str, Any] = {
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

SIGNAL_DEFAULTS: Mapping[str, Any] = {name: getattr(Signals(), name) for name in SIGNALS}
