"""Throttles steps that read a whole scope: they run when enough has changed since the last time, or after a week."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from lamina.dream.dream import VERB, Step
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan

CHANGE_RATIO = 100
"""A scope is read again once one atom in this many has changed."""
MAX_INTERVAL = timedelta(days=7)


def throttle_step(name: str, step: Step) -> Step:
    """Return the step so that it only runs when it is due; a step that fails is tried again in the next dream."""

    def run_if_due(context: StepContext) -> StepPlan:
        position = context.store.position()
        if not _is_due(context, context.store.dream_progress.get_position(context.scope, name)):
            return StepPlan()
        plan = step(context)
        if context.should_stop():
            return plan  # it may be incomplete, so the next dream runs it again

        def after() -> None:
            plan.after_commit()
            context.store.dream_progress.set_position(context.scope, name, position)

        return replace(plan, after_commit=after)

    return run_if_due


def _is_due(context: StepContext, last_position: int | None) -> bool:
    """Return whether the step never ran here, or atoms have changed since: many of them, or a week ago."""
    if last_position is None:
        return True
    entries = context.store.read_journal((context.scope,), last_position)
    changed = {change.atom_id for entry in entries if entry.verb != VERB for change in entry.changes}
    is_enough = len(changed) * CHANGE_RATIO >= sum(context.store.count_by((context.scope,), "status").values())
    return bool(changed) and (is_enough or last_position <= context.store.position(before=context.now - MAX_INTERVAL))
