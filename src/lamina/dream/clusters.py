"""Clusters vectors by average linkage: a vector joins a group if it is near its members on average, so that no chain of
neighbours connects unrelated vectors.

Two groups with a high mean cosine contain a pair that is at least as near. So near pairs are found first, and linkage
runs in each connected part separately.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.integer_vectors import MAX_EXACT, ROW_LEVELS, Floats

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


MIN_MEAN_COSINE = 0.8
"""The mean cosine between two groups above which they are joined."""
MIN_SIZE = 5
MAX_PART_SIZE = 1500
"""The most vectors in a connected part: weaker links are cut beyond it."""
_BATCH_SIZE = 100_000

Cosines = NDArray[np.float64]


def find_clusters(
    vectors: Floats, min_cosine: float = MIN_MEAN_COSINE, min_size: int = MIN_SIZE
) -> list[tuple[int, ...]]:
    """Return the rows of each cluster with at least `min_size` vectors, the most central row first.

    The result does not depend on the order of the rows.
    """
    rows = np.flatnonzero(np.abs(vectors).max(axis=1, initial=0.0) > 0)
    if len(rows) < min_size:
        return []
    points, copies = _deduplicate(quantise_vectors(vectors[rows]))
    counts = np.array([len(rows_of_point) for rows_of_point in copies])
    groups = []
    for part in _connected_parts(len(points), find_near_pairs(points, min_cosine)):
        if counts[part].sum() >= min_size:
            groups += _cluster_part(points, part, counts[part], min_cosine, min_size)
    clusters_of_rows = [tuple(int(row) for point in group for row in rows[copies[point]]) for group in groups]
    return sorted(clusters_of_rows, key=lambda group: (-len(group), min(group)))


def _deduplicate(points: QuantisedVectors) -> tuple[QuantisedVectors, list[IntArray]]:
    """Return each distinct vector once, in sorted order, with the rows that have it."""
    levels, first, inverse = np.unique(points.levels, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(inverse.reshape(-1), minlength=len(levels)))[:-1]
    return QuantisedVectors(levels, points.lengths[first]), list(np.split(order, ends))


class _Components:
    """A union-find over rows with bounded component size; the lowest row identifies a component."""

    def __init__(self, count: int) -> None:
        self._head, self._size = list(range(count)), [1] * count

    def join(self, first: int, second: int) -> None:
        """Join two components unless the result would be too large."""
        low, high = sorted((self._head_of(first), self._head_of(second)))
        if low != high and self._size[low] + self._size[high] <= MAX_PART_SIZE:
            self._head[high], self._size[low] = low, self._size[low] + self._size[high]

    def heads(self) -> IntArray:
        """Return the component of every row."""
        head = np.array(self._head)
        while not np.array_equal(head, head[head]):
            head = head[head]
        return head

    def _head_of(self, row: int) -> int:
        head = self._head
        while head[row] != row:
            head[row] = row = head[head[row]]
        return row


def _connected_parts(count: int, pairs: NearPairs) -> list[IntArray]:
    """Return the components that pairs connect, bounded in size; the nearest pairs are joined first."""
    components, order = _Components(count), np.lexsort((pairs.second, pairs.first, -pairs.cosine))
    for start in range(0, len(order), _BATCH_SIZE):
        batch, heads = order[start : start + _BATCH_SIZE], components.heads()
        separate = batch[heads[pairs.first[batch]] != heads[pairs.second[batch]]]
        for first, second in zip(pairs.first[separate].tolist(), pairs.second[separate].tolist(), strict=True):
            components.join(first, second)
    heads = components.heads()
    order = np.argsort(heads, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(heads[order])) + 1)


def _cluster_part(
    points: QuantisedVectors, part: IntArray, counts: IntArray, min_cosine: float, min_size: int
) -> list[list[int]]:
    cosines = points.cosines(part)
    groups = (
        [list(range(len(part)))] if cosines.min() > min_cosine else average_linkage(cosines.copy(), counts, min_cosine)
    )
    clusters = []
    for group in groups:
        if counts[group].sum() >= min_size:
            total_cosines = cosines[np.ix_(group, group)] @ counts[group]
            by_centrality = np.lexsort((np.array(group), -np.round(total_cosines, 9)))
            clusters.append([int(part[group[n]]) for n in by_centrality])
    return clusters


@dataclass(slots=True)
class _LinkageGroups:
    """Groups during linkage: their mean cosines, how many vectors each has, and which rows."""

    means: Cosines
    counts: NDArray[np.float64]
    rows: dict[int, list[int]]

    def nearest(self, group: int, previous: int | None) -> int:
        """Return the nearest other group; on a tie the previous one, so that the chain ends."""
        best = int(np.argmax(self.means[group]))
        return previous if previous is not None and self.means[group, previous] >= self.means[group, best] else best

    def remove(self, group: int) -> list[int]:
        self.means[group, :] = self.means[:, group] = -np.inf
        return self.rows.pop(group)

    def join(self, first: int, second: int) -> None:
        total = self.counts[first] + self.counts[second]
        mean = (self.means[first] * self.counts[first] + self.means[second] * self.counts[second]) / total
        self.rows[first] += self.remove(second)
        mean[[first, second]] = -np.inf
        self.means[first, :] = self.means[:, first] = mean
        self.counts[first] = total


def average_linkage(cosines: Cosines, counts: Sequence[int] | IntArray, min_cosine: float) -> list[list[int]]:
    """Return the groups that average linkage joins above a mean cosine; `counts` are the vectors of each row.

    Nearest-neighbour chain: follow the nearest group until two are nearest to each other, and join them. A group
    without a near neighbour is final, because a mean is never nearer than the nearest of its members.
    """
    np.fill_diagonal(cosines, -np.inf)
    groups = _LinkageGroups(cosines, np.asarray(counts, np.float64).copy(), {row: [row] for row in range(len(cosines))})
    done: list[list[int]] = []
    chain: list[int] = []
    while groups.rows:
        chain = chain or [next(iter(groups.rows))]
        tip, previous = chain[-1], chain[-2] if len(chain) > 1 else None
        best = groups.nearest(tip, previous)
        if groups.means[tip, best] <= min_cosine:
            done.append(sorted(groups.remove(tip)))
            chain.pop()
        elif best == previous:
            del chain[-2:]
            groups.join(previous, tip)
        else:
            chain.append(best)
    return done
