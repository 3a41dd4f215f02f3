"""Heat and decay: how much a memory is in use, and how far it has faded from it. Both from 0 to 1."""

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
    """What heat, decay and tier value weigh, each from 0 to 1; `causal` to .3, `penalty` 0 or .2."""

    confidence: float
    access: float
    recency: float
    importance: float
    feedback: float
    causal: float
    penalty: float


def inputs(atom: Atom, signals: Signals, now: datetime) -> Inputs:
    """What an atom, its signals and the clock give."""
    disputed = verification(atom, signals) is Verification.DISPUTED
    return Inputs(
        confidence=TIER_CONFIDENCE[atom.confidence_tier],
        access=min(1.0, log1p(signals.many) / log(1 + FULL_USE)),
        recency=max(0.0, 1.0 - days_since(last_event(atom, signals), now) / RECENT_DAYS),
        importance=_unit(atom.importance),
        feedback=feedback(signals),
        causal=min(MOST_CAUSAL, max(0.0, signals.causal)),
        penalty=DISPUTED if disputed else 0.0,
    )


def heat(atom: Atom, signals: Signals, now: datetime) -> float:
    """How much it is in use."""
    of = inputs(atom, signals, now)
    told = 0.25 * of.confidence + 0.30 * of.access + 0.20 * of.recency + 0.15 * of.importance + 0.10 * of.feedback
    return _unit(told + 0.05 * of.causal - of.penalty)


def decay(atom: Atom, signals: Signals, now: datetime) -> float:
    """How far it has faded: by age, by lack of use, by doubt and for want of heat."""
    of = inputs(atom, signals, now)
    age = days_since(changed(atom, signals), now) / OLD_DAYS
    idle = (days_since(last_event(atom, signals), now) if signals.many else NEVER_USED_DAYS) / UNUSED_DAYS
    return _unit(
        0.30 * min(1.0, age)
        + 0.25 * min(1.0, idle)
        + 0.20 * (1.0 - of.confidence)
        + 0.10 * (1.0 - of.feedback)
        + 0.15 * (1.0 - heat(atom, signals, now))
    )


def feedback(signals: Signals) -> float:
    """What answers have taught: a half where they taught nothing."""
    verdicts = signals.quality - 1.0
    outcomes = worth(signals.successes, signals.failures) - NEUTRAL
    return _unit((verdicts + outcomes + 1.0) / 2.0)


def last_event(atom: Atom, signals: Signals) -> datetime:
    """When it was last used; for one never used, when its text was last written."""
    return signals.last_use or changed(atom, signals)


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
