"""The journal from a position on, piece by piece: its beginning is told without reading all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lamina.memory import Memory
    from lamina.store.base import Entry

FIRST, LARGEST = 200, 3200
"""Positions that are looked at together, twice as many each time: most may be commits of other scopes."""


def position(memory: Memory) -> int:
    """Where the last commit of these scopes is."""
    return max((each.seq for each in memory.journal(limit=1)), default=0)


def after(memory: Memory, since: int) -> Iterator[list[Entry]]:
    """The commits after a position, oldest first, up to the one that is the last now."""
    last, many = position(memory), FIRST
    while since < last:
        yield memory.journal(since, until=since + many)
        since, many = since + many, min(2 * many, LARGEST)


def first(memory: Memory, since: int, many: int) -> list[Entry]:
    """So many commits after a position, oldest first."""
    found: list[Entry] = []
    for piece in after(memory, since):
        found += piece
        if len(found) >= many:
            break
    return found[:many]
