"""What a machine may do to a memory by itself. Whatever cannot be understood counts as the least that could be meant.

The rules are few: nothing important is let go, nothing laid aside or doubted is built on, and what one is not sure of
waits. A dream's plans pass through here between the step that makes them and the commit.
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
"""From here on nothing is let go."""
SURE = 0.35
"""Below this an action waits."""
TOLD = 20
"""So many of those left out are told one by one."""


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
    """Who wants it done."""

    EXTRACTION = "extraction"
    CONSOLIDATION = "consolidation"
    REPLAY = "replay"
    MANUAL = "manual"
    UNKNOWN = "unknown"


class Ruling(StrEnum):
    """What becomes of an action."""

    ALLOW = "allow"
    DEFER = "defer"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Context:
    """What is known when an action is judged; the defaults are what is known where nothing can be read."""

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
    """The action a word names, exactly; for everything else, discard."""
    return _member(Action, raw) or Action.DISCARD


def parse_context(raw: object) -> Context:
    """The context a mapping tells, whole and exactly; where anything in it is amiss, the one that knows nothing."""
    if type(raw) is not dict or raw.keys() != _KEYS:
        return UNREAD
    state, source = _member(LifecycleState, raw["lifecycle_state"]), _member(Source, raw["source"])
    confidence, importance = raw["confidence"], raw["importance"]
    if state is None or source is None or not (_is_share(confidence) and _is_share(importance)):
        return UNREAD
    return Context(float(confidence), state, float(importance), source)


def decide(action: Action, context: Context) -> Ruling:
    """Whether an action goes ahead, waits or is refused."""
    # Written so that a figure that is no number falls on the safe side of every comparison.
    if action is Action.DISCARD and not context.importance < IMPORTANT:
        return Ruling.DENY
    if action in _BUILDS_ON and context.lifecycle_state in _OVER:
        return Ruling.DENY
    return Ruling.ALLOW if context.confidence >= SURE else Ruling.DEFER


def actions_of(before: Atom | None, after: Atom) -> tuple[Action, ...]:
    """What a change of an atom amounts to; nothing where only its links weaken, for that is ageing."""
    if before is None:
        return (_making(after),)
    found = list[Action]()
    if after.status is not before.status:
        found.append(_moving(before, after))
    if {(relation.name, relation.target) for relation in after.relations} - {
        (relation.name, relation.target) for relation in before.relations
    }:
        found.append(Action.LINK_GRAPH)
    # What comes with a move, such as the layer of what is revived, is part of the move.
    if not found and any(getattr(before, name) != getattr(after, name) for name in _FIELDS):
        found.append(Action.SUMMARIZE_NODE if after.kind in _SUMMED_UP else Action.UPDATE_NOTE)
    return tuple(found)


def gate(plan: Plan, before: Mapping[AtomId, Atom], context_of: ContextOf) -> Plan:
    """The plan without what the policy refuses or lets wait, nor what hangs together with that; its notes tell.

    `before` has the atoms as they stand. `context_of` is asked about those, and about new ones as they shall be.
    """
    told = dict[AtomId, str]()
    for atom in plan.changes:
        stands = before.get(atom.id)
        if why := _objection(actions_of(stands, atom), context_of(stands or atom)):
            told[atom.id] = f"left alone: {atom.id[-6:]}: {why}"
    if not told:
        return plan
    out = _hanging_on(told, plan.changes, before)
    return replace(
        plan,
        changes=tuple(change for change in plan.changes if change.id not in out),
        moves=tuple(move for move in plan.moves if move.atom_id not in out),
        notes=(*plan.notes, *_told(list(told.values()), len(out) - len(told))),
    )


def gated(plan: Plan, scene: Scene) -> Plan:
    """The plan of a step as the policy lets it through."""
    if not plan.changes:
        return plan
    ids = tuple(change.id for change in plan.changes if change.revision)
    stands = scene.store.read(Filter(scopes=visible_from(scene.scope), ids=ids)) if ids else []
    return gate(plan, {stand.id: stand for stand in stands}, context_in(scene))


def context_in(scene: Scene) -> ContextOf:
    """How a dream sees an atom.

    Where it is in its life is what its status says, once it has lived: however long nobody has asked for a true
    statement, it may be built on, and what a dream makes for a person to decide about only begins. A rule that moves
    what is there is sure of itself. What a dream made is as sure as it says, and may be let go, since it can be made
    again, unless somebody more trusted has had a hand in it.
    """

    def context_of(atom: Atom) -> Context:
        free = atom.revision and atom.origin is Origin.DREAM and scene.store.guard(atom) <= TRUST[Origin.DREAM]
        return Context(
            confidence=1.0 if atom.revision else atom.confidence,
            lifecycle_state=_stage(atom) if atom.revision else LifecycleState.CANDIDATE,
            importance=0.0 if free else atom.importance,
            source=Source.CONSOLIDATION,
        )

    return context_of


def _member(of: type[E], raw: object) -> E | None:
    return next((each for each in of if each.value == raw), None) if type(raw) in (str, of) else None


def _is_share(value: object) -> bool:
    """Whether it is a number from 0 to 1, and no truth value."""
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
    """What has a successor lives on in it; what comes back from the archive is kept once more."""
    if before.status is Status.ARCHIVED and after.status is Status.ACTIVE:
        return _keeping(after)
    lost = after.status is Status.ARCHIVED or after.status in ENDED
    return Action.DISCARD if lost and not (after.status in REPLACED and after.superseded_by) else Action.UPDATE_NOTE


def _objection(actions: Iterable[Action], context: Context) -> str | None:
    for action in actions:
        match decide(action, context):
            case Ruling.ALLOW:
                continue
            case Ruling.DEFER:
                return f"{action} waits: confidence {context.confidence:.2f} is below {SURE:.2f}"
            case Ruling.DENY if action is Action.DISCARD:
                return f"{action} is refused: importance {context.importance:.2f}; only a person lets go of it"
            case Ruling.DENY:
                return f"{action} is refused: it is {context.lifecycle_state}"
    return None


def _hanging_on(out: Iterable[AtomId], changes: Iterable[Atom], before: Mapping[AtomId, Atom]) -> set[AtomId]:
    """These, and all that come to name them or are named by them: half of what hangs together would mislead."""
    names = defaultdict[AtomId, set[AtomId]](set)
    for atom in changes:
        stands = before.get(atom.id)
        for other in _named(atom) - (_named(stands) if stands else set()):
            names[atom.id].add(other)
            names[other].add(atom.id)
    ids = {change.id for change in changes}
    found, ahead = set[AtomId](), set(out)
    while ahead:
        found |= ahead
        ahead = {other for each in ahead for other in names[each] if other in ids} - found
    return found


def _named(atom: Atom) -> set[AtomId]:
    return {
        *atom.supersedes,
        *atom.superseded_by,
        *atom.derived_from,
        *(relation.target for relation in atom.relations),
    }


def _told(lines: list[str], others: int) -> list[str]:
    more = [f"left alone: and {len(lines) - TOLD} more"] if len(lines) > TOLD else []
    also = [f"left alone with them, being one with them: {others}"] if others else []
    return [*lines[:TOLD], *more, *also]
