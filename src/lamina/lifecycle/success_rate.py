"""Estimate how often the answers made with a memory were good."""

from __future__ import annotations

from math import inf, isfinite

NEUTRAL_RATE = 0.5


def success_rate(successes: float, failures: float, *, days: float = 0.0, half_life_days: float = inf) -> float:
    """Return the probability of a good answer, 0.5 without feedback; old outcomes can count less."""
    if not (isfinite(successes) and isfinite(failures)) or min(successes, failures) < 0.0:
        return NEUTRAL_RATE
    share = float(2.0 ** (-max(0.0, days) / half_life_days))
    good, bad = successes * share, failures * share
    return (good + 1.0) / (good + bad + 2.0)
