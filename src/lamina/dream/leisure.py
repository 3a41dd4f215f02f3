"""Throttles steps that read a whole scope: they run when enough has changed since the last time, or after a week."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from lamina.dream.dream import VERB, Step
from lamina.dream.plan import Plan
from lamina.dream.scene import Scene

ONE_IN = 100
"""A scope is read again once one atom in this many has changed."""
A_WEEK = timedelta(days=7)


def at_leisure(name: str, step: Step) -> Step:
    """Return the step so that it only runs when it is due; a step that fails is tried again in the next dream."""

    def run_if_due(context: Scene) -> Plan:
        position = context.store.position()
        if not _is_worth_it(context, context.store.dreams.marked(context.scope, name)):
            return Plan()
        plan = step(context)
        if context.stop():
            return plan  # it may be incomplete, so the next dream runs it again

        def after() -> None:
            plan.after()
            context.store.dreams.mark(context.scope, name, position)

        return replace(plan, after=after)

    return run_if_due


def _is_worth_it(scene: Scene, mark: int | None) -> bool:
    """Return whether the step never ran here, or atoms have changed since: many of them, or a week ago."""
    if mark is None:
        return True
    entries = scene.store.journal((scene.scope,), mark)
    changed = {change.atom_id for entry in entries if entry.verb != VERB for change in entry.changes}
    is_enough = len(changed) * ONE_IN >= sum(scene.store.counts((scene.scope,), "status").values())
    return bool(changed) and (is_enough or mark <= scene.store.position(before=scene.now - A_WEEK))
