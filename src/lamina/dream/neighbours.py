"""Which vectors lie near which, without comparing each with each.

Vectors are thrown into buckets by the direction they lean to most, of a few dozen directions; near ones mostly lean to
the same, and only what shares a bucket is compared. A bucket too full is thrown again by other directions, so that the
work grows with the number of vectors and not with its square. Several throws find what one misses.

Everything is counted in whole numbers, so that what is near does not hang on the order of a sum.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import EXACT, ROW_LEVELS, Floats

Numbers: TypeAlias = NDArray[np.int64]

THROWS = 16
DIRECTIONS = 32
"""So many at most: fewer where fewer buckets will do, for each more parts some that are near."""
FULL = 384
"""A bucket with more is thrown again."""
DEPTH = 6
"""So often; what is left in one bucket then is cut into pieces along one direction."""
CLOSEST = 16
"""So many neighbours of a vector are kept from one bucket: enough to hold together what belongs together."""
_BLOCK = 8192


@dataclass(frozen=True, slots=True)
class Points:
    """Vectors as whole numbers, small enough for exact dot products, and the length of each."""

    levels: NDArray[np.int8]
    lengths: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.lengths)

    def cosines(self, rows: Numbers) -> NDArray[np.float64]:
        """Each of some points with each of them."""
        chosen = self.levels[rows].astype(np.float32)
        lengths = self.lengths[rows]
        return np.asarray((chosen @ chosen.T).astype(np.float64) / (lengths[:, None] * lengths))


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of points, the lower number first, and how near they are."""

    one: Numbers
    other: Numbers
    cosine: Floats


def to_points(vectors: Floats) -> Points:
    """The vectors, none of them zero, as whole numbers; a vector's own largest entry sets its scale."""
    most = min(ROW_LEVELS, math.isqrt(EXACT // max(1, vectors.shape[1])))
    scale = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32)
    levels = np.rint(vectors / scale[:, None] * np.float32(most)).astype(np.int8)
    squares = np.concatenate(
        [
            np.square(levels[start : start + _BLOCK].astype(np.int64)).sum(axis=1)
            for start in range(0, max(1, len(levels)), _BLOCK)
        ]
    )
    return Points(levels, np.sqrt(squares.astype(np.float64)))


def near_pairs(points: Points, above: float) -> Pairs:
    """Pairs nearer than that: nearly all of them, and of a crowd the nearest."""
    count = len(points)
    keys, cosines = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for throw in range(THROWS):
        for bucket in _buckets(points, np.arange(count), throw, 0):
            one, other, near = _compared(points, bucket, above)
            keys.append(one * count + other)
            cosines.append(near)
    key, first = np.unique(np.concatenate(keys), return_index=True)
    return Pairs(key // max(1, count), key % max(1, count), np.concatenate(cosines)[first])


def _buckets(points: Points, rows: Numbers, throw: int, depth: int) -> Iterator[Numbers]:
    if len(rows) <= FULL:
        if len(rows) > 1:
            yield rows
        return
    needed = min(DIRECTIONS, math.ceil(2 * len(rows) / FULL))
    leanings = _leanings(points, rows, _directions(points.levels.shape[1], throw, depth)[:, :needed])
    if depth == DEPTH:
        ordered = rows[np.argsort(leanings[:, 0], kind="stable")]
        yield from (ordered[start : start + FULL] for start in range(0, len(ordered), FULL))
        return
    most = np.argmax(leanings, axis=1)
    order = np.argsort(most, kind="stable")
    ends = np.cumsum(np.bincount(most, minlength=needed))[:-1]
    for part in np.split(rows[order], ends):
        yield from _buckets(points, part, throw, depth + 1)


def _leanings(points: Points, rows: Numbers, directions: Floats) -> NDArray[np.float64]:
    """How far each row leans to each direction, more or less than the others do: what all share tells nothing."""
    parts = []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        parts.append((points.levels[block].astype(np.float32) @ directions) / points.lengths[block, None])
    found = np.concatenate(parts)
    return np.asarray(found - np.median(found, axis=0), np.float64)


def _directions(width: int, throw: int, depth: int) -> Floats:
    """Signs drawn from a hash, so that they are the same everywhere and always."""
    drawn = hashlib.shake_256(f"{throw}/{depth}".encode()).digest(width * DIRECTIONS // 8)
    bits = np.unpackbits(np.frombuffer(drawn, np.uint8)).reshape(width, DIRECTIONS)
    return np.asarray(bits, np.float32) * np.float32(2) - np.float32(1)


def _compared(points: Points, bucket: Numbers, above: float) -> tuple[Numbers, Numbers, Floats]:
    chosen = points.levels[bucket].astype(np.float32)
    shrunk = (1 / points.lengths[bucket]).astype(np.float32)
    cosines = (chosen @ chosen.T) * (shrunk[:, None] * shrunk)
    np.fill_diagonal(cosines, -1)
    near = cosines > np.float32(above)
    crowded = np.flatnonzero(np.count_nonzero(near, axis=1) > CLOSEST)
    if len(crowded):
        far = np.argsort(-cosines[crowded], axis=1, kind="stable")[:, CLOSEST:]
        near[crowded[:, None], far] = False
        near |= near.T
    one, other = np.nonzero(np.triu(near))
    low, high = np.minimum(bucket[one], bucket[other]), np.maximum(bucket[one], bucket[other])
    return low, high, cosines[one, other]
