"""Memory worth: how often what was made with a memory came out well."""

from __future__ import annotations

from math import inf, isfinite

NEUTRAL = 0.5


def worth(successes: float, failures: float, *, days: float = 0.0, half_life_days: float = inf) -> float:
    """The chance that it serves well, one half where nothing is known; old outcomes may count less with the days."""
    if not (isfinite(successes) and isfinite(failures)) or min(successes, failures) < 0.0:
        return NEUTRAL
    left = float(2.0 ** (-max(0.0, days) / half_life_days))
    good, bad = successes * left, failures * left
    return (good + 1.0) / (good + bad + 2.0)
