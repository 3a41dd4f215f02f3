"""Step age: apply what time and use have done to atoms. Only atoms whose state can have changed are read.

Between two events only an atom's age changes, and each ageing rule flips at most once with age. So the hour of the next
change can be computed in advance, and the atom is not read before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, AtomId, Relation, RelationName
from lamina.atom.atom import Signals as Counted
from lamina.atom.kinds import Layer, kind_traits
from lamina.atom.status import Status
from lamina.dream.step import PlanBuilder, StepContext, StepPlan
from lamina.lifecycle.ageing import COOL_AFTER_DAYS, decide_archival
from lamina.lifecycle.ageing import decide_ageing as aged
from lamina.lifecycle.ageing_decision import AgeingAction, StorageTier
from lamina.lifecycle.ageing_time import AgeingTime, add_clamped, days_since
from lamina.lifecycle.importance import effective_importance
from lamina.lifecycle.promotion import WORKING_TERM
from lamina.lifecycle.relation_strength import DECAY_WINDOW, MIN_CONFIDENCE, decay_relation
from lamina.lifecycle.retention import retention
from lamina.lifecycle.signals import AgeingSignals, recorded_at
from lamina.lifecycle.standing import lifecycle_state
from lamina.review.ageing_signals import add_history, current_signals
from lamina.store.base import AtomVersion
from lamina.store.signals_and_ageing import AgeingState

FULL_BITS = 32
"""The bits of a number that is not rounded."""
COLD_BITS = 4
"""The most bits of the vectors of a memory in the cold tier that was not used lately."""
HYSTERESIS = 0.05
"""How far retention must be past a threshold before the precision changes."""
_BITS_ABOVE = ((0.8, FULL_BITS), (0.5, 8), (0.2, 4))
_MIN_BITS = 2


def choose_bits(retention: float, current: int = FULL_BITS) -> int:
    """Return the bits per dimension for this retention, given the current bits."""
    lowered, raised = _bits_for_retention(retention + HYSTERESIS), _bits_for_retention(retention - HYSTERESIS)
    return lowered if lowered < current else max(raised, current)


def _bits_for_retention(retention: float) -> int:
    return next((bits for above, bits in _BITS_ABOVE if retention > above), _MIN_BITS)


AGEING_RELATIONS = frozenset(RelationName) - {RelationName.CONTRADICTS, RelationName.SUPERSEDES}
"""The relations that weaken with time."""


def age_links(atom: Atom, now: datetime) -> Atom:
    """Return the atom with its links as weak as time has made them."""
    links = tuple(_age_link(relation, now, recorded_at(atom)) for relation in atom.relations)
    return atom.with_(relations=links) if links != atom.relations else atom


def next_link_ageing(atom: Atom) -> datetime | None:
    """Return when the next link of the atom weakens; None if none ever will."""
    times = [
        add_clamped(relation.last_reinforced_at or recorded_at(atom), DECAY_WINDOW)
        for relation in atom.relations
        if relation.name in AGEING_RELATIONS and relation.confidence > MIN_CONFIDENCE
    ]
    return min(times, default=None) if not atom.pinned else None


def _age_link(link: Relation, now: datetime, created_at: datetime) -> Relation:
    return decay_relation(link, now, created_at) if link.name in AGEING_RELATIONS else link


def describe_link_ageing(before: Atom, after: Atom) -> str:
    """Describe how the links of an atom weakened."""
    pairs = zip(before.relations, after.relations, strict=True)
    changes = [f"{old.name} {old.confidence:.2f} → {new.confidence:.2f}" for old, new in pairs if old != new]
    return f"not reinforced for over {DECAY_WINDOW.days} days: {', '.join(changes)}"


BATCH_SIZE = 500
"""The number of atoms that are read together."""
AN_HOUR = timedelta(hours=1)
REFRESH_AFTER = timedelta(days=5)
"""The shortest time after which the stored ageing state of an atom is computed again."""
REFRESH_SHARE = 4
"""An older atom is computed again after this part of its age: it changes less."""
_MAX_REASONS = 4
_NUMBERS = re.compile(r"\s*\d[\d.]*(?: times)?")
_TIER_NOTES = {AgeingAction.COOL: "cooled down", AgeingAction.WARM: "warmed up"}
_TIER_ACTIONS = frozenset(_TIER_NOTES)


@dataclass(slots=True)
class _AgeingPlan(PlanBuilder):
    """The changes of ageing, with the ageing state of every atom that was due."""

    ageing_states: dict[AtomId, AgeingState] = field(default_factory=dict)
    tiers: Counter[AgeingAction] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    """Why atoms are not archived, without their numbers."""


def age(context: StepContext) -> StepPlan:
    """Promote, archive, revive and expire what is due, weaken unused links, and store the new ageing states."""
    plan, store = _AgeingPlan(), context.store
    due = store.signals.find_due(context.scope, context.now)
    for start in range(0, len(due), BATCH_SIZE):
        batch = tuple(due[start : start + BATCH_SIZE])
        counters, ageing_states = store.signals.get(batch)
        for atom in sorted(context.read(ids=batch), key=lambda atom: (recorded_at(atom), atom.id)):
            _age_atom(atom, counters.get(atom.id, Counted()), ageing_states.get(atom.id), context, plan)
    plan.notes += [f"{count} {_TIER_NOTES[action]}" for action, count in sorted(plan.tiers.items())]
    plan.examined = _describe_examined(len(due), plan)
    return replace(
        plan.build(), after_commit=lambda: store.signals.put_ageing(plan.ageing_states), after_in_dry_run=True
    )


def _describe_examined(due_count: int, plan: _AgeingPlan) -> str:
    """Describe how many memories were due, and, if none changed, why they were left as they are."""
    examined = f"{due_count:,} memories were due for a check"
    if plan.moves or not plan.kept:
        return examined
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in plan.kept.most_common(_MAX_REASONS))
    return f"{examined}; none changed: {reasons}"


def _age_atom(
    atom: Atom, counters: Counted, ageing_state: AgeingState | None, context: StepContext, plan: _AgeingPlan
) -> None:
    signals = current_signals(atom, counters, context.store)
    tier, was_undone = StorageTier(ageing_state.tier) if ageing_state else StorageTier.HOT, False
    has_history = atom.revision > 1 or atom.status is Status.ARCHIVED
    decisions = () if has_history else aged(atom, signals, context.moment, tier, context.retention_mode)
    if has_history or decisions:
        versions = context.store.journal.versions(atom.id)
        signals = add_history(signals, versions)
        decisions = aged(atom, signals, context.moment, tier, context.retention_mode)
        was_undone = _was_undone(versions, signals)
        if was_undone:
            decisions = tuple(decision for decision in decisions if decision.action in _TIER_ACTIONS)
    after = atom
    for decision in decisions:
        after, tier = decision.apply_to(after), decision.tier or tier
        if decision.action in _TIER_ACTIONS:
            plan.tiers[decision.action] += 1
        else:
            plan.list_move(decision.action, atom, decision.reason)
    weakened = after if after.pinned or was_undone else age_links(after, context.moment.active_now)
    if weakened != after:
        plan.list_move("weaken", atom, describe_link_ageing(after, weakened))
        after = weakened
    if after != atom:
        plan.changes[atom.id] = after
    if after == atom:
        plan.kept[_kept_because(atom, signals, context)] += 1
    plan.ageing_states[atom.id] = _ageing_state(
        after, signals, tier, context, after != atom, ageing_state.bits if ageing_state else FULL_BITS
    )


def _ageing_state(
    atom: Atom, signals: AgeingSignals, tier: StorageTier, context: StepContext, is_changed: bool, bits: int
) -> AgeingState:
    """Return the ageing state of an atom after its step."""
    now, lived = context.now, context.moment.active_now
    event, weakens_at = _next_event(atom, signals, tier, context), next_link_ageing(atom)
    is_in_use = signals.last_use is not None and days_since(signals.last_use, now) < COOL_AFTER_DAYS
    wanted_bits = choose_bits(retention(atom, signals, lived, context.retention_mode), bits)
    next_look = min(event, weakens_at) if weakens_at is not None else event
    return AgeingState(
        revision=atom.revision + is_changed,
        tier=tier.value,
        next_check_at=max(next_look, now),
        retention=round(retention(atom, signals, now, context.retention_mode), 4),
        bits=min(wanted_bits, COLD_BITS) if tier is StorageTier.COLD and not is_in_use else wanted_bits,
        importance=round(effective_importance(atom, signals, now), 4),
        recency=round(2.0 ** (-days_since(atom.observed_at, now) / kind_traits(atom.kind).half_life_days), 4),
        state=lifecycle_state(atom, signals, now).value,
    )


def _kept_because(atom: Atom, signals: AgeingSignals, context: StepContext) -> str:
    """Return why an atom is not archived, without the numbers, so that equal reasons can be counted."""
    return _NUMBERS.sub("", decide_archival(atom, signals, context.moment, context.retention_mode).reason)


def _was_undone(versions: Sequence[AtomVersion], signals: AgeingSignals) -> bool:
    """Return whether a person undid the last thing a dream did to the atom and it was not used since."""
    last = versions[-1]
    if last.verb != "undo" or not any(version.verb == "dream" for version in versions):
        return False
    return signals.last_use is None or signals.last_use <= last.at


def _next_event(atom: Atom, signals: AgeingSignals, tier: StorageTier, context: StepContext) -> datetime:
    """Return the last hour before ageing changes the atom if it stays unused, or when its state needs a refresh."""
    if atom.layer is Layer.WORKING and not atom.run_id:
        return recorded_at(atom) + WORKING_TERM

    def is_changed_after(hours: int) -> bool:
        future = AgeingTime(add_clamped(context.now, hours * AN_HOUR))
        return bool(aged(atom, signals, future, tier, context.retention_mode))

    low, high = 0, int(_refresh_interval(atom, context.now) / AN_HOUR)
    if not is_changed_after(high):
        return add_clamped(context.now, high * AN_HOUR)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_changed_after(middle) else (middle, high)
    return add_clamped(context.now, low * AN_HOUR)


def _refresh_interval(atom: Atom, now: datetime) -> timedelta:
    """Return how long the stored ageing state stays accurate: longer for older atoms, which change less."""
    return max(REFRESH_AFTER, (now - recorded_at(atom)) / REFRESH_SHARE)
