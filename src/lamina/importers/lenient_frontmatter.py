"""Read the frontmatter of other programs: as YAML if it is valid, line by line if it only looks like YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lamina.text.timestamps import parse_time_or_none
from lamina.vault.yaml_codec import FrontmatterValue, Unreadable, read_mapping

_FRONTMATTER = re.compile(r"---[ \t]*\n(?P<front>.*?)(?<=\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
_MAX_FRONTMATTER_LENGTH = 64 << 10
_KEY_LINE = re.compile(r"(?P<key>[\w][\w .-]{0,60}?)\s*:(?P<value>\s.*)?", re.DOTALL)
EMPTY_VALUES = frozenset({"", "null", "~", "none", "undefined"})
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?")


@dataclass(frozen=True, slots=True)
class ForeignFrontmatter:
    """The frontmatter values of a note and its body; `raw` is the frontmatter as written."""

    values: Mapping[str, FrontmatterValue]
    body: str
    raw: str = field(default="", repr=False)

    def text(self, *keys: str) -> str | None:
        """Return the first non-empty text among these keys; a dot leads into a map. None if there is none."""
        for key in keys:
            value: FrontmatterValue | None = self.values.get(key)
            if value is None and "." in key:
                outer, _, inner = key.partition(".")
                mapping = self.values.get(outer)
                value = mapping.get(inner) if isinstance(mapping, dict) else None
            if isinstance(value, str) and value.strip().lower() not in EMPTY_VALUES:
                return value.strip()
        return None

    def moment(self, *keys: str) -> datetime | None:
        """Return the moment of the first non-empty key, or None."""
        text = self.text(*keys)
        return parse_leading_moment(text) if text else None

    def list_of(self, key: str) -> tuple[str, ...]:
        """Return a list however it is written: as a YAML list, with commas, or with number signs."""
        value = self.values.get(key)
        parts = value.strip("[]").split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        names = (part.strip().strip("\"'").lstrip("#").strip() for part in parts if isinstance(part, str))
        return tuple(dict.fromkeys(name for name in names if name.lower() not in EMPTY_VALUES))

    def fraction(self, *keys: str) -> float | None:
        """Return a number from 0 to 1, or None."""
        text = self.text(*keys)
        try:
            number = float(text) if text else -1.0
        except ValueError:
            return None
        return number if 0 <= number <= 1 else None

    def text_map(self, key: str) -> dict[str, str]:
        """Return the non-empty texts of a map."""
        mapping = self.values.get(key)
        return {k: v for k, v in mapping.items() if isinstance(v, str) and v} if isinstance(mapping, dict) else {}


def read_frontmatter(text: str) -> ForeignFrontmatter:
    """Return a note's frontmatter and body; a note without frontmatter is all body."""
    match = _FRONTMATTER.match(text)
    if match is None or len(match["front"]) > _MAX_FRONTMATTER_LENGTH:
        return ForeignFrontmatter({}, text)
    raw = match["front"]
    try:
        values: Mapping[str, FrontmatterValue] = read_mapping(raw, 2).values
    except Unreadable:
        values = _parse_lines(raw)
    return ForeignFrontmatter(values, text[match.end() :], raw)


def parse_leading_moment(text: str) -> datetime | None:
    """Return the moment or day that a text starts with, year first; None if there is none."""
    match = _MOMENT.match(text.strip())
    return parse_time_or_none(match[0]) if match else None


def _parse_lines(raw: str) -> dict[str, FrontmatterValue]:
    matches = (_KEY_LINE.fullmatch(line) for line in raw.split("\n") if not line.startswith((" ", "\t", "-", "#")))
    return {match["key"]: (match["value"] or "").strip().strip("\"'") for match in matches if match}
