"""Compute heat, how much a memory is in use, and decay, how far it has faded. Both are from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import log, log1p

from lamina.atom.atom import Atom
from lamina.lifecycle.moment import days_since
from lamina.lifecycle.signals import Signals, changed
from lamina.lifecycle.verification import Verification, verification
from lamina.lifecycle.worth import NEUTRAL, worth

TIER_CONFIDENCE: Mapping[str, float] = {"explicit": 1.0, "implied": 0.8, "inferred": 0.6, "speculative": 0.35}
FULL_USE = 20
RECENT_DAYS = 90.0
OLD_DAYS, UNUSED_DAYS, NEVER_USED_DAYS = 180.0, 120.0, 365.0
MOST_CAUSAL = 0.3
DISPUTED = 0.2


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of heat, decay and tier value, each from 0 to 1; `causal` up to 0.3, `penalty` 0 or 0.2."""

    confidence: float
    access: float
    recency: float
    importance: float
    feedback: float
    causal: float
    penalty: float


def inputs(atom: Atom, signals: Signals, now: datetime) -> Inputs:
    """Return the inputs from an atom, its signals and the time."""
    is_disputed = verification(atom, signals) is Verification.DISPUTED
    return Inputs(
        confidence=TIER_CONFIDENCE[atom.confidence_tier],
        access=min(1.0, log1p(signals.many) / log(1 + FULL_USE)),
        recency=max(0.0, 1.0 - days_since(last_event(atom, signals), now) / RECENT_DAYS),
        importance=_unit(atom.importance),
        feedback=feedback(signals),
        causal=min(MOST_CAUSAL, max(0.0, signals.causal)),
        penalty=DISPUTED if is_disputed else 0.0,
    )


def heat(atom: Atom, signals: Signals, now: datetime) -> float:
    """Return how much an atom is in use."""
    values = inputs(atom, signals, now)
    score = (
        0.25 * values.confidence
        + 0.30 * values.access
        + 0.20 * values.recency
        + 0.15 * values.importance
        + 0.10 * values.feedback
    )
    return _unit(score + 0.05 * values.causal - values.penalty)


def decay(atom: Atom, signals: Signals, now: datetime) -> float:
    """Return how far an atom has faded: by age, lack of use, low confidence and low heat."""
    values = inputs(atom, signals, now)
    age = days_since(changed(atom, signals), now) / OLD_DAYS
    idle = (days_since(last_event(atom, signals), now) if signals.many else NEVER_USED_DAYS) / UNUSED_DAYS
    return _unit(
        0.30 * min(1.0, age)
        + 0.25 * min(1.0, idle)
        + 0.20 * (1.0 - values.confidence)
        + 0.10 * (1.0 - values.feedback)
        + 0.15 * (1.0 - heat(atom, signals, now))
    )


def feedback(signals: Signals) -> float:
    """Return what feedback on answers says; 0.5 without feedback."""
    quality = signals.quality - 1.0
    outcomes = worth(signals.successes, signals.failures) - NEUTRAL
    return _unit((quality + outcomes + 1.0) / 2.0)


def last_event(atom: Atom, signals: Signals) -> datetime:
    """Return when it was last used; if never, when its text was last written."""
    return signals.last_use or changed(atom, signals)


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
