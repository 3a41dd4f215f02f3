"""The Fisher-Rao distance between vectors that are known to some precision only.

A vector known with an error is a bell curve around it, and the distance of two bell curves is how well they can be told
apart: the length of the shortest way from one to the other. Rounding to few bits adds a variance of its own to the
error there was; it does not multiply it.

The distance compares precisions of one memory and is shown where a hit is explained. It does not rank: a wider bell
curve can lie nearer to a question than a narrow one, and a very wide one hides what the vector says.
"""

from __future__ import annotations

import math

import numpy as np

from lamina.vectors.codebook import DISTORTION
from lamina.vectors.quantise import Doubles

_ROOT_2 = math.sqrt(2)


def univariate(mean: float, deviation: float, other_mean: float, other_deviation: float) -> float:
    """The distance of two bell curves given by their means and standard deviations."""
    one, other = np.array([mean]), np.array([other_mean])
    return diagonal(one, np.array([deviation]), other, np.array([other_deviation]))


def diagonal(means: Doubles, deviations: Doubles, other_means: Doubles, other_deviations: Doubles) -> float:
    """The distance of two bell curves in many dimensions, each dimension with an error of its own."""
    for each in (deviations, other_deviations):
        if not (np.isfinite(each) & (each > 0)).all():
            raise ValueError("a standard deviation is a number above 0")
    # As an area sine the distance of two that are nearly the same does not drown in the 1 an area cosine starts from.
    apart = np.hypot(means - other_means, _ROOT_2 * (deviations - other_deviations))
    scale = 2 * _ROOT_2 * (np.sqrt(deviations) * np.sqrt(other_deviations))
    return math.hypot(*(2 * _ROOT_2 * np.arcsinh(apart / scale)).ravel().tolist())


def frqad(vector: Doubles, error: float, bits: int, other: Doubles, other_error: float, other_bits: int) -> float:
    """The distance of two vectors in these precisions, each dimension known but for an error of its own."""
    if vector.ndim != 1 or vector.shape != other.shape:
        raise ValueError(f"vectors of one width are compared, not {vector.shape} with {other.shape}")
    return diagonal(
        vector,
        np.full(len(vector), deviation(vector, error, bits)),
        other,
        np.full(len(other), deviation(other, other_error, other_bits)),
    )


def deviation(vector: Doubles, error: float, bits: int) -> float:
    """The standard deviation of each dimension of a vector: the error it came with, and what rounding adds."""
    if bits not in DISTORTION:
        raise ValueError(f"a vector is kept in 32, 8, 4 or 2 bits a dimension, not {bits}")
    length = math.hypot(*vector.tolist())
    return math.hypot(error, length * math.sqrt(DISTORTION[bits] / max(1, len(vector))))
