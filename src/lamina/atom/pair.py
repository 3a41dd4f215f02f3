"""Handle pairs: two statements that contradict each other until a person decides, and the decisions about them.

A decision is stored in the metadata of the statement: `both_valid` names the statements that are valid beside it,
`need_more` those about which more information is needed and until when they are not listed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.relation import Relation, RelationName
from lamina.text.timestamps import format_time, parse_time_or_none

SURE_CONFIDENCE = 0.75
"""Contradictions below this confidence come from similarity alone and change no status."""
LIKELY_CHANGE_CONFIDENCE = 0.4
"""The confidence of a contradiction that only a model found; it is reviewed where the answer matters."""
BOTH_VALID, NEED_MORE, NEED_MORE_NOTE = "both_valid", "need_more", "need_more_note"


def contradictions(atom: Atom) -> Iterator[Relation]:
    """Return the relations by which an atom contradicts others."""
    return (relation for relation in atom.relations if relation.name is RelationName.CONTRADICTS)


def has_sure_contradiction(atom: Atom) -> bool:
    """Return whether an atom contradicts an active one for sure, so that it was never active itself."""
    return any(not is_uncertain_contradiction(contradiction) for contradiction in contradictions(atom))


def is_uncertain_contradiction(link: Relation) -> bool:
    """Return whether a relation is a contradiction found by similarity alone."""
    return link.name is RelationName.CONTRADICTS and link.confidence < SURE_CONFIDENCE


def find_pair_link(one: Atom, other: Atom) -> Relation | None:
    """Return the contradiction with the highest confidence between two atoms; None if there is none."""
    relations = [contradiction for contradiction in contradictions(one) if contradiction.target == other.id]
    relations += [contradiction for contradiction in contradictions(other) if contradiction.target == one.id]
    return max(relations, key=lambda relation: relation.confidence, default=None)


def remove_contradiction(atom: Atom, other: AtomId) -> Atom:
    """Return the atom without its contradiction of another."""
    remaining = tuple(
        relation
        for relation in atom.relations
        if not (relation.name is RelationName.CONTRADICTS and relation.target == other)
    )
    return atom.with_(relations=remaining) if remaining != atom.relations else atom


def are_both_valid(one: Atom, other: Atom) -> bool:
    """Return whether a person decided that both are valid; they are not linked as a contradiction again."""
    return other.id in _read_names(one, BOTH_VALID) or one.id in _read_names(other, BOTH_VALID)


def mark_both_valid(atom: Atom, other: AtomId) -> Atom:
    """Return the atom with the decision that another is valid beside it."""
    ids = tuple(dict.fromkeys((*_read_names(atom, BOTH_VALID), other)))
    return atom.with_(metadata={**atom.metadata, BOTH_VALID: " ".join(ids)})


def next_review_at(one: Atom, other: Atom) -> datetime | None:
    """Return when a pair that needs more information is shown again; None if it was not postponed."""
    for atom, name in ((one, other.id), (other, one.id)):
        for entry in _read_names(atom, NEED_MORE):
            other_id, _, until = entry.partition("@")
            if other_id == name:
                return parse_time_or_none(until)
    return None


def mark_need_more(atom: Atom, other: AtomId, until: datetime, note: str) -> Atom:
    """Return the atom with the decision that more information about it and another is needed."""
    remaining = [entry for entry in _read_names(atom, NEED_MORE) if not entry.startswith(other)]
    decision = {NEED_MORE: " ".join((*remaining, f"{other}@{format_time(until)}")), NEED_MORE_NOTE: note}
    return atom.with_(metadata={**atom.metadata, **decision})


def _read_names(atom: Atom, key: str) -> list[str]:
    return atom.metadata_text(key).split()
