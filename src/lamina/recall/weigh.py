"""The weights by which a relevance is multiplied: status, layer, trust in the origin, feedback, and ageing.

Ageing is as the last dream computed it; an atom that no dream has looked at has neutral weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod

from lamina.atom.atom import Signals
from lamina.atom.kinds import Layer
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import Origin, statements_wait, trust_of
from lamina.lifecycle.lifecycle_state import WEIGHT
from lamina.store.encodings import Near
from lamina.store.lives import Life

LEAST, MOST = 0.5, 1.5
SHELF, DISPUTED = 0.9, 0.88
"""For statuses that ordinary recall does not search, if they were requested."""
VOUCHED, UNVOUCHED = 0.9, 0.75
"""The weight of a passage from an origin without any trust, for origins whose statements count immediately and for
those whose statements are held for review."""
FADED, UNIMPORTANT, OLD = 0.94, 0.97, 0.97
"""The weights of a memory with no retention left, of one without importance, and of one that is very old for its
kind."""
WHOLE, IMPORTANT, RECENT = 1.0, 1.03, 1.0
"""The weights of a memory with full retention, of one with the highest importance, and of one from this moment."""
LAYERS: Mapping[Layer, float] = {
    Layer.WORKING: 0.9,
    Layer.EPISODIC: 1.0,
    Layer.CODEBASE: 1.0,
    Layer.SEMANTIC: 1.1,
    Layer.PROCEDURAL: 1.1,
    Layer.PROFILE: 1.1,
}
STATES: Mapping[str, float] = {state.value: weight for state, weight in WEIGHT.items()}

Weights = tuple[tuple[str, float], ...]
"""Each weight with its name."""

UNSEEN: Weights = (("retention", 1.0), ("importance", 1.0), ("recency", 1.0), ("lifecycle", 1.0))
"""For atoms that no dream has looked at."""
_DIGITS = 2
"""More digits would make no difference, and would defeat the cache."""


def weigh(near: Near, signals: Signals, life: Life | None = None) -> Weights:
    """Return each weight by name, between a half and one and a half: a memory is ranked lower, never hidden."""
    fixed = _weights(near.status, near.layer, near.origin, signals.quality_score)
    if life is None:
        return fixed + UNSEEN
    return fixed + _weights_of_life(
        round(life.retention, _DIGITS),
        round(life.importance, _DIGITS),
        round(life.recency, _DIGITS),
        life.state if near.status is Status.ACTIVE else "",
    )


@lru_cache(maxsize=4096)
def total(weights: Weights) -> float:
    """Return the product of the weights."""
    return prod(value for _, value in weights)


@lru_cache(maxsize=1024)
def _weights(status: Status, layer: Layer, origin: Origin, quality: float) -> Weights:
    return _bounded(
        {
            "status": status_weight(status),
            "layer": LAYERS[layer],
            "trust": trust_weight(origin),
            "quality": quality**0.5,
        }
    )


@lru_cache(maxsize=4096)
def _weights_of_life(left: float, matters: float, recent: float, state: str) -> Weights:
    """Return the weights of ageing. No state is given if the status says the same, so that a dispute or an archival
    counts once."""
    return _bounded(
        {
            "retention": FADED + (WHOLE - FADED) * left,
            "importance": UNIMPORTANT + (IMPORTANT - UNIMPORTANT) * matters,
            "recency": OLD + (RECENT - OLD) * recent,
            "lifecycle": STATES.get(state, 1.0),
        }
    )


def _bounded(told: Mapping[str, float]) -> Weights:
    return tuple((name, min(MOST, max(LEAST, value))) for name, value in told.items())


def trust_weight(origin: Origin) -> float:
    """Return the weight of an origin: nearly equal for origins whose statements count immediately, lower for the
    others."""
    minimum = UNVOUCHED if statements_wait(origin) else VOUCHED
    return minimum + (1.0 - minimum) * trust_of(origin)


def status_weight(status: Status) -> float:
    """Return the weight of a status."""
    return DISPUTED if status is Status.CHALLENGED else RECALL_WEIGHT.get(status, SHELF)
