"""Clusters of vectors by average linkage: a vector belongs where it is near the others on the whole, so that no chain
of neighbours ties together what has nothing in common.

Two groups whose mean cosine is high have a pair that is as near, so whatever average linkage joins hangs together by
near pairs. Those are found first, and the linkage is worked out in each connected part by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lamina.dream.neighbours import Numbers, Pairs, Points, near_pairs, to_points
from lamina.vectors.levels import Floats

NEAR = 0.8
"""The mean cosine between two groups above which they are one."""
FEWEST = 5
LARGEST = 1500
"""A part grows no larger: beyond, its weaker links are cut."""
_AT_ONCE = 100_000

Cosines = NDArray[np.float64]


def clusters(vectors: Floats, near: float = NEAR, fewest: int = FEWEST) -> list[tuple[int, ...]]:
    """The rows of each cluster of so many or more, the most central first; which they are hangs on no order of rows."""
    rows = np.flatnonzero(np.abs(vectors).max(axis=1, initial=0.0) > 0)
    if len(rows) < fewest:
        return []
    points, copies = _distinct(to_points(vectors[rows]))
    counts = np.array([len(copy_) for copy_ in copies])
    found = []
    for part in _parts(len(points), near_pairs(points, near)):
        if counts[part].sum() >= fewest:
            found += _linked(points, part, counts[part], near, fewest)
    told = [tuple(int(row) for point in each for row in rows[copies[point]]) for each in found]
    return sorted(told, key=lambda each: (-len(each), min(each)))


def _distinct(points: Points) -> tuple[Points, list[Numbers]]:
    """Every vector once, in an order of their own, and the rows of each."""
    levels, first, back = np.unique(points.levels, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(back.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(back.reshape(-1), minlength=len(levels)))[:-1]
    return Points(levels, points.lengths[first]), list(np.split(order, ends))


class _Pieces:
    """Rows that are being joined, each piece known by its least row."""

    def __init__(self, count: int) -> None:
        self._head, self._size = list(range(count)), [1] * count

    def join(self, one: int, other: int) -> None:
        """Make one piece of two, unless it would be too large."""
        low, high = sorted((self._head_of(one), self._head_of(other)))
        if low != high and self._size[low] + self._size[high] <= LARGEST:
            self._head[high], self._size[low] = low, self._size[low] + self._size[high]

    def heads(self) -> Numbers:
        """The piece of every row."""
        head = np.array(self._head)
        while not np.array_equal(head, head[head]):
            head = head[head]
        return head

    def _head_of(self, row: int) -> int:
        head = self._head
        while head[row] != row:
            head[row] = row = head[head[row]]
        return row


def _parts(count: int, pairs: Pairs) -> list[Numbers]:
    """What hangs together by the pairs, in pieces that are small enough; the nearest are joined first."""
    pieces, order = _Pieces(count), np.lexsort((pairs.other, pairs.one, -pairs.cosine))
    for start in range(0, len(order), _AT_ONCE):
        batch, heads = order[start : start + _AT_ONCE], pieces.heads()
        apart = batch[heads[pairs.one[batch]] != heads[pairs.other[batch]]]
        for one, other in zip(pairs.one[apart].tolist(), pairs.other[apart].tolist(), strict=True):
            pieces.join(one, other)
    heads = pieces.heads()
    order = np.argsort(heads, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(heads[order])) + 1)


def _linked(points: Points, part: Numbers, counts: Numbers, near: float, fewest: int) -> list[list[int]]:
    cosines = points.cosines(part)
    groups = [list(range(len(part)))] if cosines.min() > near else average_linkage(cosines.copy(), counts, near)
    found = []
    for group in groups:
        if counts[group].sum() >= fewest:
            among = cosines[np.ix_(group, group)] @ counts[group]
            central = np.lexsort((np.array(group), -np.round(among, 9)))
            found.append([int(part[group[each]]) for each in central])
    return found


@dataclass(slots=True)
class _Groups:
    """Groups that are still being joined: their mean cosines, how many vectors each holds, and which rows."""

    means: Cosines
    counts: NDArray[np.float64]
    rows: dict[int, list[int]]

    def nearest(self, group: int, before: int | None) -> int:
        """The nearest other group; of equally near ones the one we come from, so that the way ends."""
        best = int(np.argmax(self.means[group]))
        return before if before is not None and self.means[group, before] >= self.means[group, best] else best

    def leave(self, group: int) -> list[int]:
        self.means[group, :] = self.means[:, group] = -np.inf
        return self.rows.pop(group)

    def join(self, one: int, other: int) -> None:
        total = self.counts[one] + self.counts[other]
        mean = (self.means[one] * self.counts[one] + self.means[other] * self.counts[other]) / total
        self.rows[one] += self.leave(other)
        mean[[one, other]] = -np.inf
        self.means[one, :] = self.means[:, one] = mean
        self.counts[one] = total


def average_linkage(cosines: Cosines, counts: Sequence[int] | Numbers, near: float) -> list[list[int]]:
    """The groups that average linkage joins above a mean cosine; `counts` is how many vectors each row stands for.

    From group to nearest group until two are nearest to each other: those are joined. What has nothing near never will
    have, for a mean is never nearer than the nearest of what it is the mean of.
    """
    np.fill_diagonal(cosines, -np.inf)
    groups = _Groups(cosines, np.asarray(counts, np.float64).copy(), {row: [row] for row in range(len(cosines))})
    done: list[list[int]] = []
    way: list[int] = []
    while groups.rows:
        way = way or [next(iter(groups.rows))]
        tip, before = way[-1], way[-2] if len(way) > 1 else None
        best = groups.nearest(tip, before)
        if groups.means[tip, best] <= near:
            done.append(sorted(groups.leave(tip)))
            way.pop()
        elif best == before:
            del way[-2:]
            groups.join(before, tip)
        else:
            way.append(best)
    return done
