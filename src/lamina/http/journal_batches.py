"""Reads the journal from a position on in batches, so that the first commits do not wait for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lamina.memory import Memory
    from lamina.store.base import JournalEntry

FIRST_BATCH, LARGEST_BATCH = 200, 3200
"""Positions read per batch, doubled each time up to the largest: most may be commits of other scopes."""


def last_position(memory: Memory) -> int:
    """Return the position of the last commit in the memory's scopes."""
    return max((entry.seq for entry in memory.journal(limit=1)), default=0)


def iter_commits_after(memory: Memory, since: int) -> Iterator[list[JournalEntry]]:
    """Yield the commits after a position in batches, oldest first, up to the last one at the start."""
    last, size = last_position(memory), FIRST_BATCH
    while since < last:
        yield memory.journal(since, until=since + size)
        since, size = since + size, min(2 * size, LARGEST_BATCH)


def list_commits_after(memory: Memory, since: int, limit: int) -> list[JournalEntry]:
    """Return at most `limit` commits after a position, oldest first."""
    commits: list[JournalEntry] = []
    for batch in iter_commits_after(memory, since):
        commits += batch
        if len(commits) >= limit:
            break
    return commits[:limit]
