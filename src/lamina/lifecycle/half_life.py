"""Compute the half-life of a memory from its trust, its source and the durability of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from math import inf

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, Layer
from lamina.lifecycle.signals import Signals, trust_in

STANDARD_DAYS = 30.0
KAPPA = 2.0

LASTING = frozenset({Layer.SEMANTIC, Layer.PROCEDURAL, Layer.PROFILE, Layer.CODEBASE})
"""Layers in which memories do not fade."""

DURABILITY: Mapping[Durability, float] = {Durability.CORE: inf, Durability.STANDARD: 1.0, Durability.EPHEMERAL: 0.25}


class Source(StrEnum):
    """Where a memory came from, if that says more than the trust in its origin."""

    HUMAN = "human"
    EXTRACTED = "extracted"


SPEED: Mapping[Source, float] = {Source.HUMAN: 1.0, Source.EXTRACTED: 3.0}
"""How many times faster a memory from the source fades; other sources are computed from their trust."""


def half_life_days(atom: Atom, signals: Signals) -> float:
    """Return the half-life in days; infinite for memories that do not fade."""
    if lasts(atom):
        return inf
    return STANDARD_DAYS / speed(atom, signals) * DURABILITY[atom.durability]


def lasts(atom: Atom) -> bool:
    """Return whether it has no half-life: because of its layer, its durability or a pin."""
    return atom.pinned or atom.layer in LASTING or atom.durability is Durability.CORE


def speed(atom: Atom, signals: Signals) -> float:
    """Return how many times faster it fades than a person's own statement."""
    source = source_of(atom, signals)
    return SPEED[source] if source else trust_speed(trust_in(atom, signals))


def trust_speed(trust: float) -> float:
    """Return how many times faster a statement of this trust fades: once at full trust, three times at none."""
    return 1.0 + KAPPA * (1.0 - min(1.0, max(0.0, trust)))


def source_of(atom: Atom, signals: Signals) -> Source | None:
    """Return whether it was extracted from text or stated by a person; None if neither."""
    if atom.evidence and not atom.is_segment:
        return Source.EXTRACTED
    return Source.HUMAN if trust_in(atom, signals) >= 1.0 else None
