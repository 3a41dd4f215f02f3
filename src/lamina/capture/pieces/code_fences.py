"""Fenced code blocks of markdown, which are not read as prose."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"(?m)^ {0,3}(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$")


def find_code_fences(text: str, *, only_closed: bool = False) -> list[tuple[int, int]]:
    """Return the spans of fenced blocks, in order; an unclosed one runs to the end, unless `only_closed`."""
    spans: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            opening = line
        elif _closes(line, opening["mark"]):
            spans.append((opening.start(), line.end()))
            opening = None
    if opening is not None and not only_closed:
        spans.append((opening.start(), len(text)))
    return spans


def positions_outside(positions: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the positions that are in none of the spans; both are sorted."""
    result, at = [], 0
    for stop in positions:
        while at < len(spans) and spans[at][1] <= stop:
            at += 1
        if at == len(spans) or stop <= spans[at][0]:
            result.append(stop)
    return result


def _closes(line: re.Match[str], mark: str) -> bool:
    return line["mark"][0] == mark[0] and len(line["mark"]) >= len(mark) and not line["info"].strip()
