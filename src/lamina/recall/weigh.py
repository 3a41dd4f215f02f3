"""What multiplies a relevance: how an atom stands, where it lives, who said it, what use has taught and time has left.

What time has done is as the last dream saw it; an atom that no dream has looked at is weighed as if there were none.
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
"""For what normal recall does not search and was asked for."""
VOUCHED, UNVOUCHED = 0.9, 0.75
"""What would be left of a word with no trust at all, where somebody vouches for it and where nobody does."""
FADED, UNIMPORTANT, OLD = 0.94, 0.97, 0.97
"""What counts of a memory of which nothing is left, of one that matters to nobody, of one long past for its kind."""
WHOLE, IMPORTANT, RECENT = 1.0, 1.03, 1.0
"""What counts of one that is all there, of one that could not matter more, of one of this moment."""
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
"""Each weight by its name."""

UNSEEN: Weights = (("retention", 1.0), ("importance", 1.0), ("recency", 1.0), ("lifecycle", 1.0))
"""For what no dream has looked at."""
_DIGITS = 2
"""More would tell nobody apart, and nothing could be weighed once for many."""


def weigh(near: Near, signals: Signals, life: Life | None = None) -> Weights:
    """Each weight by name, none below a half or above one and a half: a memory is ranked lower, never silenced."""
    own = _weights(near.status, near.layer, near.origin, signals.quality_score)
    if life is None:
        return own + UNSEEN
    return own + _weights_of_life(
        round(life.retention, _DIGITS),
        round(life.importance, _DIGITS),
        round(life.recency, _DIGITS),
        life.state if near.status is Status.ACTIVE else "",
    )


@lru_cache(maxsize=4096)
def total(weights: Weights) -> float:
    """All of them multiplied."""
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
    """No state is given where the status says it: a doubt, or being laid aside, counts once."""
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
    """How much an atom counts by who said it: all but the same for words somebody vouches for, less for any others."""
    least = UNVOUCHED if statements_wait(origin) else VOUCHED
    return least + (1.0 - least) * trust_of(origin)


def status_weight(status: Status) -> float:
    """How much an atom counts by how it stands."""
    return DISPUTED if status is Status.CHALLENGED else RECALL_WEIGHT.get(status, SHELF)
