"""Applies the action policy to dreams: the plan of each step passes through here before it is committed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import TRUST, Origin
from lamina.dream.step import StepContext, StepPlan
from lamina.lifecycle.action_policy import PolicyContext, classify_change, find_objection, lifecycle_stage
from lamina.lifecycle.standing import LifecycleState
from lamina.store.commit_rules import required_trust

MAX_NOTES = 20
"""The most changes that were left out are listed one by one in the notes."""


ContextReader = Callable[[Atom], PolicyContext]


def filter_plan(plan: StepPlan, before: Mapping[AtomId, Atom], read_context: ContextReader) -> StepPlan:
    """Return the plan without the changes that the policy denies or defers, or that are linked to those; notes say why.

    `before` holds the atoms as they are stored. `read_context` is called with those, or with a new atom as planned.
    """
    objections = dict[AtomId, str]()
    for atom in plan.changes:
        current = before.get(atom.id)
        if objection := find_objection(classify_change(current, atom), read_context(current or atom)):
            objections[atom.id] = f"left alone: {atom.id[-6:]}: {objection}"
    if not objections:
        return plan
    removed = _with_connected(objections, plan.changes, before)
    return replace(
        plan,
        changes=tuple(change for change in plan.changes if change.id not in removed),
        moves=tuple(move for move in plan.moves if move.atom_id not in removed),
        notes=(*plan.notes, *_notes(list(objections.values()), len(removed) - len(objections))),
    )


def apply_policy(plan: StepPlan, context: StepContext) -> StepPlan:
    """Return the plan of a step without what the policy denies or defers."""
    if not plan.changes:
        return plan
    current = context.read_readable(change.id for change in plan.changes if change.revision)
    return filter_plan(plan, current, context_reader(context))


def context_reader(context: StepContext) -> ContextReader:
    """Return a function that gives the policy context of an atom during a dream.

    The lifecycle state follows the status alone: a true statement may be built on however long it was not used, and
    what a dream proposes starts as a candidate. Rules that move existing atoms have full confidence. What a dream
    generated may be discarded, since it can be generated again, unless a more trusted origin has edited it.
    """

    def read_context(atom: Atom) -> PolicyContext:
        is_disposable = (
            atom.revision
            and atom.origin is Origin.DREAM
            and required_trust(atom, context.store.atoms) <= TRUST[Origin.DREAM]
        )
        return PolicyContext(
            confidence=1.0 if atom.revision else atom.confidence,
            lifecycle_state=lifecycle_stage(atom) if atom.revision else LifecycleState.CANDIDATE,
            importance=0.0 if is_disposable else atom.importance,
        )

    return read_context


def _with_connected(removed: Iterable[AtomId], changes: Iterable[Atom], before: Mapping[AtomId, Atom]) -> set[AtomId]:
    """Return these ids and all that become linked with them: a part of a connected change would mislead."""
    links = defaultdict[AtomId, set[AtomId]](set)
    for atom in changes:
        current = before.get(atom.id)
        for other in _linked_ids(atom) - (_linked_ids(current) if current else set()):
            links[atom.id].add(other)
            links[other].add(atom.id)
    ids = {change.id for change in changes}
    connected, frontier = set[AtomId](), set(removed)
    while frontier:
        connected |= frontier
        frontier = {other for atom_id in frontier for other in links[atom_id] if other in ids} - connected
    return connected


def _linked_ids(atom: Atom) -> set[AtomId]:
    targets = (relation.target for relation in atom.relations)
    return {*atom.supersedes, *atom.superseded_by, *atom.derived_from, *targets}


def _notes(lines: list[str], connected_count: int) -> list[str]:
    overflow = [f"left alone: and {len(lines) - MAX_NOTES} more"] if len(lines) > MAX_NOTES else []
    connected = [f"left alone because they are linked with these: {connected_count}"] if connected_count else []
    return [*lines[:MAX_NOTES], *overflow, *connected]
