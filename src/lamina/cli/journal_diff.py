"""Summarises a range of the journal: what was learnt, changed, doubted or forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom, AtomId
from lamina.atom.status import Status

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.store.base import AtomVersion, JournalEntry


class ChangeGroup(StrEnum):
    """A group of changes of atoms."""

    LEARNT = "learnt"
    CHANGED = "changed"
    DOUBTED = "doubted"
    FORGOTTEN = "forgotten"


_DOUBTED = frozenset({Status.CHALLENGED, Status.CONSTRAINED, Status.INVALIDATED})
_FORGOTTEN = frozenset({Status.TOMBSTONED, Status.ARCHIVED})


@dataclass(frozen=True, slots=True)
class Difference:
    """One atom before and after, and the reason of its last change."""

    group: ChangeGroup
    before: Atom | None
    after: Atom
    reason: str


def list_differences(memory: Memory, entries: Iterable[JournalEntry]) -> list[Difference]:
    """Return the net effect of commits on each atom they changed, in the order of the first change."""
    first_revisions: dict[AtomId, int] = {}
    for entry in entries:
        for change in entry.changes:
            first_revisions.setdefault(change.atom_id, change.revision)
    results = (
        _compare_versions(memory.history(atom_id).versions, revision) for atom_id, revision in first_revisions.items()
    )
    return [result for result in results if result is not None]


def _compare_versions(versions: tuple[AtomVersion, ...], since: int) -> Difference | None:
    before = next((version.atom for version in versions if version.revision == since - 1), None)
    last = versions[-1]
    group = _classify_change(before, last)
    return Difference(group, before, last.atom, last.reason) if group else None


def _classify_change(before: Atom | None, last: AtomVersion) -> ChangeGroup | None:
    after = last.atom
    if before == after or (before is None and last.verb == "undo" and after.status is Status.TOMBSTONED):
        return None
    if before is None or after.status != before.status:
        if after.status in _FORGOTTEN:
            return ChangeGroup.FORGOTTEN
        if after.status in _DOUBTED:
            return ChangeGroup.DOUBTED
    return ChangeGroup.LEARNT if before is None else ChangeGroup.CHANGED
