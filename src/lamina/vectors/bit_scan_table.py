"""Store a growing table of vectors in two bits per dimension: approximate search in a fraction of the memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.bit_scan import scan_cosines, scan_cosines_of, to_planes, to_scan_query
from lamina.vectors.levels import Floats, LevelRows, QueryVector
from lamina.vectors.vector_table import VectorTable, grow_array, rows_of_runs

Numbers = NDArray[np.int64]

_BATCH_RUNS = 4096


class ScanTable:
    """Runs of vectors, one run per text: its chunks are adjacent, and the nearest chunk counts."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._words, self._factors = to_planes(np.empty((0, width), dtype=np.float32))
        self._starts: Numbers = np.empty(0, dtype=np.int64)
        self._rows = self._runs = 0

    def __len__(self) -> int:
        return self._runs

    @property
    def byte_count(self) -> int:
        """Return the bytes of the stored rows."""
        return sum(array.nbytes for array in self.to_arrays().values())

    @classmethod
    def from_table(cls, table: VectorTable) -> ScanTable:
        """Return the vectors of a table in less memory."""
        scan_table = cls(table.width)
        for rows, sizes in table.iterate_batches(_BATCH_RUNS):
            scan_table.append(rows, sizes)
        return scan_table

    def append(self, rows: LevelRows, sizes: Numbers) -> None:
        """Add runs; `sizes` is the number of rows of each, at least one."""
        words, factors = to_planes(rows.levels * rows.scale[:, None])
        count, runs = self._rows + len(words), self._runs + len(sizes)
        self._words, self._factors = grow_array(self._words, count), grow_array(self._factors, count)
        self._starts = grow_array(self._starts, runs)
        self._words[self._rows : count], self._factors[self._rows : count] = words, factors
        self._starts[self._runs : runs] = self._rows + np.cumsum(sizes) - sizes
        self._rows, self._runs = count, runs

    def scan(self, query: QueryVector) -> Floats:
        """Return the estimated cosine of the nearest chunk of every run."""
        if not self._runs:
            return np.empty(0, dtype=np.float32)
        cosines = scan_cosines(
            self._words[: self._rows], self._factors[: self._rows], to_scan_query(_to_float_vector(query))
        )
        return cosines if self._runs == self._rows else np.maximum.reduceat(cosines, self._starts[: self._runs])

    def scan_runs(self, query: QueryVector, runs: Numbers) -> Floats:
        """Return the estimated cosine of the nearest chunk of some runs; 0 for a run below 0, which has none."""
        cosines = np.zeros(len(runs), dtype=np.float32)
        known = np.flatnonzero(runs >= 0)
        if len(known):
            rows, offsets = self._rows_of(runs[known])
            words, factors = self._words[: self._rows], self._factors[: self._rows]
            estimated = scan_cosines_of(words, factors, to_scan_query(_to_float_vector(query)), rows)
            cosines[known] = np.maximum.reduceat(estimated, offsets)
        return cosines

    def _rows_of(self, runs: Numbers) -> tuple[Numbers, Numbers]:
        """Return the rows of some runs one after the other, and where each run begins among them."""
        return rows_of_runs(self._starts[: self._runs], self._rows, runs)

    def keep_runs(self, runs: Numbers) -> Numbers:
        """Keep only these runs (below 0: none, each once) in this order; return their new numbers."""
        kept = runs[runs >= 0]
        numbers = np.full(len(runs), -1, dtype=np.int64)
        numbers[runs >= 0] = np.arange(len(kept))
        if len(kept) == self._runs and (kept == numbers[runs >= 0]).all():
            return numbers
        rows, offsets = self._rows_of(kept)
        self._words, self._factors = self._words[rows], self._factors[rows]
        self._starts, self._rows, self._runs = offsets.astype(np.int64), len(rows), len(kept)
        return numbers

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store."""
        return {
            "words": self._words[: self._rows],
            "factors": self._factors[: self._rows],
            "run_starts": self._starts[: self._runs],
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], lengths: Mapping[str, int], width: int) -> ScanTable:
        """Return the table from stored arrays, which may be longer than needed."""
        table = cls(width)
        table._words, table._factors, table._starts = arrays["words"], arrays["factors"], arrays["run_starts"]
        table._rows, table._runs = lengths["words"], lengths["run_starts"]
        return table


def _to_float_vector(query: QueryVector) -> Floats:
    return np.asarray(query.levels * np.float32(query.scale), dtype=np.float32)
