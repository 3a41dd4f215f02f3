"""The policy for changes that a machine makes to a memory without a person.

The rules: nothing important is discarded, nothing archived or disputed is built on, and low confidence defers. The plan
of each dream step passes through here before it is committed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from lamina.atom.atom import DATA_FIELDS, Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import ENDED, REPLACED, Status
from lamina.atom.trust import TRUST, Origin
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan
from lamina.lifecycle.lifecycle_state import LifecycleState
from lamina.lifecycle.signals import AgeingSignals, Verification, verification

IMPORTANT = 0.8
"""From this importance on, nothing is discarded."""
MIN_CONFIDENCE = 0.35
"""Below this confidence an action is deferred."""
MAX_NOTES = 20
"""The most changes that were left out are listed one by one in the notes."""


class PolicyAction(StrEnum):
    """An action on a memory."""

    STORE_EPISODE = "store_episode"
    STORE_NOTE = "store_note"
    UPDATE_NOTE = "update_note"
    CREATE_ARTIFACT = "create_artifact"
    SUMMARIZE_NODE = "summarize_node"
    DISCARD = "discard"
    LINK_GRAPH = "link_graph"


class PolicyRuling(StrEnum):
    """The policy's answer: do it, do it later, or never."""

    ALLOW = "allow"
    DEFER = "defer"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """The facts by which an action is judged; the defaults apply where nothing is known."""

    confidence: float = 0.0
    lifecycle_state: LifecycleState = LifecycleState.CANDIDATE
    importance: float = 0.0


_INACTIVE_STATES = frozenset({LifecycleState.STALE, LifecycleState.ARCHIVED})
_BUILDING_ACTIONS = frozenset({PolicyAction.UPDATE_NOTE, PolicyAction.CREATE_ARTIFACT, PolicyAction.LINK_GRAPH})
_SUMMARY_KINDS = frozenset({"synthesis", "summary", "entity"})
_CONTENT_FIELDS = tuple(name for name in DATA_FIELDS if name not in ("status", "relations"))

ContextReader = Callable[[Atom], PolicyContext]


def decide(action: PolicyAction, context: PolicyContext) -> PolicyRuling:
    """Return whether an action is allowed, deferred or denied."""
    # The comparisons are written so that NaN gives the safe result.
    if action is PolicyAction.DISCARD and not context.importance < IMPORTANT:
        return PolicyRuling.DENY
    if action in _BUILDING_ACTIONS and context.lifecycle_state in _INACTIVE_STATES:
        return PolicyRuling.DENY
    return PolicyRuling.ALLOW if context.confidence >= MIN_CONFIDENCE else PolicyRuling.DEFER


def classify_change(before: Atom | None, after: Atom) -> tuple[PolicyAction, ...]:
    """Return the actions that a change of an atom amounts to; none if its links only weaken, which is ageing."""
    if before is None:
        return (_creation_action(after),)
    actions = list[PolicyAction]()
    if after.status is not before.status:
        actions.append(_status_action(before, after))
    old_links, new_links = ({(link.name, link.target) for link in atom.relations} for atom in (before, after))
    if new_links - old_links:
        actions.append(PolicyAction.LINK_GRAPH)
    # Fields that change with a status change, such as the layer of a revived atom, are part of it.
    if not actions and any(getattr(before, name) != getattr(after, name) for name in _CONTENT_FIELDS):
        actions.append(PolicyAction.SUMMARIZE_NODE if after.kind in _SUMMARY_KINDS else PolicyAction.UPDATE_NOTE)
    return tuple(actions)


def filter_plan(plan: StepPlan, before: Mapping[AtomId, Atom], read_context: ContextReader) -> StepPlan:
    """Return the plan without the changes that the policy denies or defers, or that are linked to those; notes say why.

    `before` holds the atoms as they are stored. `read_context` is called with those, or with a new atom as planned.
    """
    objections = dict[AtomId, str]()
    for atom in plan.changes:
        current = before.get(atom.id)
        if objection := _objection(classify_change(current, atom), read_context(current or atom)):
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
            and context.store.atoms.required_trust(atom) <= TRUST[Origin.DREAM]
        )
        return PolicyContext(
            confidence=1.0 if atom.revision else atom.confidence,
            lifecycle_state=_lifecycle_stage(atom) if atom.revision else LifecycleState.CANDIDATE,
            importance=0.0 if is_disposable else atom.importance,
        )

    return read_context


def _lifecycle_stage(atom: Atom) -> LifecycleState:
    if atom.status is Status.ARCHIVED:
        return LifecycleState.ARCHIVED
    if atom.status is Status.CHALLENGED or atom.status in ENDED:
        return LifecycleState.STALE
    is_verified = verification(atom, AgeingSignals()) in (Verification.USER_CONFIRMED, Verification.SYSTEM_INFERRED)
    return LifecycleState.ACTIVE if is_verified else LifecycleState.CANDIDATE


def _creation_action(atom: Atom) -> PolicyAction:
    if atom.kind in _SUMMARY_KINDS:
        return PolicyAction.SUMMARIZE_NODE
    return PolicyAction.CREATE_ARTIFACT if atom.derived_from else _storing_action(atom)


def _storing_action(atom: Atom) -> PolicyAction:
    return PolicyAction.STORE_EPISODE if atom.memory_kind == "episode" else PolicyAction.STORE_NOTE


def _status_action(before: Atom, after: Atom) -> PolicyAction:
    """Return the action of a status change: a superseded atom lives on in its successor, a revived one is stored."""
    if before.status is Status.ARCHIVED and after.status is Status.ACTIVE:
        return _storing_action(after)
    is_lost = after.status is Status.ARCHIVED or after.status in ENDED
    is_replaced = after.status in REPLACED and bool(after.superseded_by)
    return PolicyAction.DISCARD if is_lost and not is_replaced else PolicyAction.UPDATE_NOTE


def _objection(actions: Iterable[PolicyAction], context: PolicyContext) -> str | None:
    for action in actions:
        match decide(action, context):
            case PolicyRuling.ALLOW:
                continue
            case PolicyRuling.DEFER:
                return f"{action} is deferred: confidence {context.confidence:.2f} is below {MIN_CONFIDENCE:.2f}"
            case PolicyRuling.DENY if action is PolicyAction.DISCARD:
                return f"{action} is denied: importance {context.importance:.2f}; only a person may discard it"
            case PolicyRuling.DENY:
                return f"{action} is denied: the atom is {context.lifecycle_state}"
    return None


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
