"""Plain min-max quantisation as a baseline: each vector's range is cut into equal steps, every value rounded down.

It includes the usual way to rank vectors of several precisions: the cosine of the decoded vectors, reduced by a power
of the missing bits.
"""

from __future__ import annotations

import numpy as np

from lamina.vectors.integer_vectors import Floats

_WEIGHT, _POWER = 0.01, 1.5


def quantise_min_max(vectors: Floats, bits: int) -> Floats:
    """Return the vectors decoded from codes of this many bits, with a minimum and maximum stored for each."""
    least, most = vectors.min(axis=1, keepdims=True), vectors.max(axis=1, keepdims=True)
    step = np.where(most > least, (most - least) / np.float32(2**bits - 1), np.float32(1))
    return np.asarray(least + np.floor((vectors - least) / step) * step, dtype=np.float32)


def penalise_precision(cosines: Floats, bits: int) -> Floats:
    """Return the cosines of vectors of this many bits, reduced for a mixed ranking."""
    return np.asarray(cosines / np.float32(1 + _WEIGHT * ((32 / bits) ** _POWER - 1)), dtype=np.float32)
