"""Weakens links that were not reinforced. Part of ageing: a weak link is followed less, and never removed.

Contradictions do not weaken, because their confidence is their type and they wait for review; neither do supersedes
links, which are history.
"""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.relation import Relation, RelationName
from lamina.lifecycle.ageing_time import add_clamped
from lamina.lifecycle.relation_strength import DECAY_WINDOW, MIN_CONFIDENCE, decay_relation
from lamina.lifecycle.signals import recorded_at

AGEING_RELATIONS = frozenset(RelationName) - {RelationName.CONTRADICTS, RelationName.SUPERSEDES}
"""The relations that weaken with time."""


def age_links(atom: Atom, now: datetime) -> Atom:
    """Return the atom with its links as weak as time has made them."""
    links = tuple(_age_link(relation, now, recorded_at(atom)) for relation in atom.relations)
    return atom.with_(relations=links) if links != atom.relations else atom


def next_link_ageing(atom: Atom) -> datetime | None:
    """Return when the next link of the atom weakens; None if none ever will."""
    times = [
        add_clamped(relation.last_reinforced_at or recorded_at(atom), DECAY_WINDOW)
        for relation in atom.relations
        if relation.name in AGEING_RELATIONS and relation.confidence > MIN_CONFIDENCE
    ]
    return min(times, default=None) if not atom.pinned else None


def _age_link(link: Relation, now: datetime, created_at: datetime) -> Relation:
    return decay_relation(link, now, created_at) if link.name in AGEING_RELATIONS else link


def describe_link_ageing(before: Atom, after: Atom) -> str:
    """Describe how the links of an atom weakened."""
    pairs = zip(before.relations, after.relations, strict=True)
    changes = [f"{old.name} {old.confidence:.2f} → {new.confidence:.2f}" for old, new in pairs if old != new]
    return f"not reinforced for over {DECAY_WINDOW.days} days: {', '.join(changes)}"
