"""Decide which memories are kept in fast storage. The thresholds are far apart, so that memories do not move to and
fro."""

from __future__ import annotations

from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.decision import Action, Decision, StorageTier, keep
from lamina.lifecycle.heat import inputs
from lamina.lifecycle.moment import Moment, days_since
from lamina.lifecycle.signals import Signals, changed
from lamina.lifecycle.verification import Verification, verification

COOL_AFTER_DAYS = 14.0
COOL_AT, WARM_AT = 0.35, 0.70
CORRECTION, CONFIRMED = 0.08, 0.05


def tier_value(atom: Atom, signals: Signals, now: datetime) -> float:
    """Return how much an atom is worth keeping in fast storage, from 0 to 1."""
    values = inputs(atom, signals, now)
    score = (
        0.24 * values.confidence
        + 0.26 * values.access
        + 0.20 * values.recency
        + 0.20 * values.importance
        + 0.10 * values.feedback
    )
    score += CORRECTION if atom.kind == "correction" else 0.0
    score += CONFIRMED if verification(atom, signals) is Verification.USER_CONFIRMED else 0.0
    return min(1.0, max(0.0, score - 0.5 * values.penalty))


def route(atom: Atom, signals: Signals, moment: Moment, tier: StorageTier) -> Decision:
    """Decide the tier of an atom, given its current tier."""
    if atom.pinned or atom.durability is Durability.CORE:
        return _to(StorageTier.HOT, tier, "pinned" if atom.pinned else "core")
    if atom.status is Status.ARCHIVED:
        return _to(StorageTier.COLD, tier, "archived")
    if atom.status not in RECALL_WEIGHT:
        return keep(f"{atom.status}: not in normal recall")
    value, age = tier_value(atom, signals, moment.lived), days_since(changed(atom, signals), moment.lived)
    if value >= WARM_AT:
        return _to(StorageTier.HOT, tier, f"value {value:.2f} ≥ {WARM_AT:.2f}")
    if value <= COOL_AT and age >= COOL_AFTER_DAYS:
        return _to(StorageTier.COLD, tier, f"value {value:.2f} ≤ {COOL_AT:.2f} after {age:.0f} days")
    return keep(f"value {value:.2f} does not change the tier")


def _to(wanted: StorageTier, tier: StorageTier, why: str) -> Decision:
    if wanted is tier:
        return keep(f"{tier} already: {why}")
    return Decision(action=Action.WARM if wanted is StorageTier.HOT else Action.COOL, why=why, tier=wanted)
