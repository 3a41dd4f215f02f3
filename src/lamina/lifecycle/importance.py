"""Compute effective importance, the weighted sum of nine factors from 0 to 1. It is computed when read and never
stored.

The atom's own importance is one factor and does not change. If the sum were written back, every run would build on the
one before, and all memories would sink to the same level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp, fsum, inf, log, log1p

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.lifecycle.ageing_time import days_since
from lamina.lifecycle.signals import AgeingSignals, effective_trust, last_touched_at, recorded_at

DECAY = 0.5
MIN_AGE_DAYS = 1.0 / 86_400
"""One second, the smallest age of a use."""
NOISE = 0.4
THRESHOLD = -DECAY * log(7.0)
"""The base level of one use a week ago, at which the recall probability is one half."""


def exact_base_level(ages: Sequence[float]) -> float:
    """Return the base level if every use is known."""
    return _log_or_minus_infinity(_sum(ages))


def hybrid_base_level(recent: Sequence[float], count: int, oldest: float) -> float:
    """Return the base level from the latest uses, the number of all uses, and the age of the first."""
    known, missing = sorted(max(age, MIN_AGE_DAYS) for age in recent), count - len(recent)
    if missing <= 0:
        return exact_base_level(known)
    mean = _mean_contribution(known[-1] if known else 0.0, oldest)
    return _log_or_minus_infinity(_sum(known) + missing * mean)


def recall_probability(level: float) -> float:
    """Return the probability that a memory with this base level is recalled."""
    exponent = (THRESHOLD - level) / NOISE
    return 0.0 if exponent > 700.0 else 1.0 / (1.0 + exp(exponent))


def base_level(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return an atom's base level; minus infinity if it was never used."""
    ages = [days_since(use, now) for use in signals.uses]
    oldest = days_since(signals.first_use or recorded_at(atom), now)
    return hybrid_base_level(ages, signals.total_uses, oldest)


def activation(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return how available an atom is, from 0 to 1: 0.5 for one use a week ago, 0 if never used."""
    return recall_probability(base_level(atom, signals, now))


def _sum(ages: Sequence[float]) -> float:
    return fsum(max(age, MIN_AGE_DAYS) ** -DECAY for age in ages)


def _mean_contribution(youngest: float, oldest: float) -> float:
    """Return the mean contribution of uses spread evenly between two ages; of one age if they are equal."""
    if oldest <= youngest or oldest <= MIN_AGE_DAYS:
        return float(max(youngest, oldest, MIN_AGE_DAYS) ** -DECAY)
    integral = oldest ** (1.0 - DECAY) - youngest ** (1.0 - DECAY)
    return float(integral / ((1.0 - DECAY) * (oldest - youngest)))


def _log_or_minus_infinity(total: float) -> float:
    return log(total) if total > 0.0 else -inf


RECENCY_DAYS = 30.0
FULL_USE, FULL_CONFIRMATION = 10, 5
"""The number of uses, and of independent confirmations, that gives the full score."""

WEIGHTS: Mapping[str, float] = {
    "base": 0.25,
    "access": 0.12,
    "recency": 0.12,
    "emotion": 0.05,
    "stability": 0.08,
    "layer": 0.10,
    "trust": 0.08,
    "confirmations": 0.06,
    "activation": 0.14,
}
LAYER_SCORES: Mapping[Layer, float] = {
    Layer.WORKING: 0.3,
    Layer.EPISODIC: 0.7,
    Layer.CODEBASE: 0.8,
    Layer.SEMANTIC: 1.0,
    Layer.PROCEDURAL: 1.0,
    Layer.PROFILE: 1.0,
}


@dataclass(frozen=True, slots=True)
class ImportanceFactor:
    """One reason why an atom matters: its value from 0 to 1, and its weight."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """Return what the factor adds to the score."""
        return self.value * self.weight


def effective_importance(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return how much an atom matters at a time, from 0 to 1."""
    return min(1.0, fsum(factor.contribution for factor in importance_factors(atom, signals, now)))


def importance_factors(atom: Atom, signals: AgeingSignals, now: datetime) -> tuple[ImportanceFactor, ...]:
    """Return the nine factors, whose contributions add up to the effective importance."""
    values = {
        "base": atom.importance,
        "access": log1p(signals.total_uses) / log1p(FULL_USE),
        "recency": 2.0 ** (-days_since(last_touched_at(atom, signals), now) / RECENCY_DAYS),
        "emotion": abs(atom.valence),
        "stability": signals.total_use_days / (signals.total_use_days + 1),
        "layer": LAYER_SCORES[atom.layer],
        "trust": effective_trust(atom, signals),
        "confirmations": log1p(max(0, signals.confirmations)) / log(1 + FULL_CONFIRMATION),
        "activation": activation(atom, signals, now),
    }
    return tuple(ImportanceFactor(name, min(1.0, max(0.0, values[name])), weight) for name, weight in WEIGHTS.items())
