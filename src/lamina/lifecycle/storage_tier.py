"""Decide which memories are kept in fast storage. The thresholds are far apart, so that memories do not move to and
fro."""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.ageing_time import AgeingTime, days_since
from lamina.lifecycle.decision import AgeingAction, AgeingDecision, StorageTier, keep_unchanged
from lamina.lifecycle.heat import heat_inputs
from lamina.lifecycle.signals import AgeingSignals, changed_at
from lamina.lifecycle.verification import Verification, verification

COOL_AFTER_DAYS = 14.0
COOL_THRESHOLD, WARM_THRESHOLD = 0.35, 0.70
CORRECTION_BONUS, CONFIRMED_BONUS = 0.08, 0.05


def tier_value(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return how much an atom is worth keeping in fast storage, from 0 to 1."""
    values = heat_inputs(atom, signals, now)
    score = (
        0.24 * values.confidence
        + 0.26 * values.access
        + 0.20 * values.recency
        + 0.20 * values.importance
        + 0.10 * values.feedback
    )
    score += CORRECTION_BONUS if atom.kind == "correction" else 0.0
    score += CONFIRMED_BONUS if verification(atom, signals) is Verification.USER_CONFIRMED else 0.0
    return min(1.0, max(0.0, score - 0.5 * values.penalty))


def decide_tier(atom: Atom, signals: AgeingSignals, moment: AgeingTime, tier: StorageTier) -> AgeingDecision:
    """Decide the tier of an atom, given its current tier."""
    if atom.pinned or atom.durability is Durability.CORE:
        return _move_to(StorageTier.HOT, tier, "pinned" if atom.pinned else "core")
    if atom.status is Status.ARCHIVED:
        return _move_to(StorageTier.COLD, tier, "archived")
    if atom.status not in RECALL_WEIGHT:
        return keep_unchanged(f"{atom.status}: not in normal recall")
    value, age = tier_value(atom, signals, moment.active_now), days_since(changed_at(atom, signals), moment.active_now)
    if value >= WARM_THRESHOLD:
        return _move_to(StorageTier.HOT, tier, f"value {value:.2f} ≥ {WARM_THRESHOLD:.2f}")
    if value <= COOL_THRESHOLD and age >= COOL_AFTER_DAYS:
        return _move_to(StorageTier.COLD, tier, f"value {value:.2f} ≤ {COOL_THRESHOLD:.2f} after {age:.0f} days")
    return keep_unchanged(f"value {value:.2f} does not change the tier")


def _move_to(target: StorageTier, tier: StorageTier, why: str) -> AgeingDecision:
    if target is tier:
        return keep_unchanged(f"{tier} already: {why}")
    return AgeingDecision(
        action=AgeingAction.WARM if target is StorageTier.HOT else AgeingAction.COOL, reason=why, tier=target
    )
