"""Compute the ACT-R base level: how available a memory is, from the times of its uses. Recent and frequent uses add up.

Ages are in days. The last ten use times, the number of uses and the first use are enough: the uses between are assumed
to be spread evenly (Petrov 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import exp, fsum, inf, log

from lamina.atom.atom import Atom
from lamina.lifecycle.moment import days_since
from lamina.lifecycle.signals import Signals, recorded

DECAY = 0.5
YOUNGEST = 1.0 / 86_400
"""One second, the smallest age of a use."""
NOISE = 0.4
THRESHOLD = -DECAY * log(7.0)
"""The base level of one use a week ago, at which the recall probability is one half."""


def exact(ages: Sequence[float], decay: float = DECAY) -> float:
    """Return the base level if every use is known."""
    return _log(_sum(ages, decay))


def standard(count: int, life: float, decay: float = DECAY) -> float:
    """Return the approximate base level from only the number of uses and the length of the lifetime."""
    return log(count / (1.0 - decay)) - decay * log(max(life, YOUNGEST))


def hybrid(recent: Sequence[float], count: int, oldest: float, decay: float = DECAY) -> float:
    """Return the base level from the latest uses, the number of all uses, and the age of the first."""
    known, missing = sorted(max(age, YOUNGEST) for age in recent), count - len(recent)
    if missing <= 0:
        return exact(known, decay)
    return _log(_sum(known, decay) + missing * _spread(known[-1] if known else 0.0, oldest, decay))


def probability(level: float, threshold: float = THRESHOLD, noise: float = NOISE) -> float:
    """Return the probability that a memory with this base level is recalled."""
    exponent = (threshold - level) / noise
    return 0.0 if exponent > 700.0 else 1.0 / (1.0 + exp(exponent))


def base_level(atom: Atom, signals: Signals, now: datetime) -> float:
    """Return an atom's base level; minus infinity if it was never used."""
    ages = [days_since(use, now) for use in signals.uses]
    oldest = days_since(signals.first_use or recorded(atom), now)
    return hybrid(ages, signals.many, oldest)


def activation(atom: Atom, signals: Signals, now: datetime) -> float:
    """Return how available an atom is, from 0 to 1: 0.5 for one use a week ago, 0 if never used."""
    return probability(base_level(atom, signals, now))


def _sum(ages: Sequence[float], decay: float) -> float:
    return fsum(max(age, YOUNGEST) ** -decay for age in ages)


def _spread(youngest: float, oldest: float, decay: float) -> float:
    """Return the mean contribution of uses spread evenly between two ages; of one age if they are equal."""
    if oldest <= youngest or oldest <= YOUNGEST:
        return float(max(youngest, oldest, YOUNGEST) ** -decay)
    integral = oldest ** (1.0 - decay) - youngest ** (1.0 - decay)
    return float(integral / ((1.0 - decay) * (oldest - youngest)))


def _log(total: float) -> float:
    return log(total) if total > 0.0 else -inf
