"""What a hit is known by where its vectors are kept in few bits: how sure the cosine is, and how far off it may lie."""

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
"""The standard deviation a dimension of any unit vector is taken to have before it is rounded."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """The bits a dimension that are kept, the standard error of the cosine, and the Fisher-Rao distance between the
    question and what is kept."""

    bits: int
    error: float
    frqad: float

    def __str__(self) -> str:
        return f"{self.bits} bits (cosine ± {self.error:.4f}, Fisher-Rao {self.frqad:.1f})"


def coarse(keys: Collection[Key], meant: str, lens: Lens, store: Store) -> dict[Key, Coarse]:
    """Of those passages whose vectors are not kept whole, what that means for a question."""
    if lens.main is None or not keys:
        return {}
    question = lens.main.question(meant).vector
    kept = store.encodings.coarse(lens.main.model.id, keys)
    return {key: _of(question, bits, vectors) for key, (bits, vectors) in kept.items()}


def _of(question: Floats, bits: int, vectors: Floats) -> Coarse:
    near = vectors[int(np.argmax(vectors @ question))].astype(np.float64)
    asked = question.astype(np.float64)
    length = math.hypot(*near.tolist()) * math.hypot(*asked.tolist())
    cosine = float(near @ asked) / length if length else 0.0
    error = expected_error(bits, len(near)) * math.sqrt(max(0.0, 1 - cosine * cosine))
    return Coarse(bits, error, frqad(asked, ERROR, WHOLE, near, ERROR, bits))
