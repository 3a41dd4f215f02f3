"""Finds near pairs of vectors without comparing all of them.

Random-projection hashing: each vector goes into the bucket of the direction it projects on most, and only vectors in
the same bucket are compared. A bucket that is too full is split by other directions, so the work grows linearly.
Several rounds find what one misses.

All sums use integers, so the result does not depend on their order.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import MAX_EXACT, ROW_LEVELS, Floats

IntArray: TypeAlias = NDArray[np.int64]

HASH_ROUNDS = 16
DIRECTIONS = 32
"""The most directions of a split: fewer if fewer buckets suffice, since each separates some near vectors."""
MAX_BUCKET = 384
"""A bucket with more vectors is split again."""
MAX_DEPTH = 6
"""The most splits; a bucket that is still too full is then cut along one direction."""
MAX_NEIGHBOURS = 16
"""The most neighbours of a vector that one bucket yields: enough to keep a cluster connected."""
_BLOCK = 8192


@dataclass(frozen=True, slots=True)
class QuantisedVectors:
    """Vectors as integers, small enough for exact dot products, and the length of each."""

    levels: NDArray[np.int8]
    lengths: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.lengths)

    def cosines(self, rows: IntArray) -> NDArray[np.float64]:
        """Return the cosine of each pair of these rows."""
        chosen = self.levels[rows].astype(np.float32)
        lengths = self.lengths[rows]
        return np.asarray((chosen @ chosen.T).astype(np.float64) / (lengths[:, None] * lengths))


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Pairs of rows, the lower one first, and their cosines."""

    first: IntArray
    second: IntArray
    cosine: Floats


def quantise_vectors(vectors: Floats) -> QuantisedVectors:
    """Quantise non-zero vectors to integers; a vector's largest entry sets its scale."""
    most = min(ROW_LEVELS, math.isqrt(MAX_EXACT // max(1, vectors.shape[1])))
    scale = np.abs(vectors).max(axis=1, initial=0.0).astype(np.float32)
    levels = np.rint(vectors / scale[:, None] * np.float32(most)).astype(np.int8)
    squares = np.concatenate(
        [
            np.square(levels[start : start + _BLOCK].astype(np.int64)).sum(axis=1)
            for start in range(0, max(1, len(levels)), _BLOCK)
        ]
    )
    return QuantisedVectors(levels, np.sqrt(squares.astype(np.float64)))


def find_near_pairs(points: QuantisedVectors, min_cosine: float) -> NearPairs:
    """Return pairs above a cosine: nearly all of them, and in dense regions the nearest."""
    count = len(points)
    keys, cosines = [np.empty(0, np.int64)], [np.empty(0, np.float32)]
    for round_number in range(HASH_ROUNDS):
        for bucket in _buckets(points, np.arange(count), round_number, 0):
            first_rows, second_rows, near_cosines = _compare_bucket(points, bucket, min_cosine)
            keys.append(first_rows * count + second_rows)
            cosines.append(near_cosines)
    key, first = np.unique(np.concatenate(keys), return_index=True)
    return NearPairs(key // max(1, count), key % max(1, count), np.concatenate(cosines)[first])


def _buckets(points: QuantisedVectors, rows: IntArray, round_number: int, depth: int) -> Iterator[IntArray]:
    if len(rows) <= MAX_BUCKET:
        if len(rows) > 1:
            yield rows
        return
    needed = min(DIRECTIONS, math.ceil(2 * len(rows) / MAX_BUCKET))
    leanings = _projections(points, rows, _directions(points.levels.shape[1], round_number, depth)[:, :needed])
    if depth == MAX_DEPTH:
        ordered = rows[np.argsort(leanings[:, 0], kind="stable")]
        yield from (ordered[start : start + MAX_BUCKET] for start in range(0, len(ordered), MAX_BUCKET))
        return
    most = np.argmax(leanings, axis=1)
    order = np.argsort(most, kind="stable")
    ends = np.cumsum(np.bincount(most, minlength=needed))[:-1]
    for part in np.split(rows[order], ends):
        yield from _buckets(points, part, round_number, depth + 1)


def _projections(points: QuantisedVectors, rows: IntArray, directions: Floats) -> NDArray[np.float64]:
    """Return how far each row projects on each direction, relative to the median: what all share is no information."""
    parts = []
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        parts.append((points.levels[block].astype(np.float32) @ directions) / points.lengths[block, None])
    projections = np.concatenate(parts)
    return np.asarray(projections - np.median(projections, axis=0), np.float64)


def _directions(width: int, round_number: int, depth: int) -> Floats:
    """Return random signs from a hash, the same on every machine."""
    drawn = hashlib.shake_256(f"{round_number}/{depth}".encode()).digest(width * DIRECTIONS // 8)
    bits = np.unpackbits(np.frombuffer(drawn, np.uint8)).reshape(width, DIRECTIONS)
    return np.asarray(bits, np.float32) * np.float32(2) - np.float32(1)


def _compare_bucket(points: QuantisedVectors, bucket: IntArray, min_cosine: float) -> tuple[IntArray, IntArray, Floats]:
    chosen = points.levels[bucket].astype(np.float32)
    inverse_lengths = (1 / points.lengths[bucket]).astype(np.float32)
    cosines = (chosen @ chosen.T) * (inverse_lengths[:, None] * inverse_lengths)
    np.fill_diagonal(cosines, -1)
    is_near = cosines > np.float32(min_cosine)
    crowded_rows = np.flatnonzero(np.count_nonzero(is_near, axis=1) > MAX_NEIGHBOURS)
    if len(crowded_rows):
        dropped = np.argsort(-cosines[crowded_rows], axis=1, kind="stable")[:, MAX_NEIGHBOURS:]
        is_near[crowded_rows[:, None], dropped] = False
        is_near |= is_near.T
    first, second = np.nonzero(np.triu(is_near))
    low, high = np.minimum(bucket[first], bucket[second]), np.maximum(bucket[first], bucket[second])
    return low, high, cosines[first, second]
