"""List the links between the statements of a memory, with the words on both sides, for a reviewer.

High grade: the older statement was superseded or wrong, and is withheld. Low grade: both are active, the older one is
marked. Taken back: a statement ended without a successor, because a user asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.turn_lookup import TurnLookup
from lamina import Atom, Memory, RelationName, Status, passages_of
from lamina.atom.atom import effective_from
from lamina.atom.proposals_and_pairs import SURE_CONFIDENCE
from lamina.text.timestamps import format_time

_ENDED = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})


@dataclass(frozen=True, slots=True)
class StatementLink:
    """An ended statement, its successor, and both as a reviewer reads them."""

    old: Atom
    new: Atom | None
    description: Mapping[str, Any]


def find_links(memory: Memory) -> list[StatementLink]:
    """Return every link between the statements of a memory once, oldest first."""
    atoms: dict[str, Atom] = {atom.id: atom for atom in memory.list(status=None, limit=None)}
    links: dict[tuple[str, str], StatementLink] = {}
    for old, new, grade in _linked_pairs(atoms):
        key = old.id, new.id if new else ""
        if key not in links or grade == "high":
            links[key] = StatementLink(old, new, _describe_link(memory, atoms, old, new, grade))
    return sorted(links.values(), key=lambda link: (link.description["old_said"], link.old.id))


def turns_behind(atom: Atom, lookup: TurnLookup) -> Iterator[str]:
    """Yield the turns that a statement rests on."""
    return (turn for evidence in atom.evidence if (turn := lookup.turn_at(evidence.segment, evidence.passage)))


def _linked_pairs(atoms: Mapping[str, Atom]) -> Iterator[tuple[Atom, Atom | None, str]]:
    for atom in atoms.values():
        successors = [atoms[item] for item in atom.superseded_by if item in atoms]
        yield from ((atom, successor, "high") for successor in successors)
        if atom.status in _ENDED and not successors and not atom.is_segment:
            yield atom, None, "taken back"
        for relation in atom.relations:
            if relation.name is RelationName.CONTRADICTS and relation.target in atoms:
                older, newer = sorted(
                    (atom, atoms[relation.target]), key=lambda statement: (effective_from(statement), statement.id)
                )
                yield older, newer, "high" if relation.confidence >= SURE_CONFIDENCE else "low"


def _describe_link(
    memory: Memory, atoms: Mapping[str, Atom], old: Atom, new: Atom | None, grade: str
) -> dict[str, Any]:
    steps = memory.status_history(old.id)
    return {
        "grade": grade,
        "status": old.status.value,
        "old": _quoted_sentences(old, atoms),
        "new": _quoted_sentences(new, atoms) if new else None,
        "old_said": format_time(old.observed_at),
        "new_said": format_time(new.observed_at) if new else None,
        "old_until": format_time(old.valid_until) if old.valid_until else None,
        "old_statement": old.content,
        "new_statement": new.content if new else None,
        "slot": [old.subject, old.attribute],
        "reason": steps[-1].reason if steps else None,
    }


def _quoted_sentences(atom: Atom, atoms: Mapping[str, Atom]) -> list[str]:
    """Return the sentences a statement rests on with their speakers; its own text if it rests on none."""
    sentences = []
    for evidence in atom.evidence:
        segment = atoms.get(evidence.segment)
        passage = (
            next((candidate for candidate in passages_of(segment) if candidate.n == evidence.passage), None)
            if segment
            else None
        )
        if passage is not None:
            sentences.append(f"{passage.speaker or ''}: {passage.text[evidence.start : evidence.end]}")
    return sentences or [atom.content]
