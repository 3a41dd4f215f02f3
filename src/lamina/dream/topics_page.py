"""Step topics: keep the topic index of a scope on a page, a line for each topic."""

from __future__ import annotations

from dataclasses import replace

from lamina.atom.atom import TOPICS_PAGE, Atom
from lamina.atom.provenance import Scope
from lamina.dream.cards_step import changes_since
from lamina.dream.scope_pages import find_root_page, plan_root_page
from lamina.dream.step_context import LIVE, StepContext
from lamina.dream.step_plan import StepPlan
from lamina.dream.topic_counts import group_by_topic, newest_statement
from lamina.store.base import Store
from lamina.text.normal_form import one_line
from lamina.vault import layout

MIN_STATEMENTS = 2
"""The fewest statements of a topic on the page."""
MAX_TOPICS = 200


def find_topics_page(store: Store, scope: Scope) -> Atom | None:
    """Return the topics page of a scope, if there is one."""
    return find_root_page(store, scope, TOPICS_PAGE)


def topics(context: StepContext) -> StepPlan:
    """Plan the topics page if statements changed since the last time."""
    progress, position = context.store.queue.dream_progress, context.store.journal.position()
    last_position = progress.get_position(context.scope, TOPICS_PAGE)
    changes = changes_since(context, last_position) if last_position is not None else None
    plan = plan_topics(context) if changes is None or changes.kinds else StepPlan()
    return replace(plan, after_commit=lambda: progress.set_position(context.scope, TOPICS_PAGE, position))


def plan_topics(context: StepContext) -> StepPlan:
    """Plan the topics page from the statements in the scope: how many each topic has, and the newest."""
    groups = group_by_topic(context.read(statuses=LIVE, include_run_notes=False, valid_at=context.now))
    listed = sorted(
        ((name, members) for name, members in groups.items() if len(members) >= MIN_STATEMENTS),
        key=lambda topic: (-len(topic[1]), topic[0]),
    )
    if not listed and find_topics_page(context.store, context.scope) is None:
        return StepPlan()
    lines = [
        f"- {layout.wiki_link(newest_statement(members))} {one_line(name)}: {len(members)} statements"
        for name, members in listed[:MAX_TOPICS]
    ]
    return plan_root_page(context, TOPICS_PAGE, "\n".join(["# Topics", "", *lines]), f"{len(listed)} topics")
