"""A growing table of vectors as levels, searched exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import Asked, Floats, Levels, Rows, cosines

BLOCK = 4096
"""Rows turned into float32 at a time: small enough to stay in the processor's cache."""


class VectorTable:
    """Runs of vectors, a run a text: its chunks stand side by side and the nearest one counts."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._levels: Levels = np.empty((0, width), dtype=np.int8)
        self._scale: Floats = np.empty(0, dtype=np.float32)
        self._slack: Floats = np.empty(0, dtype=np.float32)
        self._starts: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._rows = self._runs = 0

    def __len__(self) -> int:
        return self._runs

    @property
    def held(self) -> int:
        """Bytes of the rows that are there."""
        return self._rows * (self.width + self._scale.itemsize + self._slack.itemsize) + 8 * self._runs

    def append(self, rows: Rows, sizes: NDArray[np.int64]) -> None:
        """Add runs; `sizes` is how many rows each has, at least one."""
        starts = self._rows + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        count, runs = len(rows.scale), len(sizes)
        self._levels = grown(self._levels, self._rows + count)
        self._scale = grown(self._scale, self._rows + count)
        self._slack = grown(self._slack, self._rows + count)
        self._starts = grown(self._starts, self._runs + runs)
        self._levels[self._rows : self._rows + count] = rows.levels
        self._scale[self._rows : self._rows + count] = rows.scale
        self._slack[self._rows : self._rows + count] = rows.slack
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
            found[start:end] = cosines(self._some(slice(start, end)), asked)
        return np.maximum.reduceat(found, self._starts[: self._runs])

    def of(self, asked: Asked, runs: NDArray[np.int64]) -> Floats:
        """The cosine of the nearest chunk of some runs; a run below 0 has none and gives 0."""
        found = np.zeros(len(runs), dtype=np.float32)
        known = np.flatnonzero(runs >= 0)
        if not len(known):
            return found
        rows, offsets = rows_of_runs(self._starts[: self._runs], self._rows, runs[known])
        near = cosines(self._some(rows), asked)
        found[known] = np.maximum.reduceat(near, offsets)
        return found

    def parts(self, at_once: int) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        """All runs, so many at a time, with how many rows each has."""
        for first in range(0, self._runs, at_once):
            runs = np.arange(first, min(first + at_once, self._runs))
            rows, offsets = rows_of_runs(self._starts[: self._runs], self._rows, runs)
            yield self._some(rows), np.diff(offsets, append=len(rows))

    def _some(self, rows: slice | NDArray[np.int64]) -> Rows:
        return Rows(self._levels[rows], self._scale[rows], self._slack[rows])


def rows_of_runs(
    starts: NDArray[np.int64], count: int, runs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of some runs one after the other, and where each run begins among them; `count` rows in all."""
    beyond = np.where(runs + 1 < len(starts), starts[np.minimum(runs + 1, len(starts) - 1)], count)
    sizes = beyond - starts[runs]
    offsets = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(starts[runs] - offsets, sizes), offsets


def grown(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """The array with room for so many rows, doubled so that adding one at a time stays cheap."""
    if needed <= len(array):
        return array
    grown = np.empty((max(needed, 2 * len(array), 64), *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
