"""How long a memory takes to fade by half: by who said it, how it got here and how durable its kind is."""

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
"""Layers in which nothing fades."""

DURABILITY: Mapping[Durability, float] = {Durability.CORE: inf, Durability.STANDARD: 1.0, Durability.EPHEMERAL: 0.25}


class Source(StrEnum):
    """How a memory got here, where that says more than the trust in its origin."""

    HUMAN = "human"
    EXTRACTED = "extracted"


SPEED: Mapping[Source, float] = {Source.HUMAN: 1.0, Source.EXTRACTED: 3.0}
"""How many times faster it fades; for every other source the formula of its trust says."""


def half_life_days(atom: Atom, signals: Signals) -> float:
    """The days in which it fades by half; infinite for what does not fade."""
    if lasts(atom):
        return inf
    return STANDARD_DAYS / speed(atom, signals) * DURABILITY[atom.durability]


def lasts(atom: Atom) -> bool:
    """Whether it has no half-life: by its layer, its durability or a pin."""
    return atom.pinned or atom.layer in LASTING or atom.durability is Durability.CORE


def speed(atom: Atom, signals: Signals) -> float:
    """How many times faster than a person's own word it fades."""
    source = source_of(atom, signals)
    return SPEED[source] if source else trust_speed(trust_in(atom, signals))


def trust_speed(trust: float) -> float:
    """How many times faster a word of this trust fades: once at full trust, three times at none."""
    return 1.0 + KAPPA * (1.0 - min(1.0, max(0.0, trust)))


def source_of(atom: Atom, signals: Signals) -> Source | None:
    """Whether it was drawn from words by rule or model, or is a person's own word."""
    if atom.evidence and not atom.is_segment:
        return Source.EXTRACTED
    return Source.HUMAN if trust_in(atom, signals) >= 1.0 else None
