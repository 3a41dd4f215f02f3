"""The topic index: what the statements are about, by their subjects, names, tags and boxes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.passage import is_role
from lamina.capture.box import heading_topics
from lamina.dream.entity_pages import is_plain_statement, name_forms_of
from lamina.review.proposal_groups import topics_of
from lamina.text.normal_form import name_form


@dataclass(frozen=True, slots=True)
class Topic:
    """A normalised topic, its number of statements, and the time of the newest."""

    name: str
    count: int
    newest: datetime


def group_by_topic(atoms: Iterable[Atom]) -> dict[str, list[Atom]]:
    """Return the statements among these atoms by topic; the boxes among them add the topics of what was said together.

    Conversation roles are no topics.
    """
    all_atoms = list(atoms)
    names_of_box = {atom.id: heading_topics(atom) for atom in all_atoms if atom.kind == "box"}
    statements: dict[str, list[Atom]] = defaultdict(list)
    for atom in filter(is_plain_statement, all_atoms):
        box_names = names_of_box.get(atom.box_id or "", ())  # type: ignore[call-overload]
        for name in {*topics_of(atom), *name_forms_of(atom), *map(name_form, box_names)}:
            if name and not is_role(name):
                statements[name].append(atom)
    return statements


def count_topics(atoms: Iterable[Atom]) -> list[Topic]:
    """Return the topics of atoms, the most frequent first."""
    counts = (
        Topic(name, len(members), newest_statement(members).observed_at)
        for name, members in group_by_topic(atoms).items()
    )
    return sorted(counts, key=lambda topic: (-topic.count, topic.name))


def newest_statement(statements: Sequence[Atom]) -> Atom:
    """Return the statement that was observed last."""
    return max(statements, key=lambda atom: (atom.observed_at, atom.id))
