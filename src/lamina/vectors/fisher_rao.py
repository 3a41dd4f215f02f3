"""Compute the Fisher-Rao distance between vectors with limited precision.

A vector with an error is a normal distribution around it, and the distance of two distributions is how well they can be
distinguished: the length of the shortest path between them. Rounding to few bits adds a variance to the existing error;
it does not multiply it.

The distance compares precisions of one memory and is shown in explanations of hits. It is not used for ranking: a wider
distribution can be nearer to a query than a narrow one.
"""

from __future__ import annotations

import math

import numpy as np

from lamina.vectors.quantisation import DISTORTION, Doubles

_ROOT_2 = math.sqrt(2)


def diagonal_distance(means: Doubles, deviations: Doubles, other_means: Doubles, other_deviations: Doubles) -> float:
    """Return the distance of two normal distributions in many dimensions, each with its own standard deviation."""
    for values in (deviations, other_deviations):
        if not (np.isfinite(values) & (values > 0)).all():
            raise ValueError("a standard deviation must be a number above 0")
    # arsinh is exact for nearly equal distributions; arcosh, which starts from 1, would lose their difference.
    difference = np.hypot(means - other_means, _ROOT_2 * (deviations - other_deviations))
    scale = 2 * _ROOT_2 * (np.sqrt(deviations) * np.sqrt(other_deviations))
    return math.hypot(*(2 * _ROOT_2 * np.arcsinh(difference / scale)).ravel().tolist())


def frqad(vector: Doubles, error: float, bits: int, other: Doubles, other_error: float, other_bits: int) -> float:
    """Return the distance of two vectors in these precisions, each dimension with an additional error."""
    if vector.ndim != 1 or vector.shape != other.shape:
        raise ValueError(f"the vectors must have the same width, not {vector.shape} and {other.shape}")
    return diagonal_distance(
        vector,
        np.full(len(vector), standard_deviation(vector, error, bits)),
        other,
        np.full(len(other), standard_deviation(other, other_error, other_bits)),
    )


def standard_deviation(vector: Doubles, error: float, bits: int) -> float:
    """Return the standard deviation of each dimension of a vector: its given error and the error of rounding."""
    if bits not in DISTORTION:
        raise ValueError(f"a vector is stored in 32, 8, 4 or 2 bits per dimension, not {bits}")
    length = math.hypot(*vector.tolist())
    return math.hypot(error, length * math.sqrt(DISTORTION[bits] / max(1, len(vector))))
