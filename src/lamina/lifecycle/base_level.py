"""Compute the ACT-R base level: how available a memory is, from the times of its uses. Recent and frequent uses add up.

Ages are in days. The last ten use times, the number of uses and the first use are enough: the uses between are assumed
to be spread evenly (Petrov 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import exp, fsum, inf, log

from lamina.atom.atom import Atom
from lamina.lifecycle.ageing_time import days_since
from lamina.lifecycle.signals import AgeingSignals, recorded_at

DECAY = 0.5
MIN_AGE_DAYS = 1.0 / 86_400
"""One second, the smallest age of a use."""
NOISE = 0.4
THRESHOLD = -DECAY * log(7.0)
"""The base level of one use a week ago, at which the recall probability is one half."""


def exact_base_level(ages: Sequence[float], decay: float = DECAY) -> float:
    """Return the base level if every use is known."""
    return _log_or_minus_infinity(_sum(ages, decay))


def approximate_base_level(count: int, lifetime: float, decay: float = DECAY) -> float:
    """Return the approximate base level from only the number of uses and the length of the lifetime."""
    return log(count / (1.0 - decay)) - decay * log(max(lifetime, MIN_AGE_DAYS))


def hybrid_base_level(recent: Sequence[float], count: int, oldest: float, decay: float = DECAY) -> float:
    """Return the base level from the latest uses, the number of all uses, and the age of the first."""
    known, missing = sorted(max(age, MIN_AGE_DAYS) for age in recent), count - len(recent)
    if missing <= 0:
        return exact_base_level(known, decay)
    return _log_or_minus_infinity(
        _sum(known, decay) + missing * _mean_contribution(known[-1] if known else 0.0, oldest, decay)
    )


def recall_probability(level: float, threshold: float = THRESHOLD, noise: float = NOISE) -> float:
    """Return the probability that a memory with this base level is recalled."""
    exponent = (threshold - level) / noise
    return 0.0 if exponent > 700.0 else 1.0 / (1.0 + exp(exponent))


def base_level(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return an atom's base level; minus infinity if it was never used."""
    ages = [days_since(use, now) for use in signals.uses]
    oldest = days_since(signals.first_use or recorded_at(atom), now)
    return hybrid_base_level(ages, signals.total_uses, oldest)


def activation(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return how available an atom is, from 0 to 1: 0.5 for one use a week ago, 0 if never used."""
    return recall_probability(base_level(atom, signals, now))


def _sum(ages: Sequence[float], decay: float) -> float:
    return fsum(max(age, MIN_AGE_DAYS) ** -decay for age in ages)


def _mean_contribution(youngest: float, oldest: float, decay: float) -> float:
    """Return the mean contribution of uses spread evenly between two ages; of one age if they are equal."""
    if oldest <= youngest or oldest <= MIN_AGE_DAYS:
        return float(max(youngest, oldest, MIN_AGE_DAYS) ** -decay)
    integral = oldest ** (1.0 - decay) - youngest ** (1.0 - decay)
    return float(integral / ((1.0 - decay) * (oldest - youngest)))


def _log_or_minus_infinity(total: float) -> float:
    return log(total) if total > 0.0 else -inf
