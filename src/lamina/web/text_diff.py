"""Differences between two versions of a text, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from lamina.atom.atom import DATA_FIELDS, Atom
from lamina.atom.record import encode_field

MAX_WORDS = 4000
"""Longer texts are compared line by line."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Change = Literal["same", "out", "in"]


@dataclass(frozen=True, slots=True)
class DiffSpan:
    """A span of text that is in one version or in both."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """A field that differs, with both values."""

    name: str
    before: str
    after: str


def diff_words(before: str, after: str) -> list[DiffSpan]:
    """Return the spans of both texts: those not "in" give the old text, those not "out" the new one."""
    a, b = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(a), len(b)) > MAX_WORDS:
        a, b = _LINES.findall(before), _LINES.findall(after)
    spans: list[DiffSpan] = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            spans.append(DiffSpan("same", "".join(a[a1:a2])))
            continue
        removed, added = "".join(a[a1:a2]), "".join(b[b1:b2])
        spans += [DiffSpan("out", removed)] if removed else []
        spans += [DiffSpan("in", added)] if added else []
    return spans


def diff_fields(before: Atom, after: Atom) -> list[FieldDiff]:
    """Return the fields other than the text that differ."""
    names = (name for name in DATA_FIELDS if name not in ("content", "recorded_at"))
    return [
        FieldDiff(name, _format_field(before, name), _format_field(after, name))
        for name in names
        if getattr(before, name) != getattr(after, name)
    ]


def _format_field(atom: Atom, name: str) -> str:
    value = encode_field(name, getattr(atom, name))
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
