"""Whether the state model agrees with a language model that one sentence changes what another says."""

from __future__ import annotations

import numpy as np

from lamina.models.state_model import SentenceState, StateModel

ASSERTS = NEAR = MANY = 0.5
"""Least probability that both assert a value, least cosine of their slots, and when a slot holds several values."""


def agrees(model: StateModel, old: str, new: str) -> bool:
    """Return whether both sentences assert a current value of one slot that holds a single value."""
    pairs = ((before, after) for before in _asserted(model, old) for after in _asserted(model, new))
    return any(_cosine(before, after) >= NEAR for before, after in pairs)


def _asserted(model: StateModel, text: str) -> list[SentenceState]:
    return [state for state in model.read(text) if state.asserts >= ASSERTS and state.is_many < MANY]


def _cosine(one: SentenceState, other: SentenceState) -> float:
    lengths = float(np.linalg.norm(one.slot) * np.linalg.norm(other.slot))
    return float(one.slot @ other.slot) / lengths if lengths else 0.0
