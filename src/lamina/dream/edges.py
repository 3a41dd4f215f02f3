"""Links grow weaker where nobody sees them again. Part of ageing: a link is walked less, and never gone.

A contradiction is no such link: how sure it is says what sort it is, and it waits for a person however long that takes.
What took the place of what is history, and does not fade either.
"""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.relation import Relation, RelationName
from lamina.lifecycle.edges import FLOOR, WINDOW, decayed
from lamina.lifecycle.moment import later
from lamina.lifecycle.signals import recorded

LOOSENED = frozenset(RelationName) - {RelationName.CONTRADICTS, RelationName.SUPERSEDES}
"""The links that time weakens."""


def loosened(atom: Atom, now: datetime) -> Atom:
    """An atom with its links as time has left them."""
    links = tuple(_aged(relation, now, recorded(atom)) for relation in atom.relations)
    return atom.with_(relations=links) if links != atom.relations else atom


def loosens_at(atom: Atom) -> datetime | None:
    """The moment after which one of its links is weaker; None where none will ever be."""
    ahead = [
        later(relation.last_reinforced_at or recorded(atom), WINDOW)
        for relation in atom.relations
        if relation.name in LOOSENED and relation.confidence > FLOOR
    ]
    return min(ahead, default=None) if not atom.pinned else None


def _aged(link: Relation, now: datetime, made: datetime) -> Relation:
    return decayed(link, now, made) if link.name in LOOSENED else link


def why_loosened(before: Atom, after: Atom) -> str:
    """What became of the links of an atom, for a person to read."""
    pairs = zip(before.relations, after.relations, strict=True)
    told = [f"{old.name} {old.confidence:.2f} → {new.confidence:.2f}" for old, new in pairs if old != new]
    return f"not seen again for over {WINDOW.days} days: {', '.join(told)}"
