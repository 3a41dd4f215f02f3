"""Compute effective importance, the weighted sum of nine factors from 0 to 1. It is computed when read and never
stored.

The atom's own importance is one factor and does not change. If the sum were written back, every run would build on the
one before, and all memories would sink to the same level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from math import fsum, log, log1p

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.lifecycle.base_level import activation
from lamina.lifecycle.moment import days_since
from lamina.lifecycle.signals import Signals, last_touch, trust_in

RECENCY_DAYS = 30.0
FULL_USE, FULL_CONFIRMATION = 10, 5
"""The number of uses, and of independent confirmations, that gives the full score."""

WEIGHTS: Mapping[str, float] = {
    "base": 0.25,
    "access": 0.12,
    "recency": 0.12,
    "emotion": 0.05,
    "stability": 0.08,
    "layer": 0.12,
    "trust": 0.10,
    "confirmations": 0.06,
    "activation": 0.10,
}
LAYERS: Mapping[Layer, float] = {
    Layer.WORKING: 0.3,
    Layer.EPISODIC: 0.7,
    Layer.CODEBASE: 0.8,
    Layer.SEMANTIC: 1.0,
    Layer.PROCEDURAL: 1.0,
    Layer.PROFILE: 1.0,
}


@dataclass(frozen=True, slots=True)
class Factor:
    """One reason why an atom matters: its value from 0 to 1, and its weight."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """Return what the factor adds to the score."""
        return self.value * self.weight


def effective_importance(atom: Atom, signals: Signals, now: datetime) -> float:
    """Return how much an atom matters at a time, from 0 to 1."""
    return min(1.0, fsum(factor.contribution for factor in explain(atom, signals, now)))


def explain(atom: Atom, signals: Signals, now: datetime) -> tuple[Factor, ...]:
    """Return the nine factors, whose contributions add up to the effective importance."""
    values = {
        "base": atom.importance,
        "access": log1p(signals.many) / log1p(FULL_USE),
        "recency": 2.0 ** (-days_since(last_touch(atom, signals), now) / RECENCY_DAYS),
        "emotion": abs(atom.valence),
        "stability": signals.days / (signals.days + 1),
        "layer": LAYERS[atom.layer],
        "trust": trust_in(atom, signals),
        "confirmations": log1p(max(0, signals.confirmations)) / log(1 + FULL_CONFIRMATION),
        "activation": activation(atom, signals, now),
    }
    return tuple(Factor(name, min(1.0, max(0.0, values[name])), weight) for name, weight in WEIGHTS.items())
