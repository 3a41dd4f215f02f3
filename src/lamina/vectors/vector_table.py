"""Growing tables of vectors, each a run of rows: one of levels that is searched exactly, one of two bits that is
scanned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.bit_scan import scan_cosines, scan_cosines_of, to_planes, to_scan_query
from lamina.vectors.integer_vectors import Floats, LevelRows, QueryVector, cosines

Numbers: TypeAlias = NDArray[np.int64]

BLOCK = 4096
"""The number of rows converted to float32 at a time: few enough for the processor's cache."""


class RunTable(ABC):
    """Runs of vectors, one run per text: its chunks are adjacent, and the nearest chunk counts.

    `_columns` are the arrays of the rows, longer than needed, so that adding rows is cheap.
    """

    def __init__(self, **columns: NDArray[Any]) -> None:
        self._columns = columns
        self._starts: Numbers = np.empty(0, dtype=np.int64)
        self._rows = self._runs = 0

    def __len__(self) -> int:
        return self._runs

    @property
    def byte_count(self) -> int:
        """Return the bytes of the stored rows."""
        return sum(array.nbytes for array in self.to_arrays().values())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store."""
        columns = {name: column[: self._rows] for name, column in self._columns.items()}
        return {**columns, "run_starts": self._starts[: self._runs]}

    def scan(self, query: QueryVector) -> Floats:
        """Return the cosine of the nearest chunk of every run."""
        if not self._runs:
            return np.empty(0, dtype=np.float32)
        similarities = self._scan_rows(query)
        if self._runs == self._rows:
            return similarities
        return np.maximum.reduceat(similarities, self._starts[: self._runs])

    def scan_runs(self, query: QueryVector, runs: Numbers) -> Floats:
        """Return the cosine of the nearest chunk of some runs; 0 for a run below 0, which has none."""
        best = np.zeros(len(runs), dtype=np.float32)
        known = np.flatnonzero(runs >= 0)
        if len(known):
            rows, offsets = self._rows_of(runs[known])
            best[known] = np.maximum.reduceat(self._compare_rows(query, rows), offsets)
        return best

    @abstractmethod
    def append(self, rows: LevelRows, sizes: Numbers) -> None:
        """Add runs; `sizes` is the number of rows of each, at least one."""

    @abstractmethod
    def _scan_rows(self, query: QueryVector) -> Floats:
        """Return the cosine of every row."""

    @abstractmethod
    def _compare_rows(self, query: QueryVector, rows: Numbers) -> Floats:
        """Return the cosine of some rows, in the given order."""

    def _append_rows(self, sizes: Numbers, **columns: NDArray[Any]) -> None:
        count, runs = self._rows + int(sizes.sum()), self._runs + len(sizes)
        for name, values in columns.items():
            self._columns[name] = grow_array(self._columns[name], count)
            self._columns[name][self._rows : count] = values
        self._starts = grow_array(self._starts, runs)
        self._starts[self._runs : runs] = self._rows + np.cumsum(sizes) - sizes
        self._rows, self._runs = count, runs

    def _rows_of(self, runs: Numbers) -> tuple[Numbers, Numbers]:
        """Return the rows of some runs one after the other, and where each run begins among them."""
        starts = self._starts[: self._runs]
        ends = np.where(runs + 1 < len(starts), starts[np.minimum(runs + 1, len(starts) - 1)], self._rows)
        sizes = ends - starts[runs]
        offsets = np.cumsum(sizes) - sizes
        return np.arange(int(sizes.sum())) + np.repeat(starts[runs] - offsets, sizes), offsets


class VectorTable(RunTable):
    """Vectors as levels, compared exactly."""

    def __init__(self, width: int) -> None:
        self.width = width
        empty = np.empty(0, dtype=np.float32)
        super().__init__(levels=np.empty((0, width), dtype=np.int8), scale=empty, uncertainty=empty)

    def append(self, rows: LevelRows, sizes: Numbers) -> None:
        self._append_rows(sizes, levels=rows.levels, scale=rows.scale, uncertainty=rows.uncertainty)

    def iterate_batches(self, batch_runs: int) -> Iterator[tuple[LevelRows, Numbers]]:
        """Yield all runs in batches, with the number of rows of each."""
        for first in range(0, self._runs, batch_runs):
            rows, offsets = self._rows_of(np.arange(first, min(first + batch_runs, self._runs)))
            yield self._select_rows(rows), np.diff(offsets, append=len(rows))

    def _scan_rows(self, query: QueryVector) -> Floats:
        similarities = np.empty(self._rows, dtype=np.float32)
        for start in range(0, self._rows, BLOCK):
            block = slice(start, min(start + BLOCK, self._rows))
            similarities[block] = cosines(self._select_rows(block), query)
        return similarities

    def _compare_rows(self, query: QueryVector, rows: Numbers) -> Floats:
        return cosines(self._select_rows(rows), query)

    def _select_rows(self, rows: slice | Numbers) -> LevelRows:
        return LevelRows(**{name: column[rows] for name, column in self._columns.items()})


def grow_array(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """Return the array with space for so many rows, at least doubled so that adding one at a time stays cheap."""
    if needed <= len(array):
        return array
    larger = np.empty((max(needed, 2 * len(array), 64), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


_BATCH_RUNS = 4096


class ScanTable(RunTable):
    """Vectors in two bits per dimension; their cosines are estimates."""

    def __init__(self, width: int) -> None:
        words, factors = to_planes(np.empty((0, width), dtype=np.float32))
        super().__init__(words=words, factors=factors)

    @classmethod
    def from_table(cls, table: VectorTable) -> ScanTable:
        """Return the vectors of a table in less memory."""
        scan_table = cls(table.width)
        for rows, sizes in table.iterate_batches(_BATCH_RUNS):
            scan_table.append(rows, sizes)
        return scan_table

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], lengths: Mapping[str, int], width: int) -> ScanTable:
        """Return the table from stored arrays, which may be longer than needed."""
        table = cls(width)
        table._columns = {name: arrays[name] for name in table._columns}
        table._starts, table._rows, table._runs = arrays["run_starts"], lengths["words"], lengths["run_starts"]
        return table

    def append(self, rows: LevelRows, sizes: Numbers) -> None:
        words, factors = to_planes(rows.levels * rows.scale[:, None])
        self._append_rows(sizes, words=words, factors=factors)

    def keep_runs(self, runs: Numbers) -> Numbers:
        """Keep only these runs (below 0: none, each once) in this order; return their new numbers."""
        occupied = runs[runs >= 0]
        numbers = np.full(len(runs), -1, dtype=np.int64)
        numbers[runs >= 0] = np.arange(len(occupied))
        if len(occupied) == self._runs and (occupied == numbers[runs >= 0]).all():
            return numbers
        rows, offsets = self._rows_of(occupied)
        self._columns = {name: column[rows] for name, column in self._columns.items()}
        self._starts, self._rows, self._runs = offsets.astype(np.int64), len(rows), len(occupied)
        return numbers

    def _scan_rows(self, query: QueryVector) -> Floats:
        words, factors = (column[: self._rows] for column in self._columns.values())
        return scan_cosines(words, factors, to_scan_query(_to_float_vector(query)))

    def _compare_rows(self, query: QueryVector, rows: Numbers) -> Floats:
        words, factors = (column[: self._rows] for column in self._columns.values())
        return scan_cosines_of(words, factors, to_scan_query(_to_float_vector(query)), rows)


def _to_float_vector(query: QueryVector) -> Floats:
    return np.asarray(query.levels * np.float32(query.scale), dtype=np.float32)
