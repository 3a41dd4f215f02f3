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
from lamina.lifecycle.ageing_time import days_since
from lamina.lifecycle.base_level import activation
from lamina.lifecycle.signals import AgeingSignals, effective_trust, last_touched_at

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
