"""Plain min-max quantisation, as a yardstick: each vector's range cut into equal steps and every value rounded down.

With it comes the usual way to rank vectors of several precisions: the cosine of what was decoded, made smaller by a
power of how many bits are missing.
"""

from __future__ import annotations

import numpy as np

from lamina.vectors.levels import Floats

_WEIGHT, _POWER = 0.01, 1.5


def rounded_down(vectors: Floats, bits: int) -> Floats:
    """The vectors as they come back from codes of so many bits, a least and a greatest value beside them."""
    least, most = vectors.min(axis=1, keepdims=True), vectors.max(axis=1, keepdims=True)
    step = np.where(most > least, (most - least) / np.float32(2**bits - 1), np.float32(1))
    return np.asarray(least + np.floor((vectors - least) / step) * step, dtype=np.float32)


def scaled_down(cosines: Floats, bits: int) -> Floats:
    """Cosines with vectors of so many bits as they are ranked among others."""
    return np.asarray(cosines / np.float32(1 + _WEIGHT * ((32 / bits) ** _POWER - 1)), dtype=np.float32)
