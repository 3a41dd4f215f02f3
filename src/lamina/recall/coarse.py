"""How precisely the vectors of a hit are stored, where they have few bits: the standard error of the cosine, and the
Fisher-Rao distance."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from lamina.recall.lens import Lens
from lamina.store.base import Store
from lamina.store.encodings import WHOLE, Key
from lamina.vectors.estimate import expected_error
from lamina.vectors.fisher_rao import frqad
from lamina.vectors.levels import Floats

ERROR = 0.01
"""The assumed standard deviation of each dimension of a unit vector before it is rounded."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """The stored bits per dimension, the standard error of the cosine, and the Fisher-Rao distance between the question
    and the stored vector."""

    bits: int
    error: float
    frqad: float

    def __str__(self) -> str:
        return f"{self.bits} bits (cosine ± {self.error:.4f}, Fisher-Rao {self.frqad:.1f})"


def coarse(keys: Collection[Key], meant: str, lens: Lens, store: Store) -> dict[Key, Coarse]:
    """Return, for those passages whose vectors are stored with reduced precision, what that means for a question."""
    if lens.main is None or not keys:
        return {}
    question = lens.main.question(meant).vector
    stored = store.encodings.coarse(lens.main.model.id, keys)
    return {key: _of(question, bits, vectors) for key, (bits, vectors) in stored.items()}


def _of(question: Floats, bits: int, vectors: Floats) -> Coarse:
    """Return the precision of the vector that is nearest to the question."""
    nearest = vectors[int(np.argmax(vectors @ question))].astype(np.float64)
    exact_question = question.astype(np.float64)
    length = math.hypot(*nearest.tolist()) * math.hypot(*exact_question.tolist())
    cosine = float(nearest @ exact_question) / length if length else 0.0
    error = expected_error(bits, len(nearest)) * math.sqrt(max(0.0, 1 - cosine * cosine))
    return Coarse(bits, error, frqad(exact_question, ERROR, WHOLE, nearest, ERROR, bits))
