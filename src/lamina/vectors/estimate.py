"""Estimate the cosine of a query with vectors of every precision, on one scale, and rank uncertain estimates lower.

A coded vector is shorter along its true direction than the original; its factor corrects that, so that the estimate of
a cosine is right on average. The remaining error is larger for fewer bits. Of two vectors with equal estimates the more
precise one goes first: half of the expected error is subtracted, which only reorders vectors within that error.

Inner products with codes are sums of integers small enough to be exact in a double: the same to the last bit in any
order and beside any other vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lamina.vectors.codebook import DISTORTION, UNIT, codebook
from lamina.vectors.levels import Floats
from lamina.vectors.quantise import AT_ONCE, Coded, Doubles, added, lengths, unpacked
from lamina.vectors.rotation import padded_width, rotation

CAUTION = 0.5
"""The number of expected errors that is subtracted from an estimate before ranking."""
ASKED_UNIT = 2**18
"""The number of parts that a rotated coordinate of a query is divided into; exact up to 2^16 dimensions."""


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """A query's unit vector, and the same rotated and scaled as coded vectors are, in integer parts."""

    unit: Floats
    whole: Doubles


def turned(question: Floats) -> Turned:
    """Return the vector of a query, prepared for comparison with vectors of its width; ValueError if it is not
    finite."""
    vector = np.asarray(question, dtype=np.float32)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError("a query must be one vector of finite numbers")
    (length,) = lengths(vector[None, :])
    unit = (vector / (length if length > 0 else 1.0)).astype(np.float32)
    rotator = rotation(len(unit))
    scale = np.float32(np.sqrt(rotator.padded))
    return Turned(unit, np.rint(ASKED_UNIT * (rotator.turn(unit[None, :])[0] * scale).astype(np.float64)))


def estimates(asked: Turned, coded: Coded) -> Floats:
    """Return an estimate of the cosine of the query with each coded vector, right on average; 0 for a zero vector."""
    if len(asked.unit) != coded.width:
        raise ValueError(f"the query has {len(asked.unit)} dimensions, the vectors have {coded.width}")
    levels, result = codebook(coded.bits).whole.astype(np.float64), np.empty(len(coded), dtype=np.float32)
    for start in range(0, len(coded), AT_ONCE):
        batch = slice(start, start + AT_ONCE)
        exact = levels[unpacked(coded.codes[batch], coded.bits)] @ asked.whole
        result[batch] = exact * coded.factor[batch] / (UNIT * ASKED_UNIT * len(asked.whole))
    return result


def cosines(asked: Turned, vectors: Floats) -> Floats:
    """Return the exact cosine of the query with each uncoded vector."""
    if len(asked.unit) != vectors.shape[1]:
        raise ValueError(f"the query has {len(asked.unit)} dimensions, the vectors have {vectors.shape[1]}")
    norms = lengths(vectors)
    products = added(np.multiply(vectors, asked.unit, dtype=np.float64))
    return (products / np.where(norms > 0, norms, 1)).astype(np.float32)


def expected_error(bits: int, width: int) -> float:
    """Return the standard deviation of the estimate of a cosine near 0; the padding of a rotated vector lowers it."""
    if bits not in DISTORTION:
        raise ValueError(f"a vector is stored in 32, 8, 4 or 2 bits per dimension, not {bits}")
    return math.sqrt(DISTORTION[bits] / ((1 - DISTORTION[bits]) * padded_width(width)))


def ranked(estimate: Floats, bits: int, width: int) -> Floats:
    """Return the scores by which estimates of one precision are ranked among others: lower for fewer bits."""
    sine = np.sqrt(np.maximum(0, 1 - np.square(estimate, dtype=np.float64)))
    return np.asarray(estimate - CAUTION * expected_error(bits, width) * sine, dtype=np.float32)
