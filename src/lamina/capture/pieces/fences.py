"""Fenced code blocks of markdown: the stretches that are never read as prose."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"(?m)^ {0,3}(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$")


def fences(text: str, *, closed: bool = False) -> list[tuple[int, int]]:
    """The (start, end) of each fenced block, in order; one never closed runs to the end, unless only closed count."""
    found: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            opening = line
        elif _closes(line, opening["mark"]):
            found.append((opening.start(), line.end()))
            opening = None
    if opening is not None and not closed:
        found.append((opening.start(), len(text)))
    return found


def outside(stops: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    """The places that lie in none of the spans; both are sorted."""
    kept, at = [], 0
    for stop in stops:
        while at < len(spans) and spans[at][1] <= stop:
            at += 1
        if at == len(spans) or stop <= spans[at][0]:
            kept.append(stop)
    return kept


def _closes(line: re.Match[str], mark: str) -> bool:
    return line["mark"][0] == mark[0] and len(line["mark"]) >= len(mark) and not line["info"].strip()
