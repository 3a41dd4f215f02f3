"""Weakens links that were not reinforced. Part of ageing: a weak link is followed less, and never removed.

Contradictions do not weaken, because their confidence is their type and they wait for review; neither do supersedes
links, which are history.
"""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.relation import Relation, RelationName
from lamina.lifecycle.edges import FLOOR, WINDOW, decayed
from lamina.lifecycle.moment import later
from lamina.lifecycle.signals import recorded

LOOSENED = frozenset(RelationName) - {RelationName.CONTRADICTS, RelationName.SUPERSEDES}
"""The relations that weaken with time."""


def loosened(atom: Atom, now: datetime) -> Atom:
    """Return the atom with its links as weak as time has made them."""
    links = tuple(_aged(relation, now, recorded(atom)) for relation in atom.relations)
    return atom.with_(relations=links) if links != atom.relations else atom


def loosens_at(atom: Atom) -> datetime | None:
    """Return when the next link of the atom weakens; None if none ever will."""
    times = [
        later(relation.last_reinforced_at or recorded(atom), WINDOW)
        for relation in atom.relations
        if relation.name in LOOSENED and relation.confidence > FLOOR
    ]
    return min(times, default=None) if not atom.pinned else None


def _aged(link: Relation, now: datetime, made: datetime) -> Relation:
    return decayed(link, now, made) if link.name in LOOSENED else link


def why_loosened(before: Atom, after: Atom) -> str:
    """Describe how the links of an atom weakened."""
    pairs = zip(before.relations, after.relations, strict=True)
    changes = [f"{old.name} {old.confidence:.2f} → {new.confidence:.2f}" for old, new in pairs if old != new]
    return f"not reinforced for over {WINDOW.days} days: {', '.join(changes)}"
