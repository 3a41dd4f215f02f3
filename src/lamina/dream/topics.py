"""The topic index: what a store is about, counted from labels people and readers gave. Derived, never written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.review.groups import topics_of
from lamina.text.normal import name_form
from lamina.text.roles import is_role


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic in its form, how many statements it has, and when the youngest was observed."""

    name: str
    count: int
    newest: datetime


def topics(atoms: Iterable[Atom]) -> list[Topic]:
    """What atoms are about by their tags and subjects, the commonest first; a part in a conversation is no topic."""
    found: dict[str, list[datetime]] = defaultdict(list)
    for atom in atoms:
        for name in {*topics_of(atom), name_form(atom.subject)}:
            if name and not is_role(name):
                found[name].append(atom.observed_at)
    counted = (Topic(name, len(days), max(days)) for name, days in found.items())
    return sorted(counted, key=lambda each: (-each.count, each.name))
