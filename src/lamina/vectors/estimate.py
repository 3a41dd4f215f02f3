"""How near a question is to vectors of every precision, on one scale, and how to rank what is known less well.

A coded vector is shorter along its true direction than it was; its factor makes that good, so that the estimate of a
cosine is right on average. What remains is noise, the more the fewer the bits. Of two vectors that seem equally near
the one known better goes first: half of the expected error is taken off, which reorders only what lies within it.

Inner products with codes are sums of whole numbers small enough for a double to hold exactly: the same to the last bit
in any order, beside any others.
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
"""Expected errors taken off an estimate before it is ranked."""
ASKED_UNIT = 2**18
"""Parts that a rotated coordinate of a question is divided into; exact up to 2^16 dimensions."""


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """A question's unit vector as it is, and rotated and scaled as coded vectors are, in whole parts."""

    unit: Floats
    whole: Doubles


def turned(question: Floats) -> Turned:
    """The vector of a question, made ready to be compared with vectors of its width."""
    vector = np.asarray(question, dtype=np.float32)
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise ValueError("a question is one vector of finite numbers")
    (long,) = lengths(vector[None, :])
    unit = (vector / (long if long > 0 else 1.0)).astype(np.float32)
    turn = rotation(len(unit))
    scale = np.float32(np.sqrt(turn.padded))
    return Turned(unit, np.rint(ASKED_UNIT * (turn.turn(unit[None, :])[0] * scale).astype(np.float64)))


def estimates(asked: Turned, coded: Coded) -> Floats:
    """The cosine of the question with each coded vector, right on average; 0 for a vector of nothing."""
    if len(asked.unit) != coded.width:
        raise ValueError(f"a question of {len(asked.unit)} dimensions meets vectors of {coded.width}")
    whole, found = codebook(coded.bits).whole.astype(np.float64), np.empty(len(coded), dtype=np.float32)
    for start in range(0, len(coded), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        exact = whole[unpacked(coded.codes[some], coded.bits)] @ asked.whole
        found[some] = exact * coded.factor[some] / (UNIT * ASKED_UNIT * len(asked.whole))
    return found


def cosines(asked: Turned, vectors: Floats) -> Floats:
    """The cosine of the question with each vector kept as it is: what 32 bits give."""
    if len(asked.unit) != vectors.shape[1]:
        raise ValueError(f"a question of {len(asked.unit)} dimensions meets vectors of {vectors.shape[1]}")
    long = lengths(vectors)
    along = added(np.multiply(vectors, asked.unit, dtype=np.float64))
    return (along / np.where(long > 0, long, 1)).astype(np.float32)


def expected_error(bits: int, width: int) -> float:
    """The standard deviation of an estimate of a cosine near 0; a rotated vector's padding spreads it thinner."""
    if bits not in DISTORTION:
        raise ValueError(f"a vector is kept in 32, 8, 4 or 2 bits a dimension, not {bits}")
    return math.sqrt(DISTORTION[bits] / ((1 - DISTORTION[bits]) * padded_width(width)))


def ranked(estimate: Floats, bits: int, width: int) -> Floats:
    """What estimates of one precision count for in a ranking of many: a little less, the less is known."""
    aside = np.sqrt(np.maximum(0, 1 - np.square(estimate, dtype=np.float64)))
    return np.asarray(estimate - CAUTION * expected_error(bits, width) * aside, dtype=np.float32)
