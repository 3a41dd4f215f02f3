"""Steps that read a whole scope are taken at leisure: when enough has changed since, or after a week."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from lamina.dream.dream import VERB, Step
from lamina.dream.plan import Plan
from lamina.dream.scene import Scene

ONE_IN = 100
"""A scope is looked at again once one atom in so many has changed."""
A_WEEK = timedelta(days=7)


def at_leisure(name: str, step: Step) -> Step:
    """The step, taken only where it is worth it; one that fails is tried again in the next dream."""

    def taken(scene: Scene) -> Plan:
        here = scene.store.position()
        if not _is_worth_it(scene, scene.store.dreams.marked(scene.scope, name)):
            return Plan()
        plan = step(scene)
        if scene.stop():
            return plan  # broken off, perhaps: the next dream looks again

        def after() -> None:
            plan.after()
            scene.store.dreams.mark(scene.scope, name, here)

        return replace(plan, after=after)

    return taken


def _is_worth_it(scene: Scene, mark: int | None) -> bool:
    """Whether nobody has looked yet, or something has changed since: much of it, or long ago."""
    if mark is None:
        return True
    entries = scene.store.journal((scene.scope,), mark)
    changed = {change.atom_id for entry in entries if entry.verb != VERB for change in entry.changes}
    much = len(changed) * ONE_IN >= sum(scene.store.counts((scene.scope,), "status").values())
    return bool(changed) and (much or mark <= scene.store.position(before=scene.now - A_WEEK))
