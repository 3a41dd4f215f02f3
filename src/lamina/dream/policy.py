"""What a machine may do to a memory without a person. Input that cannot be parsed is treated as the least trusted.

The rules: nothing important is discarded, nothing archived or disputed is built on, and low confidence defers. The plan
of each dream step passes through here before it is committed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from lamina.atom.atom import DATA_FIELDS, Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import visible_from
from lamina.atom.status import ENDED, REPLACED, Status
from lamina.atom.trust import TRUST, Origin
from lamina.dream.plan import Plan
from lamina.dream.scene import Scene
from lamina.lifecycle.lifecycle_state import LifecycleState
from lamina.lifecycle.signals import Signals
from lamina.lifecycle.verification import Verification, verification
from lamina.store.base import Filter

IMPORTANT = 0.8
"""From this importance on, nothing is discarded."""
SURE = 0.35
"""Below this confidence an action is deferred."""
TOLD = 20
"""The most changes that were left out are listed one by one in the notes."""


class Action(StrEnum):
    """What may be done with a memory."""

    STORE_EPISODE = "store_episode"
    STORE_NOTE = "store_note"
    UPDATE_NOTE = "update_note"
    CREATE_ARTIFACT = "create_artifact"
    SUMMARIZE_NODE = "summarize_node"
    DISCARD = "discard"
    LINK_GRAPH = "link_graph"


class Source(StrEnum):
    """Which part of the system requests an action."""

    EXTRACTION = "extraction"
    CONSOLIDATION = "consolidation"
    REPLAY = "replay"
    MANUAL = "manual"
    UNKNOWN = "unknown"


class Ruling(StrEnum):
    """The policy's answer: do it, do it later, or never."""

    ALLOW = "allow"
    DEFER = "defer"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Context:
    """What is known when an action is judged; the defaults apply where nothing can be parsed."""

    confidence: float = 0.0
    lifecycle_state: LifecycleState = LifecycleState.CANDIDATE
    importance: float = 0.0
    source: Source = Source.UNKNOWN


UNREAD = Context()
_KEYS = frozenset({"confidence", "lifecycle_state", "importance", "source"})
_OVER = frozenset({LifecycleState.STALE, LifecycleState.ARCHIVED})
_BUILDS_ON = frozenset({Action.UPDATE_NOTE, Action.CREATE_ARTIFACT, Action.LINK_GRAPH})
_SUMMED_UP = frozenset({"synthesis", "summary", "entity"})
_FIELDS = tuple(name for name in DATA_FIELDS if name not in ("status", "relations"))

ContextOf = Callable[[Atom], Context]
E = TypeVar("E", bound=StrEnum)


def parse_action(raw: object) -> Action:
    """Return the action with exactly this name; discard for any other input."""
    return _member(Action, raw) or Action.DISCARD


def parse_context(raw: object) -> Context:
    """Return the context in a mapping; `UNKNOWN_CONTEXT` if any key or value is missing, unknown or out of range."""
    if type(raw) is not dict or raw.keys() != _KEYS:
        return UNREAD
    state, source = _member(LifecycleState, raw["lifecycle_state"]), _member(Source, raw["source"])
    confidence, importance = raw["confidence"], raw["importance"]
    if state is None or source is None or not (_is_share(confidence) and _is_share(importance)):
        return UNREAD
    return Context(float(confidence), state, float(importance), source)


def decide(action: Action, context: Context) -> Ruling:
    """Return whether an action is allowed, deferred or denied."""
    # The comparisons are written so that NaN gives the safe result.
    if action is Action.DISCARD and not context.importance < IMPORTANT:
        return Ruling.DENY
    if action in _BUILDS_ON and context.lifecycle_state in _OVER:
        return Ruling.DENY
    return Ruling.ALLOW if context.confidence >= SURE else Ruling.DEFER


def actions_of(before: Atom | None, after: Atom) -> tuple[Action, ...]:
    """Return the actions that a change of an atom amounts to; none if its links only weaken, which is ageing."""
    if before is None:
        return (_making(after),)
    actions = list[Action]()
    if after.status is not before.status:
        actions.append(_moving(before, after))
    if {(relation.name, relation.target) for relation in after.relations} - {
        (relation.name, relation.target) for relation in before.relations
    }:
        actions.append(Action.LINK_GRAPH)
    # Fields that change with a status change, such as the layer of a revived atom, are part of it.
    if not actions and any(getattr(before, name) != getattr(after, name) for name in _FIELDS):
        actions.append(Action.SUMMARIZE_NODE if after.kind in _SUMMED_UP else Action.UPDATE_NOTE)
    return tuple(actions)


def gate(plan: Plan, before: Mapping[AtomId, Atom], context_of: ContextOf) -> Plan:
    """Return the plan without the changes that the policy denies or defers, or that are linked to those; notes say why.

    `before` holds the atoms as they are stored. `read_context` is called with those, or with a new atom as planned.
    """
    objections = dict[AtomId, str]()
    for atom in plan.changes:
        current = before.get(atom.id)
        if objection := _objection(actions_of(current, atom), context_of(current or atom)):
            objections[atom.id] = f"left alone: {atom.id[-6:]}: {objection}"
    if not objections:
        return plan
    removed = _hanging_on(objections, plan.changes, before)
    return replace(
        plan,
        changes=tuple(change for change in plan.changes if change.id not in removed),
        moves=tuple(move for move in plan.moves if move.atom_id not in removed),
        notes=(*plan.notes, *_told(list(objections.values()), len(removed) - len(objections))),
    )


