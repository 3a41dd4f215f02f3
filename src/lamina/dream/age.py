"""Step 1, age: apply what time and use have done to atoms. Only atoms whose state can have changed are read.

Between two events only an atom's age changes, and each ageing rule flips at most once with age. So the hour of the next
change can be computed in advance, and the atom is not read before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.atom import Signals as Counted
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer, kind_traits
from lamina.atom.lineage import lineage_trust
from lamina.atom.scope import readable_scopes
from lamina.atom.status import Status
from lamina.dream.link_ageing import age_links, describe_link_ageing, next_link_ageing
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import Move, StepPlan
from lamina.lifecycle.ageing import decide_ageing as aged
from lamina.lifecycle.ageing_time import AgeingTime, add_clamped, days_since
from lamina.lifecycle.decision import AgeingAction, StorageTier
from lamina.lifecycle.importance import effective_importance
from lamina.lifecycle.lifecycle_state import lifecycle_state
from lamina.lifecycle.precision import FULL_BITS, choose_bits
from lamina.lifecycle.promotion import WORKING_TERM
from lamina.lifecycle.retention import retention
from lamina.lifecycle.signals import AgeingSignals, from_counters, recorded_at
from lamina.review.confirmations import count_confirmations
from lamina.store.ageing_state import AgeingState
from lamina.store.base import AtomFilter, AtomVersion
from lamina.text.normal_form import one_line

BATCH_SIZE = 500
"""The number of atoms that are read together."""
_TEXT_CHARS = 80
AN_HOUR = timedelta(hours=1)
REFRESH_AFTER = timedelta(days=30)
"""The shortest time after which the stored ageing state of an atom is computed again."""
_TIER_NOTES = {AgeingAction.COOL: "cooled down", AgeingAction.WARM: "warmed up"}
_TIER_ACTIONS = frozenset(_TIER_NOTES)
_MACHINE_VERBS = frozenset(
    {"capture", "remember", "extract", "import", "inbox", "adopt", "settle", "box", "entity", "dream"}
)
"""Verbs that are not a person's decision about an existing atom; all others are."""
_REVISION_FIELDS = frozenset({"content", "resolved"})
"""Fields whose change makes an atom young again: a commitment that was kept is as young as that day."""


