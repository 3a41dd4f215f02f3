"""The topic index: what a memory is about, counted from tags and subjects. Computed, never stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.review.proposal_groups import topics_of
from lamina.text.normal_form import name_form
from lamina.text.speaker_roles import is_role


@dataclass(frozen=True, slots=True)
class Topic:
    """A normalised topic, its number of statements, and the time of the newest."""

    name: str
    count: int
    newest: datetime


def count_topics(atoms: Iterable[Atom]) -> list[Topic]:
    """Return the tags and subjects of atoms, the most frequent first; conversation roles are no topics."""
    times_by_name: dict[str, list[datetime]] = defaultdict(list)
    for atom in atoms:
        for name in {*topics_of(atom), name_form(atom.subject)}:
            if name and not is_role(name):
                times_by_name[name].append(atom.observed_at)
    counts = (Topic(name, len(times), max(times)) for name, times in times_by_name.items())
    return sorted(counts, key=lambda topic: (-topic.count, topic.name))
