"""Combine all decisions about one atom's ageing, in order. A second run at the same time changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from lamina.atom.atom import Atom
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.archival import decide_archival
from lamina.lifecycle.decision import AgeingAction, AgeingDecision, StorageTier
from lamina.lifecycle.expiry import decide_expiry
from lamina.lifecycle.promotion import decide_promotion
from lamina.lifecycle.retention import DEFAULT_MODE, RetentionMode
from lamina.lifecycle.signals import AgeingSignals
from lamina.lifecycle.storage_tier import decide_tier

AgeingStep: TypeAlias = Callable[[Atom, AgeingSignals, AgeingTime], AgeingDecision]


def decide_ageing(
    atom: Atom,
    signals: AgeingSignals,
    moment: AgeingTime,
    tier: StorageTier = StorageTier.HOT,
    mode: RetentionMode = DEFAULT_MODE,
) -> tuple[AgeingDecision, ...]:
    """Return what should happen to an atom: expire, else archive or revive; then promote; then move between tiers."""
    decisions = list[AgeingDecision]()
    steps: tuple[AgeingStep, ...] = (decide_expiry, partial(decide_archival, mode=mode), decide_promotion)
    for decide in steps:
        decision = decide(atom, signals, moment)
        if decision:
            decisions.append(decision)
            atom, signals = decision.apply_to(atom), update_signals(signals, decision, moment)
    tier_decision = decide_tier(atom, signals, moment, tier)
    return (*decisions, tier_decision) if tier_decision else tuple(decisions)


def update_signals(signals: AgeingSignals, decision: AgeingDecision, moment: AgeingTime) -> AgeingSignals:
    """Return the signals after a decision: set or clear the time at which maintenance archived the atom."""
    match decision.action:
        case AgeingAction.ARCHIVE:
            return replace(signals, archived_at=moment.now)
        case AgeingAction.REVIVE:
            return replace(signals, archived_at=None)
        case _:
            return signals
