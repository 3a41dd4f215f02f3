"""Define forgetting curves: what is left after t half-lives. Each curve has one half left after one half-life.

Past its joint, huber is below l2, because a tangent is below a convex curve; power fades slowest. elastic is the flow
dw/dt = −λ₂w − λ₁: it reaches zero, later for strong memories than for weak ones.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p

LN2 = log(2)
HUBER_DELTA = 1.0
ELASTIC_A = 0.25
BLEND_RHO = 0.3
POWER_C = 0.5
USE_BONUS, MAX_USE_BONUS = 0.05, 0.3


def l2(t: float) -> float:
    """Return what is left if one half is lost in each half-life."""
    return float(2.0**-t)


def huber(t: float, delta: float = HUBER_DELTA) -> float:
    """Return l2 up to delta, then its tangent at delta, which reaches zero at delta + 1/ln 2."""
    return l2(t) if t <= delta else max(0.0, l2(delta) * (1.0 - LN2 * (t - delta)))


def elastic(t: float, strength: float = 1.0, a: float = ELASTIC_A) -> float:
    """Return what the flow leaves of a strength: it loses a share and a fixed amount, whose ratio is `a`."""
    if a <= 0.0:
        return strength * l2(t)
    return max(0.0, (strength + a) * exp(-elastic_rate(a) * t) - a)


def elastic_rate(a: float = ELASTIC_A) -> float:
    """Return the rate per half-life at which a strength of one falls to one half after one half-life."""
    return log((1.0 + a) / (0.5 + a))


def elastic_blend(t: float, rho: float = BLEND_RHO) -> float:
    """Return a mix of l2 and a straight line that reaches zero at two half-lives."""
    return rho * max(0.0, 1.0 - t / 2.0) + (1.0 - rho) * l2(t)


def power(t: float, c: float = POWER_C) -> float:
    """Return a power law: fast at first, then slow; it approaches l2 for large c."""
    return exp(-c * log1p(expm1(LN2 / c) * t))


def add_use_bonus(retention: float, uses: int) -> float:
    """Return the retention raised by uses, by 0.3 at most."""
    return min(1.0, retention + min(MAX_USE_BONUS, USE_BONUS * log1p(max(0, uses))))
