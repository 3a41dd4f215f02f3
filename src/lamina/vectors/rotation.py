"""A fixed rotation that spreads every vector evenly over its dimensions, so that few bits a dimension say much.

Whatever a vector looks like, its rotated coordinates look like draws from a bell curve. A dense random rotation would
do, but its bits depend on the library that multiplies; this one is made of sign flips, permutations and Hadamard
blocks, which are nothing but additions and subtractions of two numbers at a time, and so gives the same bits on every
machine, beside any other rows. Its signs and permutations are hashes of a counter for the same reason.

Blocks are as large as the largest power of two that divides the width. Where that is below 64 three rounds do not
spread a single large dimension, so such vectors are padded with zeros to the next multiple of 64. What is lost is
size: 300 dimensions take the bytes of 320, and 8 take those of 64.
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

from lamina.vectors.levels import Floats

Order: TypeAlias = NDArray[np.intp]

ROUNDS = 3
SMALLEST_BLOCK = 64
LANES = 128
"""Vectors turned at a time: few enough to stay in the processor's cache."""
_SEED = b"lamina rotation 1"


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """An orthogonal map from vectors of one width to vectors of the padded width, and back."""

    width: int
    padded: int
    block: int
    signs: tuple[Floats, ...]
    orders: tuple[Order, ...]

    def turn(self, rows: Floats) -> Floats:
        """The rotated rows; lengths and angles stay what they were."""
        return _in_lanes(rows, self.padded, self._turned)

    def back(self, rows: Floats) -> Floats:
        """What was rotated, as it was; whatever has come to stand in the padding is dropped."""
        return _in_lanes(rows, self.padded, self._returned)[:, : self.width]

    def _turned(self, lanes: Floats) -> Floats:
        for signs, order in zip(self.signs, self.orders, strict=True):
            lanes = _hadamard((lanes * signs)[order], self.block)
        return lanes * self._scale

    def _returned(self, lanes: Floats) -> Floats:
        for signs, order in zip(reversed(self.signs), reversed(self.orders), strict=True):
            mixed = _hadamard(lanes.copy(), self.block)
            lanes = np.empty_like(mixed)
            lanes[order] = mixed
            lanes *= signs
        return lanes * self._scale

    @property
    def _scale(self) -> np.float32:
        # A Hadamard block as it is added up is longer by the root of its size; all rounds are made good at once.
        return np.float32(1 / math.sqrt(self.block**ROUNDS))


@lru_cache(maxsize=16)
def rotation(width: int) -> Rotation:
    """The rotation for vectors of this width: always the same one."""
    padded = padded_width(width)
    signs = tuple(_signs(padded, n) for n in range(ROUNDS))
    orders = tuple(_order(padded, n) for n in range(ROUNDS))
    return Rotation(width, padded, padded & -padded, signs, orders)


def padded_width(width: int) -> int:
    """How many dimensions a rotated vector has."""
    if width < 1:
        raise ValueError(f"a vector has at least one dimension, not {width}")
    divides = width & -width
    return width if divides >= SMALLEST_BLOCK else -(-width // SMALLEST_BLOCK) * SMALLEST_BLOCK


def _in_lanes(rows: Floats, padded: int, work: Callable[[Floats], Floats]) -> Floats:
    """Work on a few rows at a time, each of them a column, so that neighbours in memory are added together."""
    found = np.empty((len(rows), padded), dtype=np.float32)
    for start in range(0, len(rows), LANES):
        some = rows[start : start + LANES]
        lanes = np.zeros((padded, len(some)), dtype=np.float32)
        lanes[: rows.shape[1]] = some.T
        found[start : start + LANES] = work(lanes).T
    return found


def _hadamard(lanes: Floats, block: int) -> Floats:
    """Each block of dimensions through a Hadamard matrix, as large as the sums are; overwrites what it is given."""
    spare, size = np.empty_like(lanes), 1
    while size < block:
        given, taken = (each.reshape(-1, 2, size * lanes.shape[1]) for each in (lanes, spare))
        np.add(given[:, 0], given[:, 1], out=taken[:, 0])
        np.subtract(given[:, 0], given[:, 1], out=taken[:, 1])
        lanes, spare, size = spare, lanes, 2 * size
    return lanes


def _signs(width: int, turn: int) -> Floats:
    odd = (_drawn(b"sign", width, turn) & np.uint64(1)).astype(np.float32)
    return np.asarray(np.float32(1) - 2 * odd, dtype=np.float32)[:, None]


def _order(width: int, turn: int) -> Order:
    return np.argsort(_drawn(b"order", width, turn), kind="stable")


def _drawn(purpose: bytes, width: int, turn: int) -> NDArray[np.uint64]:
    """A 64-bit number for each dimension, the same everywhere and for ever."""
    stem = b"%s/%s/%d/%d/" % (_SEED, purpose, width, turn)
    digests = (hashlib.blake2b(stem + b"%d" % n, digest_size=8).digest() for n in range(width))
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
