"""Compute heat, how much a memory is in use, and decay, how far it has faded. Both are from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import log, log1p

from lamina.atom.atom import Atom
from lamina.lifecycle.ageing_time import days_since
from lamina.lifecycle.signals import NEUTRAL_RATE, AgeingSignals, Verification, changed_at, success_rate, verification

TIER_CONFIDENCE: Mapping[str, float] = {"explicit": 1.0, "implied": 0.8, "inferred": 0.6, "speculative": 0.35}
FULL_USE = 20
RECENT_DAYS = 90.0
OLD_DAYS, UNUSED_DAYS, NEVER_USED_DAYS = 180.0, 120.0, 365.0
MAX_CAUSAL = 0.3
DISPUTE_PENALTY = 0.2


@dataclass(frozen=True, slots=True)
class HeatInputs:
    """The inputs of heat, decay and tier value, each from 0 to 1; `causal` up to 0.3, `penalty` 0 or 0.2."""

    confidence: float
    access: float
    recency: float
    importance: float
    feedback: float
    causal: float
    penalty: float


def heat_inputs(atom: Atom, signals: AgeingSignals, now: datetime) -> HeatInputs:
    """Return the inputs from an atom, its signals and the time."""
    is_disputed = verification(atom, signals) is Verification.DISPUTED
    return HeatInputs(
        confidence=TIER_CONFIDENCE[atom.confidence_tier],
        access=min(1.0, log1p(signals.total_uses) / log(1 + FULL_USE)),
        recency=max(0.0, 1.0 - days_since(last_event_at(atom, signals), now) / RECENT_DAYS),
        importance=_clamp(atom.importance),
        feedback=feedback_score(signals),
        causal=min(MAX_CAUSAL, max(0.0, signals.causal)),
        penalty=DISPUTE_PENALTY if is_disputed else 0.0,
    )


def heat(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return how much an atom is in use."""
    values = heat_inputs(atom, signals, now)
    score = (
        0.25 * values.confidence
        + 0.30 * values.access
        + 0.20 * values.recency
        + 0.15 * values.importance
        + 0.10 * values.feedback
    )
    return _clamp(score + 0.05 * values.causal - values.penalty)


def decay(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return how far an atom has faded: by age, lack of use, low confidence and low heat."""
    values = heat_inputs(atom, signals, now)
    age = days_since(changed_at(atom, signals), now) / OLD_DAYS
    idle = (days_since(last_event_at(atom, signals), now) if signals.total_uses else NEVER_USED_DAYS) / UNUSED_DAYS
    return _clamp(
        0.30 * min(1.0, age)
        + 0.25 * min(1.0, idle)
        + 0.20 * (1.0 - values.confidence)
        + 0.10 * (1.0 - values.feedback)
        + 0.15 * (1.0 - heat(atom, signals, now))
    )


def feedback_score(signals: AgeingSignals) -> float:
    """Return what feedback on answers says; 0.5 without feedback."""
    quality = signals.quality - 1.0
    outcomes = success_rate(signals.successes, signals.failures) - NEUTRAL_RATE
    return _clamp((quality + outcomes + 1.0) / 2.0)


def last_event_at(atom: Atom, signals: AgeingSignals) -> datetime:
    """Return when it was last used; if never, when its text was last written."""
    return signals.last_use or changed_at(atom, signals)


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))