def gated(plan: Plan, scene: Scene) -> Plan:
    """Return the plan of a step without what the policy denies or defers."""
    if not plan.changes:
        return plan
    ids = tuple(change.id for change in plan.changes if change.revision)
    current = scene.store.read(Filter(scopes=visible_from(scene.scope), ids=ids)) if ids else []
    return gate(plan, {atom.id: atom for atom in current}, context_in(scene))


def context_in(scene: Scene) -> ContextOf:
    """Return a function that gives the policy context of an atom during a dream.

    The lifecycle state follows the status alone: a true statement may be built on however long it was not used, and
    what a dream proposes starts as a candidate. Rules that move existing atoms have full confidence. What a dream
    generated may be discarded, since it can be generated again, unless a more trusted origin has edited it.
    """

    def read_context(atom: Atom) -> Context:
        is_disposable = atom.revision and atom.origin is Origin.DREAM and scene.store.guard(atom) <= TRUST[Origin.DREAM]
        return Context(
            confidence=1.0 if atom.revision else atom.confidence,
            lifecycle_state=_stage(atom) if atom.revision else LifecycleState.CANDIDATE,
            importance=0.0 if is_disposable else atom.importance,
            source=Source.CONSOLIDATION,
        )

    return read_context


def _member(of: type[E], raw: object) -> E | None:
    return next((member for member in of if member.value == raw), None) if type(raw) in (str, of) else None


def _is_share(value: object) -> bool:
    """Return whether a value is a number from 0 to 1 and not a bool."""
    return (type(value) is int or type(value) is float) and 0 <= value <= 1


def _stage(atom: Atom) -> LifecycleState:
    if atom.status is Status.ARCHIVED:
        return LifecycleState.ARCHIVED
    if atom.status is Status.CHALLENGED or atom.status in ENDED:
        return LifecycleState.STALE
    match verification(atom, Signals()):
        case Verification.USER_CONFIRMED | Verification.SYSTEM_INFERRED:
            return LifecycleState.ACTIVE
        case _:
            return LifecycleState.CANDIDATE


def _making(atom: Atom) -> Action:
    if atom.kind in _SUMMED_UP:
        return Action.SUMMARIZE_NODE
    return Action.CREATE_ARTIFACT if atom.derived_from else _keeping(atom)


def _keeping(atom: Atom) -> Action:
    return Action.STORE_EPISODE if atom.memory_kind == "episode" else Action.STORE_NOTE


def _moving(before: Atom, after: Atom) -> Action:
    """Return the action of a status change: a superseded atom lives on in its successor, a revived one is stored."""
    if before.status is Status.ARCHIVED and after.status is Status.ACTIVE:
        return _keeping(after)
    is_lost = after.status is Status.ARCHIVED or after.status in ENDED
    return Action.DISCARD if is_lost and not (after.status in REPLACED and after.superseded_by) else Action.UPDATE_NOTE


def _objection(actions: Iterable[Action], context: Context) -> str | None:
    for action in actions:
        match decide(action, context):
            case Ruling.ALLOW:
                continue
            case Ruling.DEFER:
                return f"{action} is deferred: confidence {context.confidence:.2f} is below {SURE:.2f}"
            case Ruling.DENY if action is Action.DISCARD:
                return f"{action} is denied: importance {context.importance:.2f}; only a person may discard it"
            case Ruling.DENY:
                return f"{action} is denied: the atom is {context.lifecycle_state}"
    return None


def _hanging_on(out: Iterable[AtomId], changes: Iterable[Atom], before: Mapping[AtomId, Atom]) -> set[AtomId]:
    """Return these ids and all that become linked with them: a part of a connected change would mislead."""
    links = defaultdict[AtomId, set[AtomId]](set)
    for atom in changes:
        current = before.get(atom.id)
        for other in _named(atom) - (_named(current) if current else set()):
            links[atom.id].add(other)
            links[other].add(atom.id)
    ids = {change.id for change in changes}
    connected, frontier = set[AtomId](), set(out)
    while frontier:
        connected |= frontier
        frontier = {other for atom_id in frontier for other in links[atom_id] if other in ids} - connected
    return connected


def _named(atom: Atom) -> set[AtomId]:
    return {
        *atom.supersedes,
        *atom.superseded_by,
        *atom.derived_from,
        *(relation.target for relation in atom.relations),
    }


def _told(lines: list[str], others: int) -> list[str]:
    overflow = [f"left alone: and {len(lines) - TOLD} more"] if len(lines) > TOLD else []
    connected = [f"left alone because they are linked with these: {others}"] if others else []
    return [*lines[:TOLD], *overflow, *connected]
