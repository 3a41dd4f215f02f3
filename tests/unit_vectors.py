"""Random vectors and packed states for the tests of vectors and of late interaction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats


def unit_vectors(rows: int, width: int, seed: int, *, spiky: bool = False) -> Floats:
    """Return unit vectors; spiky ones have most of their length in a few dimensions."""
    drawn = np.random.default_rng(seed).standard_normal((rows, width))
    drawn = drawn**5 if spiky else drawn
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


def packed_levels(packed: bytes, width: int) -> NDArray[np.int64]:
    """Return the levels of packed states, in half steps, one half-byte after the other."""
    rows = []
    for start in range(0, len(packed), width // 2):
        row = packed[start : start + width // 2]
        rows.append([2 * (byte >> 4) - 15 for byte in row] + [2 * (byte & 15) - 15 for byte in row])
    return np.array(rows, dtype=np.int64)
