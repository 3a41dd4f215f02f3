"""ACT-R base level: how ready a memory is, from when it was used. Recent and frequent uses add up.

Ages are in days. Ten use times, their number and the first are enough: what lies between counts as evenly spread
(Petrov 2006).
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
"""A second: a use has to be over before it can be remembered."""
NOISE = 0.4
THRESHOLD = -DECAY * log(7.0)
"""The base level of one use a week ago, at which a memory is as ready as not."""


def exact(ages: Sequence[float], decay: float = DECAY) -> float:
    """The base level where every use is known."""
    return _log(_sum(ages, decay))


def standard(count: int, life: float, decay: float = DECAY) -> float:
    """The approximation that only knows how many uses there were in how long a life."""
    return log(count / (1.0 - decay)) - decay * log(max(life, YOUNGEST))


def hybrid(recent: Sequence[float], count: int, oldest: float, decay: float = DECAY) -> float:
    """The base level from the latest uses, how many there were in all, and how long ago the first was."""
    known, missing = sorted(max(each, YOUNGEST) for each in recent), count - len(recent)
    if missing <= 0:
        return exact(known, decay)
    return _log(_sum(known, decay) + missing * _spread(known[-1] if known else 0.0, oldest, decay))


def probability(level: float, threshold: float = THRESHOLD, noise: float = NOISE) -> float:
    """How likely a memory of this base level comes to mind."""
    lift = (threshold - level) / noise
    return 0.0 if lift > 700.0 else 1.0 / (1.0 + exp(lift))


def base_level(atom: Atom, signals: Signals, now: datetime) -> float:
    """An atom's base level; minus infinity where it was never used."""
    ages = [days_since(use, now) for use in signals.uses]
    oldest = days_since(signals.first_use or recorded(atom), now)
    return hybrid(ages, signals.many, oldest)


def activation(atom: Atom, signals: Signals, now: datetime) -> float:
    """How ready an atom is, from 0 to 1: a half for one use a week ago, nothing for one never used."""
    return probability(base_level(atom, signals, now))


def _sum(ages: Sequence[float], decay: float) -> float:
    return fsum(max(age, YOUNGEST) ** -decay for age in ages)


def _spread(youngest: float, oldest: float, decay: float) -> float:
    """The mean share of uses spread evenly between two ages; of one age where there is nothing between."""
    if oldest <= youngest or oldest <= YOUNGEST:
        return float(max(youngest, oldest, YOUNGEST) ** -decay)
    grown = oldest ** (1.0 - decay) - youngest ** (1.0 - decay)
    return float(grown / ((1.0 - decay) * (oldest - youngest)))


def _log(total: float) -> float:
    return log(total) if total > 0.0 else -inf
