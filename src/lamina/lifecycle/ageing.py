"""Combine all decisions about one atom's ageing, in order. A second run at the same time changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from lamina.atom.atom import Atom
from lamina.lifecycle.archival import archival
from lamina.lifecycle.decision import Action, Decision, StorageTier
from lamina.lifecycle.expiry import expiry
from lamina.lifecycle.moment import Moment
from lamina.lifecycle.promotion import promotion
from lamina.lifecycle.retention import DEFAULT, Mode
from lamina.lifecycle.signals import Signals
from lamina.lifecycle.storage_tier import route

Step: TypeAlias = Callable[[Atom, Signals, Moment], Decision]


def age(
    atom: Atom, signals: Signals, moment: Moment, tier: StorageTier = StorageTier.HOT, mode: Mode = DEFAULT
) -> tuple[Decision, ...]:
    """Return what should happen to an atom: expire, else archive or revive; then promote; then move between tiers."""
    decisions = list[Decision]()
    steps: tuple[Step, ...] = (expiry, partial(archival, mode=mode), promotion)
    for decide in steps:
        decision = decide(atom, signals, moment)
        if decision:
            decisions.append(decision)
            atom, signals = decision.applied(atom), noted(signals, decision, moment)
    tier_decision = route(atom, signals, moment, tier)
    return (*decisions, tier_decision) if tier_decision else tuple(decisions)


def noted(signals: Signals, decision: Decision, moment: Moment) -> Signals:
    """Return the signals after a decision: set or clear the time at which maintenance archived the atom."""
    match decision.action:
        case Action.ARCHIVE:
            return replace(signals, archived_at=moment.now)
        case Action.REVIVE:
            return replace(signals, archived_at=None)
        case _:
            return signals
