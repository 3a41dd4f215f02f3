"""Rotate vectors so that each spreads evenly over its dimensions, which makes few bits per dimension enough.

Whatever a vector is, its rotated coordinates look like samples of a normal distribution. A dense random rotation would
do, but its bits depend on the library that multiplies; this one consists of sign flips, permutations and Hadamard
blocks, which only add and subtract two numbers at a time, and so gives the same bits on every machine and beside any
other rows. Its signs and permutations are hashes of a counter for the same reason.

Blocks are as large as the largest power of two that divides the width. Below 64, three rounds do not spread a single
large dimension, so such vectors are padded with zeros to the next multiple of 64. This costs space: 300 dimensions take
the bytes of 320, and 8 take those of 64.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import Floats

Permutation: TypeAlias = NDArray[np.intp]

ROUNDS = 3
SMALLEST_BLOCK = 64
BATCH_ROWS = 128
"""The number of vectors rotated together: few enough for the processor's cache."""
_SEED = b"lamina rotation 1"


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """An orthogonal map from vectors of one width to vectors of the padded width, and back."""

    width: int
    padded: int
    block: int
    signs: tuple[Floats, ...]
    orders: tuple[Permutation, ...]

    def apply(self, rows: Floats) -> Floats:
        """Return the rotated rows; lengths and angles do not change."""
        return _apply_in_batches(rows, self.padded, self._rotate_lanes)

    def invert(self, rows: Floats) -> Floats:
        """Return the rows before the rotation, without the padding."""
        return _apply_in_batches(rows, self.padded, self._invert_lanes)[:, : self.width]

    def _rotate_lanes(self, lanes: Floats) -> Floats:
        for signs, order in zip(self.signs, self.orders, strict=True):
            lanes = _hadamard((lanes * signs)[order], self.block)
        return lanes * self._scale

    def _invert_lanes(self, lanes: Floats) -> Floats:
        for signs, order in zip(reversed(self.signs), reversed(self.orders), strict=True):
            mixed = _hadamard(lanes.copy(), self.block)
            lanes = np.empty_like(mixed)
            lanes[order] = mixed
            lanes *= signs
        return lanes * self._scale

    @property
    def _scale(self) -> np.float32:
        # Each Hadamard round multiplies the length by the root of the block size; all rounds are corrected together.
        return np.float32(1 / math.sqrt(self.block**ROUNDS))


@lru_cache(maxsize=16)
def rotation_for(width: int) -> Rotation:
    """Return the rotation for vectors of this width: always the same one."""
    padded = padded_width(width)
    signs = tuple(_random_signs(padded, n) for n in range(ROUNDS))
    orders = tuple(_random_order(padded, n) for n in range(ROUNDS))
    return Rotation(width, padded, padded & -padded, signs, orders)


def padded_width(width: int) -> int:
    """Return the number of dimensions of a rotated vector; ValueError if the width is below 1."""
    if width < 1:
        raise ValueError(f"a vector must have at least one dimension, not {width}")
    power_of_two = width & -width
    return width if power_of_two >= SMALLEST_BLOCK else -(-width // SMALLEST_BLOCK) * SMALLEST_BLOCK


def _apply_in_batches(rows: Floats, padded: int, work: Callable[[Floats], Floats]) -> Floats:
    """Apply a function to a few rows at a time, each as a column, so that neighbours in memory are added together."""
    result = np.empty((len(rows), padded), dtype=np.float32)
    for start in range(0, len(rows), BATCH_ROWS):
        batch = rows[start : start + BATCH_ROWS]
        lanes = np.zeros((padded, len(batch)), dtype=np.float32)
        lanes[: rows.shape[1]] = batch.T
        result[start : start + BATCH_ROWS] = work(lanes).T
    return result


def _hadamard(lanes: Floats, block: int) -> Floats:
    """Apply an unscaled Hadamard matrix to each block of dimensions; overwrites its input."""
    spare, size = np.empty_like(lanes), 1
    while size < block:
        inputs, outputs = (array.reshape(-1, 2, size * lanes.shape[1]) for array in (lanes, spare))
        np.add(inputs[:, 0], inputs[:, 1], out=outputs[:, 0])
        np.subtract(inputs[:, 0], inputs[:, 1], out=outputs[:, 1])
        lanes, spare, size = spare, lanes, 2 * size
    return lanes


def _random_signs(width: int, turn: int) -> Floats:
    odd = (_hash_numbers(b"sign", width, turn) & np.uint64(1)).astype(np.float32)
    return np.asarray(np.float32(1) - 2 * odd, dtype=np.float32)[:, None]


def _random_order(width: int, turn: int) -> Permutation:
    return np.argsort(_hash_numbers(b"order", width, turn), kind="stable")


def _hash_numbers(purpose: bytes, width: int, turn: int) -> NDArray[np.uint64]:
    """Return a 64-bit number for each dimension, the same on every machine."""
    stem = b"%s/%s/%d/%d/" % (_SEED, purpose, width, turn)
    digests = (hashlib.blake2b(stem + b"%d" % n, digest_size=8).digest() for n in range(width))
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
