"""Pairs: two statements that contradict each other until a person decides, and what a person has said of them.

The word stays with the statement it was said of, in its metadata: `both_valid` names the others that hold beside it,
`need_more` those about which more has to be known and until when nobody is asked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.relation import Relation, RelationName
from lamina.text.times import format_time, parse_time

SURE = 0.75
"""Links below this were made from likeness alone: whatever they link stands all the same."""
LIKELY_CHANGE = 0.4
"""The confidence of a link that only a model made; a person is asked about it where the answer matters."""
BOTH_VALID, NEED_MORE, NOTE = "both_valid", "need_more", "need_more_note"


def contradictions(atom: Atom) -> Iterator[Relation]:
    """The links by which an atom contradicts others."""
    return (relation for relation in atom.relations if relation.name is RelationName.CONTRADICTS)


def is_rival(atom: Atom) -> bool:
    """Whether an atom was said against one that stands, so that it never held itself."""
    return any(not is_guess(contradiction) for contradiction in contradictions(atom))


def is_guess(link: Relation) -> bool:
    """Whether a link is a contradiction told from likeness alone."""
    return link.name is RelationName.CONTRADICTS and link.confidence < SURE


def link_between(one: Atom, other: Atom) -> Relation | None:
    """The link that makes a pair of two atoms, the strongest of them; None where they are none."""
    links = [contradiction for contradiction in contradictions(one) if contradiction.target == other.id]
    links += [contradiction for contradiction in contradictions(other) if contradiction.target == one.id]
    return max(links, key=lambda each: each.confidence, default=None)


def reconciled(atom: Atom, other: AtomId) -> Atom:
    """The atom without its contradiction of another."""
    links = tuple(
        relation
        for relation in atom.relations
        if not (relation.name is RelationName.CONTRADICTS and relation.target == other)
    )
    return atom.with_(relations=links) if links != atom.relations else atom


def hold_both(one: Atom, other: Atom) -> bool:
    """Whether a person has said that both are so: nobody links them as a contradiction again."""
    return other.id in _named(one, BOTH_VALID) or one.id in _named(other, BOTH_VALID)


def with_both_valid(atom: Atom, other: AtomId) -> Atom:
    """The atom with a person's word that another holds beside it."""
    names = tuple(dict.fromkeys((*_named(atom, BOTH_VALID), other)))
    return atom.with_(metadata={**atom.metadata, BOTH_VALID: " ".join(names)})


def asked_again_at(one: Atom, other: Atom) -> datetime | None:
    """When a pair about which more has to be known is shown again."""
    for atom, name in ((one, other.id), (other, one.id)):
        for each in _named(atom, NEED_MORE):
            who, _, until = each.partition("@")
            if who == name:
                return _moment(until)
    return None


def with_need_more(atom: Atom, other: AtomId, until: datetime, note: str) -> Atom:
    """The atom with the word that more has to be known of it and another."""
    kept = [each for each in _named(atom, NEED_MORE) if not each.startswith(other)]
    told = {NEED_MORE: " ".join((*kept, f"{other}@{format_time(until)}")), NOTE: note}
    return atom.with_(metadata={**atom.metadata, **told})


def _named(atom: Atom, key: str) -> list[str]:
    return atom.metadata.get(key, "").split()


def _moment(text: str) -> datetime | None:
    """A person may have written anything into the file."""
    try:
        return parse_time(text)
    except ValueError:
        return None
