"""Pack token states into few bits: the sign of each dimension, or one of sixteen levels.

Levels are a fixed step apart, so no state needs its own scale. The upper half of the levels is the positive sign:
packed levels can be read as signs, with exactly the bits that packing signs would give.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats

LEVELS_PER_SIDE = 8
"""The levels on either side of 0: -15, -13, … 13, 15 half steps."""
_STEP_FACTOR = 0.375
"""Relative to the mean size of a dimension of a unit state; measured, and near the optimum for a normal distribution
(0.335)."""


def level_step(width: int) -> float:
    """Return the distance of two levels of a unit state."""
    return _STEP_FACTOR / math.sqrt(width)


def to_signs(states: Floats) -> bytes:
    """Return the sign of every dimension, one bit each, most significant first."""
    return np.packbits(states > 0, axis=1).tobytes()


def to_nibbles(states: Floats) -> bytes:
    """Return the level of every dimension of unit states of even width: the first half in the upper half-bytes."""
    half = states.shape[1] // 2
    # Rounded up, so that 0 is below the middle, as with signs.
    levels = np.ceil(states / np.float32(level_step(states.shape[1]))) + np.float32(LEVELS_PER_SIDE - 1)
    codes = np.clip(levels, 0, 2 * LEVELS_PER_SIDE - 1).astype(np.uint8)
    packed: NDArray[np.uint8] = codes[:, :half] << 4 | codes[:, half:]
    return packed.tobytes()


def nibbles_to_signs(nibbles: bytes, width: int) -> bytes:
    """Return the signs of states that were packed as levels."""
    packed = np.frombuffer(nibbles, dtype=np.uint8).reshape(-1, width // 2)
    return np.packbits(np.hstack((packed >> 4, packed & 15)) >= LEVELS_PER_SIDE, axis=1).tobytes()
