"""Estimate the cosine of a query with vectors of every precision, on one scale, and rank uncertain estimates lower.

A coded vector is shorter along its true direction than the original; its factor corrects that, so that the estimate of
a cosine is right on average. The remaining error is larger for fewer bits. Of two vectors with equal estimates the more
precise one goes first: half of the expected error is subtracted, which only reorders vectors within that error.

Inner products with codes are sums of integers small enough to be exact in a double: the same to the last bit in any
order and beside any other vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lamina.vectors.integer_vectors import Floats
from lamina.vectors.quantisation import (
    BATCH_ROWS,
    ERROR_WEIGHT,
    UNIT,
    CodedVectors,
    Doubles,
    codebook_for,
    expected_error,
    pairwise_sums,
    row_lengths,
    unpack_codes,
)
from lamina.vectors.rotation import rotation_for

QUERY_UNIT = 2**18
"""The number of parts that a rotated coordinate of a query is divided into; exact up to 2^16 dimensions."""


@dataclass(frozen=True, slots=True, eq=False)
class RotatedQuery:
    """A query's unit vector, and the same rotated and scaled as coded vectors are, in integer parts."""

    unit: Floats
    parts: Doubles


def rotate_query(question: Floats) -> RotatedQuery:
    """Return the vector of a query, prepared for comparison with vectors of its width; ValueError if it is not
    finite."""
    vector = np.asarray(question, dtype=np.float32)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError("a query must be one vector of finite numbers")
    (length,) = row_lengths(vector[None, :])
    unit = (vector / (length if length > 0 else 1.0)).astype(np.float32)
    rotator = rotation_for(len(unit))
    scale = np.float32(np.sqrt(rotator.padded))
    return RotatedQuery(unit, np.rint(QUERY_UNIT * (rotator.apply(unit[None, :])[0] * scale).astype(np.float64)))


def estimate_cosines(query: RotatedQuery, coded: CodedVectors) -> Floats:
    """Return an estimate of the cosine of the query with each coded vector, right on average; 0 for a zero vector."""
    if len(query.unit) != coded.width:
        raise ValueError(f"the query has {len(query.unit)} dimensions, the vectors have {coded.width}")
    levels, result = codebook_for(coded.bits).unit_levels.astype(np.float64), np.empty(len(coded), dtype=np.float32)
    for start in range(0, len(coded), BATCH_ROWS):
        batch = slice(start, start + BATCH_ROWS)
        exact = levels[unpack_codes(coded.codes[batch], coded.bits)] @ query.parts
        result[batch] = exact * coded.factor[batch] / (UNIT * QUERY_UNIT * len(query.parts))
    return result


def exact_cosines(query: RotatedQuery, vectors: Floats) -> Floats:
    """Return the exact cosine of the query with each uncoded vector."""
    if len(query.unit) != vectors.shape[1]:
        raise ValueError(f"the query has {len(query.unit)} dimensions, the vectors have {vectors.shape[1]}")
    norms = row_lengths(vectors)
    products = pairwise_sums(np.multiply(vectors, query.unit, dtype=np.float64))
    return (products / np.where(norms > 0, norms, 1)).astype(np.float32)


def ranking_scores(estimates: Floats, bits: int, width: int) -> Floats:
    """Return the scores by which estimates of one precision are ranked among others: lower for fewer bits."""
    sine = np.sqrt(np.maximum(0, 1 - np.square(estimates, dtype=np.float64)))
    return np.asarray(estimates - ERROR_WEIGHT * expected_error(bits, width) * sine, dtype=np.float32)
