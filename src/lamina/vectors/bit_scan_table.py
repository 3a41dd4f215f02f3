"""Store a growing table of vectors in two bits per dimension: approximate search in a fraction of the memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.bit_scan import scan_cosines, scan_cosines_of, to_planes, to_scan_query
from lamina.vectors.integer_vectors import Floats, LevelRows, QueryVector
from lamina.vectors.vector_table import Numbers, RunTable, VectorTable

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
