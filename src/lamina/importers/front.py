"""Frontmatter of other programs: read as YAML where it is, line by line where it only looks like it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lamina.text.times import parse_time
from lamina.vault.strict_yaml import Unreadable, Value, read_mapping

_FRONT = re.compile(r"---[ \t]*\n(?P<front>.*?)(?<=\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_LARGEST = 64 << 10
_LINE = re.compile(r"(?P<key>[\w][\w .-]{0,60}?)\s*:(?:\s+(?P<value>.*?))?\s*")
_NOTHING = frozenset({"", "null", "~", "none", "undefined"})
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Front:
    """What a note says of itself, and the words that follow; `raw` is the frontmatter as it stands."""

    values: Mapping[str, Value]
    body: str
    raw: str = field(default="", repr=False)

    def text(self, *keys: str) -> str | None:
        """The first of these that says something; a dot leads into a map."""
        for key in keys:
            value: Value | None = self.values.get(key)
            if value is None and "." in key:
                outer, _, inner = key.partition(".")
                held = self.values.get(outer)
                value = held.get(inner) if isinstance(held, dict) else None
            if isinstance(value, str) and value.strip().lower() not in _NOTHING:
                return value.strip()
        return None

    def moment(self, *keys: str) -> datetime | None:
        """The moment the first of these names, if it names one."""
        told = self.text(*keys)
        return day_in(told) if told else None

    def names(self, key: str) -> tuple[str, ...]:
        """A list, however it is written: as one, with commas, with number signs."""
        value = self.values.get(key)
        parts = value.strip("[]").split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        found = (part.strip().strip("\"'").lstrip("#").strip() for part in parts if isinstance(part, str))
        return tuple(dict.fromkeys(name for name in found if name.lower() not in _NOTHING))

    def share(self, *keys: str) -> float | None:
        """A number from 0 to 1."""
        told = self.text(*keys)
        try:
            number = float(told) if told else -1.0
        except ValueError:
            return None
        return number if 0 <= number <= 1 else None

    def pairs(self, key: str) -> dict[str, str]:
        """The texts of a map."""
        held = self.values.get(key)
        return {k: v for k, v in held.items() if isinstance(v, str) and v} if isinstance(held, dict) else {}


def read_front(text: str) -> Front:
    """A note's frontmatter and body; a note without frontmatter is all body."""
    found = _FRONT.match(text)
    if found is None or len(found["front"]) > _LARGEST:
        return Front({}, text)
    raw = found["front"]
    try:
        values: Mapping[str, Value] = read_mapping(raw, 2).values
    except Unreadable:
        values = _lines(raw)
    return Front(values, text[found.end() :], raw)


def day_in(text: str) -> datetime | None:
    """The moment or day with which a text begins, written year first."""
    found = _DAY.match(text.strip())
    try:
        return parse_time(found[0]) if found else None
    except ValueError:
        return None


def _lines(raw: str) -> dict[str, Value]:
    matches = (_LINE.fullmatch(line) for line in raw.split("\n") if not line.startswith((" ", "\t", "-", "#")))
    return {match["key"]: (match["value"] or "").strip("\"'") for match in matches if match}
