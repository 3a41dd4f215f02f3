"""Forgetting curves: what is left after t half-lives. Every one of them has half left after one half-life.

huber lies below l2 past its joint, for a tangent lies below a convex curve; power is the gentle one. elastic is the
flow dw/dt = −λ₂w − λ₁: it reaches zero, later for the strong than for the weak.
"""

from __future__ import annotations

from math import exp, expm1, log, log1p

LN2 = log(2)
HUBER_DELTA = 1.0
ELASTIC_A = 0.25
BLEND_RHO = 0.3
POWER_C = 0.5
REINFORCE, REINFORCE_MOST = 0.05, 0.3


def l2(t: float) -> float:
    """Half of what is left goes with every half-life."""
    return float(2.0**-t)


def huber(t: float, delta: float = HUBER_DELTA) -> float:
    """As l2 up to delta, then along its tangent there, to zero at delta + 1/ln 2."""
    return l2(t) if t <= delta else max(0.0, l2(delta) * (1.0 - LN2 * (t - delta)))


def elastic(t: float, strength: float = 1.0, a: float = ELASTIC_A) -> float:
    """What the flow leaves of a strength: shrunk in proportion and by a fixed amount, `a` being their ratio."""
    if a <= 0.0:
        return strength * l2(t)
    return max(0.0, (strength + a) * exp(-elastic_rate(a) * t) - a)


def elastic_rate(a: float = ELASTIC_A) -> float:
    """The rate per half-life at which a strength of one is half gone after one half-life."""
    return log((1.0 + a) / (0.5 + a))


def elastic_end(strength: float = 1.0, a: float = ELASTIC_A) -> float:
    """After how many half-lives nothing is left of a strength."""
    return log1p(strength / a) / elastic_rate(a)


def elastic_blend(t: float, rho: float = BLEND_RHO) -> float:
    """A straight line to zero at two half-lives, mixed with l2."""
    return rho * max(0.0, 1.0 - t / 2.0) + (1.0 - rho) * l2(t)


def power(t: float, c: float = POWER_C) -> float:
    """A power law: fast at first, slow for what has lasted; l2 where c grows without bound."""
    return exp(-c * log1p(expm1(LN2 / c) * t))


def reinforced(retention: float, uses: int) -> float:
    """Retention lifted by use, by three tenths at most."""
    return min(1.0, retention + min(REINFORCE_MOST, REINFORCE * log1p(max(0, uses))))
