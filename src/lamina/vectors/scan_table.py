"""Store a growing table of vectors in two bits per dimension: approximate search in a fraction of the memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lamina.vectors.levels import Asked, Floats, Rows
from lamina.vectors.scan import estimates, estimates_of, to_planes, to_question
from lamina.vectors.table import VectorTable, grown, rows_of_runs

Numbers = NDArray[np.int64]

_AT_ONCE = 4096


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
    def held(self) -> int:
        """Return the bytes of the stored rows."""
        return sum(array.nbytes for array in self.saved().values())

    @classmethod
    def of_table(cls, table: VectorTable) -> ScanTable:
        """Return the vectors of a table in less memory."""
        scan_table = cls(table.width)
        for rows, sizes in table.parts(_AT_ONCE):
            scan_table.append(rows, sizes)
        return scan_table

    def append(self, rows: Rows, sizes: Numbers) -> None:
        """Add runs; `sizes` is the number of rows of each, at least one."""
        words, factors = to_planes(rows.levels * rows.scale[:, None])
        count, runs = self._rows + len(words), self._runs + len(sizes)
        self._words, self._factors = grown(self._words, count), grown(self._factors, count)
        self._starts = grown(self._starts, runs)
        self._words[self._rows : count], self._factors[self._rows : count] = words, factors
        self._starts[self._runs : runs] = self._rows + np.cumsum(sizes) - sizes
        self._rows, self._runs = count, runs

    def scan(self, asked: Asked) -> Floats:
        """Return the estimated cosine of the nearest chunk of every run."""
        if not self._runs:
            return np.empty(0, dtype=np.float32)
        cosines = estimates(self._words[: self._rows], self._factors[: self._rows], to_question(_vector(asked)))
        return cosines if self._runs == self._rows else np.maximum.reduceat(cosines, self._starts[: self._runs])

    def of(self, asked: Asked, runs: Numbers) -> Floats:
        """Return the estimated cosine of the nearest chunk of some runs; 0 for a run below 0, which has none."""
        cosines = np.zeros(len(runs), dtype=np.float32)
        known = np.flatnonzero(runs >= 0)
        if len(known):
            rows, offsets = self._rows_of(runs[known])
            words, factors = self._words[: self._rows], self._factors[: self._rows]
            estimated = estimates_of(words, factors, to_question(_vector(asked)), rows)
            cosines[known] = np.maximum.reduceat(estimated, offsets)
        return cosines

    def _rows_of(self, runs: Numbers) -> tuple[Numbers, Numbers]:
        """Return the rows of some runs one after the other, and where each run begins among them."""
        return rows_of_runs(self._starts[: self._runs], self._rows, runs)

    def arrange(self, runs: Numbers) -> Numbers:
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

    def saved(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store."""
        return {
            "words": self._words[: self._rows],
            "factors": self._factors[: self._rows],
            "run_starts": self._starts[: self._runs],
        }

    @classmethod
    def of_saved(cls, arrays: Mapping[str, NDArray[Any]], lengths: Mapping[str, int], width: int) -> ScanTable:
        """Return the table from stored arrays, which may be longer than needed."""
        table = cls(width)
        table._words, table._factors, table._starts = arrays["words"], arrays["factors"], arrays["run_starts"]
        table._rows, table._runs = lengths["words"], lengths["run_starts"]
        return table


def _vector(asked: Asked) -> Floats:
    return np.asarray(asked.levels * np.float32(asked.scale), dtype=np.float32)
