"""Token states in few bits: the sign of each dimension, or one of sixteen levels of it.

Levels lie a fixed step apart, so no state needs a scale of its own. Which half of them a level is in is the sign: what
was packed finely can be read coarsely, and is then the same to the last bit as if it had been packed so.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import Floats

HALF = 8
"""Levels on either side of 0: -15, -13, … 13, 15 half steps."""
_STEP = 0.375
"""Of the mean size of a unit state's dimension; measured, and near the best for a bell curve (0.335)."""


def step(width: int) -> float:
    """How far two levels of a unit state lie apart."""
    return _STEP / math.sqrt(width)


def to_signs(states: Floats) -> bytes:
    """The sign of every dimension, a bit each, most significant first."""
    return np.packbits(states > 0, axis=1).tobytes()


def to_nibbles(states: Floats) -> bytes:
    """The level of every dimension of unit states of even width: the first half of them in the upper half-bytes."""
    half = states.shape[1] // 2
    # Rounded up, so that 0 lies below the middle, as it does among the signs.
    levels = np.ceil(states / np.float32(step(states.shape[1]))) + np.float32(HALF - 1)
    codes = np.clip(levels, 0, 2 * HALF - 1).astype(np.uint8)
    packed: NDArray[np.uint8] = codes[:, :half] << 4 | codes[:, half:]
    return packed.tobytes()


def signs_of(nibbles: bytes, width: int) -> bytes:
    """The signs of states that were packed as levels."""
    packed = np.frombuffer(nibbles, dtype=np.uint8).reshape(-1, width // 2)
    return np.packbits(np.hstack((packed >> 4, packed & 15)) >= HALF, axis=1).tobytes()