@dataclass(slots=True)
class _AgeingResult:
    """What ageing a batch of atoms results in."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    ageing_states: dict[AtomId, AgeingState] = field(default_factory=dict)
    tiers: Counter[AgeingAction] = field(default_factory=Counter)


def age(context: StepContext) -> StepPlan:
    """Promote, archive, revive and expire what is due, weaken unused links, and store the new ageing states."""
    result, store = _AgeingResult(), context.store
    due = store.ageing_states.find_due(context.scope, context.now)
    for start in range(0, len(due), BATCH_SIZE):
        batch = tuple(due[start : start + BATCH_SIZE])
        atoms = store.read(AtomFilter(scopes=(context.scope,), ids=batch))
        counters, ageing_states = store.ledger.signals_of(batch), store.ageing_states.get(batch)
        for atom in sorted(atoms, key=lambda atom: (recorded_at(atom), atom.id)):
            _age_atom(atom, counters.get(atom.id, Counted()), ageing_states.get(atom.id), context, result)
    notes = tuple(f"{count} {_TIER_NOTES[action]}" for action, count in sorted(result.tiers.items()))
    return StepPlan(
        tuple(result.changes.values()),
        tuple(result.moves),
        notes,
        after_commit=lambda: store.ageing_states.put(result.ageing_states),
        after_in_dry_run=True,
    )


def _age_atom(
    atom: Atom, counters: Counted, ageing_state: AgeingState | None, context: StepContext, result: _AgeingResult
) -> None:
    signals = _current_signals(atom, counters, context)
    tier, was_undone = StorageTier(ageing_state.tier) if ageing_state else StorageTier.HOT, False
    has_history = atom.revision > 1 or atom.status is Status.ARCHIVED
    decisions = () if has_history else aged(atom, signals, context.moment, tier, context.retention_mode)
    if has_history or decisions:
        versions = context.store.versions(atom.id)
        signals = _add_history(signals, versions)
        decisions = aged(atom, signals, context.moment, tier, context.retention_mode)
        was_undone = _was_undone(versions, signals)
        if was_undone:
            decisions = tuple(decision for decision in decisions if decision.action in _TIER_ACTIONS)
    after = atom
    for decision in decisions:
        after, tier = decision.apply_to(after), decision.tier or tier
        if decision.action in _TIER_ACTIONS:
            result.tiers[decision.action] += 1
        else:
            result.moves.append(Move(decision.action, atom.id, one_line(atom.content)[:_TEXT_CHARS], decision.reason))
    weakened = after if after.pinned or was_undone else age_links(after, context.moment.active_now)
    if weakened != after:
        result.moves.append(
            Move("loosen", atom.id, one_line(atom.content)[:_TEXT_CHARS], describe_link_ageing(after, weakened))
        )
        after = weakened
    if after != atom:
        result.changes[atom.id] = after
    result.ageing_states[atom.id] = _ageing_state(
        after, signals, tier, context, after != atom, ageing_state.bits if ageing_state else FULL_BITS
    )


def _ageing_state(
    atom: Atom, signals: AgeingSignals, tier: StorageTier, context: StepContext, is_changed: bool, bits: int
) -> AgeingState:
    """Return the ageing state of an atom after its step."""
    now, lived = context.now, context.moment.active_now
    event, loosens = _next_event(atom, signals, tier, context), next_link_ageing(atom)
    next_look = min(event, loosens) if loosens is not None else event
    return AgeingState(
        revision=atom.revision + is_changed,
        tier=tier.value,
        next_check_at=max(next_look, now),
        retention=round(retention(atom, signals, now, context.retention_mode), 4),
        bits=choose_bits(retention(atom, signals, lived, context.retention_mode), bits),
        importance=round(effective_importance(atom, signals, now), 4),
        recency=round(2.0 ** (-days_since(atom.observed_at, now) / kind_traits(atom.kind).half_life_days), 4),
        state=lifecycle_state(atom, signals, now).value,
    )


def _current_signals(atom: Atom, counters: Counted, context: StepContext) -> AgeingSignals:
    """Return the signals of an atom that are known without reading the journal."""
    signals = from_counters(counters)
    if atom.status is Status.CHALLENGED:
        signals = replace(signals, is_disputed=True)
    if len({evidence.segment for evidence in atom.evidence}) > 1:
        signals = replace(signals, confirmations=count_confirmations(atom, context.store))
    if atom.derived_from:
        signals = replace(signals, trust=lineage_trust(atom, lambda ids: _read_atoms(ids, context)))
    return signals


def _read_atoms(ids: Iterable[AtomId], context: StepContext) -> dict[AtomId, Atom]:
    atoms = context.store.read(AtomFilter(scopes=readable_scopes(context.scope), ids=tuple(ids)))
    return {atom.id: atom for atom in atoms}


def _add_history(signals: AgeingSignals, versions: Sequence[AtomVersion]) -> AgeingSignals:
    """Add to signals what the journal knows: the last review, the last revision, and when a dream archived it."""
    reviewed = [version.at for version in versions[1:] if version.verb not in _MACHINE_VERBS]
    revised = [version.at for version in versions[1:] if version.fields & _REVISION_FIELDS]
    archivals = [version for version in versions if version.atom.status is Status.ARCHIVED is not version.old_status]
    archived_by_dream = archivals[-1] if archivals and archivals[-1].verb == "dream" else None
    return replace(
        signals,
        reviewed_at=max(reviewed, default=None),
        revised_at=max(revised, default=None),
        archived_at=archived_by_dream.at if archived_by_dream else None,
    )


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
    return max(REFRESH_AFTER, (now - recorded_at(atom)) / 2)
