"""Compute the half-life of a memory from its trust, its source and the durability of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import inf

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, Layer
from lamina.lifecycle.signals import AgeingSignals, effective_trust

STANDARD_DAYS = 30.0
KAPPA = 2.0

PERMANENT_LAYERS = frozenset({Layer.SEMANTIC, Layer.PROCEDURAL, Layer.PROFILE, Layer.CODEBASE})
"""Layers in which memories do not fade."""

DURABILITY_FACTOR: Mapping[Durability, float] = {
    Durability.CORE: inf,
    Durability.STANDARD: 1.0,
    Durability.EPHEMERAL: 0.25,
}


class FadingSource(StrEnum):
    """A source of a memory, if that says more than the trust in its origin."""

    HUMAN = "human"
    EXTRACTED = "extracted"


FADING_SPEED: Mapping[FadingSource, float] = {FadingSource.HUMAN: 1.0, FadingSource.EXTRACTED: 3.0}
"""How many times faster a memory from the source fades; other sources are computed from their trust."""


def half_life_days(atom: Atom, signals: AgeingSignals) -> float:
    """Return the half-life in days; infinite for memories that do not fade."""
    if is_permanent(atom):
        return inf
    return STANDARD_DAYS / fading_speed(atom, signals) * DURABILITY_FACTOR[atom.durability]


def is_permanent(atom: Atom) -> bool:
    """Return whether it has no half-life: because of its layer, its durability or a pin."""
    return atom.pinned or atom.layer in PERMANENT_LAYERS or atom.durability is Durability.CORE


def fading_speed(atom: Atom, signals: AgeingSignals) -> float:
    """Return how many times faster it fades than a person's own statement."""
    source = fading_source_of(atom, signals)
    return FADING_SPEED[source] if source else fading_speed_by_trust(effective_trust(atom, signals))


def fading_speed_by_trust(trust: float) -> float:
    """Return how many times faster a statement of this trust fades: once at full trust, three times at none."""
    return 1.0 + KAPPA * (1.0 - min(1.0, max(0.0, trust)))


def fading_source_of(atom: Atom, signals: AgeingSignals) -> FadingSource | None:
    """Return whether it was extracted from text or stated by a person; None if neither."""
    if atom.evidence and not atom.is_segment:
        return FadingSource.EXTRACTED
    return FadingSource.HUMAN if effective_trust(atom, signals) >= 1.0 else None
