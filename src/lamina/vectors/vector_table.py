"""Store a growing table of vectors as levels, searched exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import Floats, LevelRows, Levels, QueryVector, cosines

BLOCK = 4096
"""The number of rows converted to float32 at a time: few enough for the processor's cache."""


class VectorTable:
    """Runs of vectors, one run per text: its chunks are adjacent, and the nearest chunk counts."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._levels: Levels = np.empty((0, width), dtype=np.int8)
        self._scale: Floats = np.empty(0, dtype=np.float32)
        self._uncertainty: Floats = np.empty(0, dtype=np.float32)
        self._starts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._rows = self._runs = 0

    def __len__(self) -> int:
        return self._runs

    @property
    def byte_count(self) -> int:
        """Return the bytes of the stored rows."""
        return self._rows * (self.width + self._scale.itemsize + self._uncertainty.itemsize) + 8 * self._runs

    def append(self, rows: LevelRows, sizes: NDArray[np.int64]) -> None:
        """Add runs; `sizes` is the number of rows of each, at least one."""
        starts = self._rows + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        count, runs = len(rows.scale), len(sizes)
        self._levels = grow_array(self._levels, self._rows + count)
        self._scale = grow_array(self._scale, self._rows + count)
        self._uncertainty = grow_array(self._uncertainty, self._rows + count)
        self._starts = grow_array(self._starts, self._runs + runs)
        self._levels[self._rows : self._rows + count] = rows.levels
        self._scale[self._rows : self._rows + count] = rows.scale
        self._uncertainty[self._rows : self._rows + count] = rows.uncertainty
        self._starts[self._runs : self._runs + runs] = starts
        self._rows += count
        self._runs += runs

    def scan(self, query: QueryVector) -> Floats:
        """Return the cosine of the nearest chunk of every run."""
        if not self._runs:
            return np.empty(0, dtype=np.float32)
        similarities = np.empty(self._rows, dtype=np.float32)
        for start in range(0, self._rows, BLOCK):
            end = min(start + BLOCK, self._rows)
            similarities[start:end] = cosines(self._select_rows(slice(start, end)), query)
        return np.maximum.reduceat(similarities, self._starts[: self._runs])

    def scan_runs(self, query: QueryVector, runs: NDArray[np.int64]) -> Floats:
        """Return the cosine of the nearest chunk of some runs; 0 for a run below 0, which has none."""
        best = np.zeros(len(runs), dtype=np.float32)
        known = np.flatnonzero(runs >= 0)
        if not len(known):
            return best
        rows, offsets = rows_of_runs(self._starts[: self._runs], self._rows, runs[known])
        similarities = cosines(self._select_rows(rows), query)
        best[known] = np.maximum.reduceat(similarities, offsets)
        return best

    def iterate_batches(self, batch_runs: int) -> Iterator[tuple[LevelRows, NDArray[np.int64]]]:
        """Yield all runs in batches, with the number of rows of each."""
        for first in range(0, self._runs, batch_runs):
            runs = np.arange(first, min(first + batch_runs, self._runs))
            rows, offsets = rows_of_runs(self._starts[: self._runs], self._rows, runs)
            yield self._select_rows(rows), np.diff(offsets, append=len(rows))

    def _select_rows(self, rows: slice | NDArray[np.int64]) -> LevelRows:
        return LevelRows(self._levels[rows], self._scale[rows], self._uncertainty[rows])


def rows_of_runs(
    starts: NDArray[np.int64], count: int, runs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of some runs one after the other, and where each run begins among them; `count` rows in all."""
    ends = np.where(runs + 1 < len(starts), starts[np.minimum(runs + 1, len(starts) - 1)], count)
    sizes = ends - starts[runs]
    offsets = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts[runs] - offsets, sizes), offsets


def grow_array(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """Return the array with space for so many rows, at least doubled so that adding one at a time stays cheap."""
    if needed <= len(array):
        return array
    larger = np.empty((max(needed, 2 * len(array), 64), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
