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
from lamina.atom.trust import Origin, statements_need_review, trust_of
from lamina.lifecycle.lifecycle_state import STATE_WEIGHTS
from lamina.store.ageing_state import AgeingState
from lamina.store.encodings import NearPassage

MIN_WEIGHT, MAX_WEIGHT = 0.5, 1.5
NOT_SEARCHED, CHALLENGED = 0.9, 0.88
"""For statuses that ordinary recall does not search, if they were requested."""
TRUSTED_MINIMUM, UNTRUSTED_MINIMUM = 0.9, 0.75
"""The weight of a passage from an origin without any trust, for origins whose statements count immediately and for
those whose statements are held for review."""
NO_RETENTION, NO_IMPORTANCE, NO_RECENCY = 0.94, 0.97, 0.97
"""The weights of a memory with no retention left, of one without importance, and of one that is very old for its
kind."""
FULL_RETENTION, FULL_IMPORTANCE, FULL_RECENCY = 1.0, 1.03, 1.0
"""The weights of a memory with full retention, of one with the highest importance, and of one from this moment."""
LAYER_WEIGHTS: Mapping[Layer, float] = {
    Layer.WORKING: 0.9,
    Layer.EPISODIC: 1.0,
    Layer.CODEBASE: 1.0,
    Layer.SEMANTIC: 1.1,
    Layer.PROCEDURAL: 1.1,
    Layer.PROFILE: 1.1,
}
LIFECYCLE_WEIGHTS: Mapping[str, float] = {state.value: weight for state, weight in STATE_WEIGHTS.items()}

Weights = tuple[tuple[str, float], ...]
"""Each weight with its name."""

NEUTRAL_WEIGHTS: Weights = (("retention", 1.0), ("importance", 1.0), ("recency", 1.0), ("lifecycle", 1.0))
"""For atoms that no dream has looked at."""
_DIGITS = 2
"""More digits would make no difference, and would defeat the cache."""


def compute_weights(near: NearPassage, signals: Signals, ageing: AgeingState | None = None) -> Weights:
    """Return each weight by name, between a half and one and a half: a memory is ranked lower, never hidden."""
    fixed = _fixed_weights(near.status, near.layer, near.origin, signals.quality_score)
    if ageing is None:
        return fixed + NEUTRAL_WEIGHTS
    return fixed + _ageing_weights(
        round(ageing.retention, _DIGITS),
        round(ageing.importance, _DIGITS),
        round(ageing.recency, _DIGITS),
        ageing.state if near.status is Status.ACTIVE else "",
    )


@lru_cache(maxsize=4096)
def multiply_weights(weights: Weights) -> float:
    """Return the product of the weights."""
    return prod(value for _, value in weights)


@lru_cache(maxsize=1024)
def _fixed_weights(status: Status, layer: Layer, origin: Origin, quality: float) -> Weights:
    return _bound(
        {
            "status": status_weight(status),
            "layer": LAYER_WEIGHTS[layer],
            "trust": trust_weight(origin),
            "quality": quality**0.5,
        }
    )


@lru_cache(maxsize=4096)
def _ageing_weights(retention: float, importance: float, recency: float, state: str) -> Weights:
    """Return the weights of ageing. No state is given if the status says the same, so that a dispute or an archival
    counts once."""
    return _bound(
        {
            "retention": NO_RETENTION + (FULL_RETENTION - NO_RETENTION) * retention,
            "importance": NO_IMPORTANCE + (FULL_IMPORTANCE - NO_IMPORTANCE) * importance,
            "recency": NO_RECENCY + (FULL_RECENCY - NO_RECENCY) * recency,
            "lifecycle": LIFECYCLE_WEIGHTS.get(state, 1.0),
        }
    )


def _bound(weights: Mapping[str, float]) -> Weights:
    return tuple((name, min(MAX_WEIGHT, max(MIN_WEIGHT, value))) for name, value in weights.items())


def trust_weight(origin: Origin) -> float:
    """Return the weight of an origin: nearly equal for origins whose statements count immediately, lower for the
    others."""
    minimum = UNTRUSTED_MINIMUM if statements_need_review(origin) else TRUSTED_MINIMUM
    return minimum + (1.0 - minimum) * trust_of(origin)


def status_weight(status: Status) -> float:
    """Return the weight of a status."""
    return CHALLENGED if status is Status.CHALLENGED else RECALL_WEIGHT.get(status, NOT_SEARCHED)
