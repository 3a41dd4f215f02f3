"""The links a memory has drawn between statements, with the words on both sides, for a reviewer to read.

High grade: the older statement was replaced or was wrong, and its words are withheld. Low grade: both stand, the older
one is labelled. Taken back: a statement ended with nothing in its place, because somebody asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lamina import Atom, Memory, RelationName, Status, passages_of
from lamina.atom.pair import SURE
from lamina.atom.standing import begins
from lamina.bench.places import Places
from lamina.text.times import format_time

_ENDED = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})


@dataclass(frozen=True, slots=True)
class Link:
    """What gave way, what it gave way to, and both as a reviewer reads them."""

    old: Atom
    new: Atom | None
    told: Mapping[str, Any]


def links_in(memory: Memory) -> list[Link]:
    """Every link between the statements of a memory, each once, oldest first."""
    atoms: dict[str, Atom] = {atom.id: atom for atom in memory.list(status=None, limit=None)}
    found: dict[tuple[str, str], Link] = {}
    for old, new, grade in _drawn(atoms):
        key = old.id, new.id if new else ""
        if key not in found or grade == "high":
            found[key] = Link(old, new, _told(memory, atoms, old, new, grade))
    return sorted(found.values(), key=lambda link: (link.told["old_said"], link.old.id))


def rests_on(atom: Atom, places: Places) -> Iterator[str]:
    """The turns a statement rests on."""
    return (turn for each in atom.evidence if (turn := places.at(each.segment, each.passage)))


def _drawn(atoms: Mapping[str, Atom]) -> Iterator[tuple[Atom, Atom | None, str]]:
    for atom in atoms.values():
        heirs = [atoms[each] for each in atom.superseded_by if each in atoms]
        yield from ((atom, heir, "high") for heir in heirs)
        if atom.status in _ENDED and not heirs and not atom.is_segment:
            yield atom, None, "taken back"
        for relation in atom.relations:
            if relation.name is RelationName.CONTRADICTS and relation.target in atoms:
                older, newer = sorted((atom, atoms[relation.target]), key=lambda one: (begins(one), one.id))
                yield older, newer, "high" if relation.confidence >= SURE else "low"


def _told(memory: Memory, atoms: Mapping[str, Atom], old: Atom, new: Atom | None, grade: str) -> dict[str, Any]:
    steps = memory.status_history(old.id)
    return {
        "grade": grade,
        "status": old.status.value,
        "old": _words(old, atoms),
        "new": _words(new, atoms) if new else None,
        "old_said": format_time(old.observed_at),
        "new_said": format_time(new.observed_at) if new else None,
        "old_until": format_time(old.valid_until) if old.valid_until else None,
        "old_statement": old.content,
        "new_statement": new.content if new else None,
        "slot": [old.subject, old.attribute],
        "reason": steps[-1].reason if steps else None,
    }


def _words(atom: Atom, atoms: Mapping[str, Atom]) -> list[str]:
    """The sentences a statement rests on, each with who said it; its own words where it rests on none."""
    found = []
    for each in atom.evidence:
        segment = atoms.get(each.segment)
        passage = next((one for one in passages_of(segment) if one.n == each.passage), None) if segment else None
        if passage is not None:
            found.append(f"{passage.speaker or ''}: {passage.text[each.start : each.end]}")
    return found or [atom.content]
