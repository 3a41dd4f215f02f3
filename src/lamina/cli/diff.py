"""What a stretch of the journal amounts to: learnt, changed, doubted, forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import Status

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.store.base import Entry, Version


class Group(StrEnum):
    """What became of an atom."""

    LEARNT = "learnt"
    CHANGED = "changed"
    DOUBTED = "doubted"
    FORGOTTEN = "forgotten"


_DOUBTED = frozenset({Status.CHALLENGED, Status.CONSTRAINED, Status.INVALIDATED})
_FORGOTTEN = frozenset({Status.TOMBSTONED, Status.ARCHIVED})


@dataclass(frozen=True, slots=True)
class Difference:
    """One atom before and after, and why it last changed."""

    group: Group
    before: Atom | None
    after: Atom
    reason: str


def differences(memory: Memory, entries: Iterable[Entry]) -> list[Difference]:
    """The net effect of these commits on each atom they touched, in the order they were first touched."""
    first: dict[AtomId, int] = {}
    for entry in entries:
        for change in entry.changes:
            first.setdefault(change.atom_id, change.revision)
    told = (_difference(memory.history(each).versions, revision) for each, revision in first.items())
    return [each for each in told if each is not None]


def _difference(versions: tuple[Version, ...], since: int) -> Difference | None:
    before = next((version.atom for version in versions if version.revision == since - 1), None)
    last = versions[-1]
    group = _group(before, last)
    return Difference(group, before, last.atom, last.reason) if group else None


def _group(before: Atom | None, last: Version) -> Group | None:
    after = last.atom
    if before == after or (before is None and last.verb == "undo" and after.status is Status.TOMBSTONED):
        return None
    if before is None or after.status != before.status:
        if after.status in _FORGOTTEN:
            return Group.FORGOTTEN
        if after.status in _DOUBTED:
            return Group.DOUBTED
    return Group.LEARNT if before is None else Group.CHANGED
