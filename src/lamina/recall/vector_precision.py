"""How precisely the vectors of a hit are stored, where they have few bits: the standard error of the cosine, and the
Fisher-Rao distance."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from lamina.recall.model_selection import SelectedModels
from lamina.store.base import Store
from lamina.store.encodings import FULL_BITS, PassageKey
from lamina.vectors.cosine_estimate import expected_error
from lamina.vectors.fisher_rao import frqad
from lamina.vectors.levels import Floats

DIMENSION_DEVIATION = 0.01
"""The assumed standard deviation of each dimension of a unit vector before it is rounded."""


@dataclass(frozen=True, slots=True)
class VectorPrecision:
    """The stored bits per dimension, the standard error of the cosine, and the Fisher-Rao distance between the question
    and the stored vector."""

    bits: int
    error: float
    frqad: float

    def __str__(self) -> str:
        return f"{self.bits} bits (cosine ± {self.error:.4f}, Fisher-Rao {self.frqad:.1f})"


def measure_precision(
    keys: Collection[PassageKey], text: str, models: SelectedModels, store: Store
) -> dict[PassageKey, VectorPrecision]:
    """Return, for those passages whose vectors are stored with reduced precision, what that means for a question."""
    if models.main is None or not keys:
        return {}
    question = models.main.encode_question(text).vector
    stored = store.encodings.coarse_vectors(models.main.model.id, keys)
    return {key: _measure_vectors(question, bits, vectors) for key, (bits, vectors) in stored.items()}


def _measure_vectors(question: Floats, bits: int, vectors: Floats) -> VectorPrecision:
    """Return the precision of the vector that is nearest to the question."""
    nearest = vectors[int(np.argmax(vectors @ question))].astype(np.float64)
    exact_question = question.astype(np.float64)
    length = math.hypot(*nearest.tolist()) * math.hypot(*exact_question.tolist())
    cosine = float(nearest @ exact_question) / length if length else 0.0
    error = expected_error(bits, len(nearest)) * math.sqrt(max(0.0, 1 - cosine * cosine))
    return VectorPrecision(
        bits, error, frqad(exact_question, DIMENSION_DEVIATION, FULL_BITS, nearest, DIMENSION_DEVIATION, bits)
    )
