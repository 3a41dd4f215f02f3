"""What multiplies a relevance: how an atom stands, where it lives, who said it and what use has taught."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod

from lamina.atom.atom import Signals
from lamina.atom.kinds import Layer
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import Origin, statements_wait, trust_of
from lamina.store.encodings import Near

LEAST, MOST = 0.5, 1.5
SHELF, DISPUTED = 0.9, 0.88
"""For what normal recall does not search and was asked for."""
VOUCHED, UNVOUCHED = 0.9, 0.75
"""What would be left of a word with no trust at all, where somebody vouches for it and where nobody does."""
LAYERS: Mapping[Layer, float] = {
    Layer.WORKING: 0.9,
    Layer.EPISODIC: 1.0,
    Layer.CODEBASE: 1.0,
    Layer.SEMANTIC: 1.1,
    Layer.PROCEDURAL: 1.1,
    Layer.PROFILE: 1.1,
}


def weigh(near: Near, signals: Signals) -> tuple[tuple[str, float], ...]:
    """Each weight by name, none below a half or above one and a half: a memory is ranked lower, never silenced."""
    return _weights(near.status, near.layer, near.origin, signals.quality_score)


@lru_cache(maxsize=1024)
def total(weights: tuple[tuple[str, float], ...]) -> float:
    """All of them multiplied."""
    return prod(value for _, value in weights)


@lru_cache(maxsize=1024)
def _weights(status: Status, layer: Layer, origin: Origin, quality: float) -> tuple[tuple[str, float], ...]:
    told = {
        "status": status_weight(status),
        "layer": LAYERS[layer],
        "trust": trust_weight(origin),
        "quality": quality**0.5,
    }
    return tuple((name, min(MOST, max(LEAST, value))) for name, value in told.items())


def trust_weight(origin: Origin) -> float:
    """How much an atom counts by who said it: all but the same for words somebody vouches for, less for any others."""
    least = UNVOUCHED if statements_wait(origin) else VOUCHED
    return least + (1.0 - least) * trust_of(origin)


def status_weight(status: Status) -> float:
    """How much an atom counts by how it stands."""
    return DISPUTED if status is Status.CHALLENGED else RECALL_WEIGHT.get(status, SHELF)
