"""A growing table of vectors as levels, searched exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import Asked, Floats, Levels, Rows, cosines

BLOCK = 4096
"""Rows turned into float32 at a time: small enough to stay in the processor's cache."""


class VectorTable:
    """Runs of vectors, a run a text: its chunks stand side by side and the nearest one counts."""

    def __init__(self, dimensions: int) -> None:
        self._levels: Levels = np.empty((0, dimensions), dtype=np.int8)
        self._scale: Floats = np.empty(0, dtype=np.float32)
        self._starts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._rows = self._runs = 0

    def __len__(self) -> int:
        return self._runs

    def append(self, rows: Rows, sizes: NDArray[np.int64]) -> None:
        """Add runs; `sizes` is how many rows each has, at least one."""
        starts = self._rows + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        count, runs = len(rows.scale), len(sizes)
        self._levels = _grown(self._levels, self._rows + count)
        self._scale = _grown(self._scale, self._rows + count)
        self._starts = _grown(self._starts, self._runs + runs)
        self._levels[self._rows : self._rows + count] = rows.levels
        self._scale[self._rows : self._rows + count] = rows.scale
        self._starts[self._runs : self._runs + runs] = starts
        self._rows += count
        self._runs += runs

    def scan(self, asked: Asked) -> Floats:
        """The cosine of the nearest chunk of every run."""
        if not self._runs:
            return np.empty(0, dtype=np.float32)
        found = np.empty(self._rows, dtype=np.float32)
        for start in range(0, self._rows, BLOCK):
            end = min(start + BLOCK, self._rows)
            found[start:end] = cosines(self._levels[start:end].astype(np.float32), self._scale[start:end], asked)
        return np.maximum.reduceat(found, self._starts[: self._runs])

    def of(self, asked: Asked, runs: NDArray[np.int64]) -> Floats:
        """The cosine of the nearest chunk of some runs; a run below 0 has none and gives 0."""
        found = np.zeros(len(runs), dtype=np.float32)
        known = np.flatnonzero(runs >= 0)
        if not len(known):
            return found
        starts = self._starts[runs[known]]
        ends = np.where(
            runs[known] + 1 < self._runs, self._starts[np.minimum(runs[known] + 1, self._runs - 1)], self._rows
        )
        sizes = ends - starts
        offsets = np.cumsum(sizes) - sizes
        rows = np.arange(sizes.sum()) + np.repeat(starts - offsets, sizes)
        near = cosines(self._levels[rows].astype(np.float32), self._scale[rows], asked)
        found[known] = np.maximum.reduceat(near, offsets)
        return found


def _grown(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """The array with room for so many rows, doubled so that adding one at a time stays cheap."""
    if needed <= len(array):
        return array
    grown = np.empty((max(needed, 2 * len(array), 64), *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
