"""Step topics: group statements by their subjects, names, tags and boxes, and keep a page with a line for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import TOPICS_PAGE, Atom
from lamina.atom.passage import is_role
from lamina.capture.box import heading_topics
from lamina.dream.cards_step import changes_since
from lamina.dream.entity_pages import is_plain_statement, name_forms_of
from lamina.dream.scope_pages import find_root_page, plan_root_page
from lamina.dream.step import LIVE, StepContext, StepPlan
from lamina.review.proposals import topics_of
from lamina.text.normal_form import name_form, one_line
from lamina.vault import layout


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


MIN_STATEMENTS = 2
"""The fewest statements of a topic on the page."""
MAX_TOPICS = 200


def topics(context: StepContext) -> StepPlan:
    """Plan the topics page if statements changed since the last time."""
    position = context.store.journal.position()
    last_position = context.store.queue.get_position(context.scope, TOPICS_PAGE)
    changes = changes_since(context, last_position) if last_position is not None else None
    plan = plan_topics(context) if changes is None or changes.kinds else StepPlan()
    return plan.then_mark_read(context, TOPICS_PAGE, position)


def plan_topics(context: StepContext) -> StepPlan:
    """Plan the topics page from the statements in the scope: how many each topic has, and the newest."""
    groups = group_by_topic(context.read(statuses=LIVE, include_run_notes=False, valid_at=context.now))
    listed = sorted(
        ((name, members) for name, members in groups.items() if len(members) >= MIN_STATEMENTS),
        key=lambda topic: (-len(topic[1]), topic[0]),
    )
    if not listed and find_root_page(context.store, context.scope, TOPICS_PAGE) is None:
        return StepPlan()
    lines = [
        f"- {layout.wiki_link(newest_statement(members))} {one_line(name)}: {len(members)} statements"
        for name, members in listed[:MAX_TOPICS]
    ]
    return plan_root_page(context, TOPICS_PAGE, "\n".join(["# Topics", "", *lines]), f"{len(listed)} topics")
