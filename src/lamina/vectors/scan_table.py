"""A growing table of vectors in two bits a dimension: about how near each is, at a fraction of the room."""

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
    """Runs of vectors, a run a text: its chunks stand side by side and the nearest one counts."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._words, self._factors = to_planes(np.empty((0, width), dtype=np.float32))
        self._starts: Numbers = np.empty(0, dtype=np.int64)
        self._rows = self._runs = 0

    def __len__(self) -> int:
        return self._runs

    @property
    def held(self) -> int:
        """Bytes of the rows that are there."""
        return sum(each.nbytes for each in self.saved().values())

    @classmethod
    def of_table(cls, table: VectorTable) -> ScanTable:
        """The same vectors, in less room."""
        made = cls(table.width)
        for rows, sizes in table.parts(_AT_ONCE):
            made.append(rows, sizes)
        return made

    def append(self, rows: Rows, sizes: Numbers) -> None:
        """Add runs; `sizes` is how many rows each has, at least one."""
        words, factors = to_planes(rows.levels * rows.scale[:, None])
        count, runs = self._rows + len(words), self._runs + len(sizes)
        self._words, self._factors = grown(self._words, count), grown(self._factors, count)
        self._starts = grown(self._starts, runs)
        self._words[self._rows : count], self._factors[self._rows : count] = words, factors
        self._starts[self._runs : runs] = self._rows + np.cumsum(sizes) - sizes
        self._rows, self._runs = count, runs

    def scan(self, asked: Asked) -> Floats:
        """About the cosine of the nearest chunk of every run."""
        if not self._runs:
            return np.empty(0, dtype=np.float32)
        found = estimates(self._words[: self._rows], self._factors[: self._rows], to_question(_vector(asked)))
        return found if self._runs == self._rows else np.maximum.reduceat(found, self._starts[: self._runs])

    def of(self, asked: Asked, runs: Numbers) -> Floats:
        """About the cosine of the nearest chunk of some runs; a run below 0 has none and gives 0."""
        found = np.zeros(len(runs), dtype=np.float32)
        known = np.flatnonzero(runs >= 0)
        if len(known):
            rows, offsets = self._rows_of(runs[known])
            words, factors = self._words[: self._rows], self._factors[: self._rows]
            near = estimates_of(words, factors, to_question(_vector(asked)), rows)
            found[known] = np.maximum.reduceat(near, offsets)
        return found

    def _rows_of(self, runs: Numbers) -> tuple[Numbers, Numbers]:
        """The rows of some runs one after the other, and where each run begins among them."""
        return rows_of_runs(self._starts[: self._runs], self._rows, runs)

    def arrange(self, runs: Numbers) -> Numbers:
        """Drop all runs but these (below 0: none, each once) and put them in this order; returns their new numbers."""
        kept = runs[runs >= 0]
        found = np.full(len(runs), -1, dtype=np.int64)
        found[runs >= 0] = np.arange(len(kept))
        if len(kept) == self._runs and (kept == found[runs >= 0]).all():
            return found
        rows, offsets = self._rows_of(kept)
        self._words, self._factors = self._words[rows], self._factors[rows]
        self._starts, self._rows, self._runs = offsets.astype(np.int64), len(rows), len(kept)
        return found

    def saved(self) -> dict[str, NDArray[Any]]:
        """What has to be kept."""
        return {
            "words": self._words[: self._rows],
            "factors": self._factors[: self._rows],
            "run_starts": self._starts[: self._runs],
        }

    @classmethod
    def of_saved(cls, arrays: Mapping[str, NDArray[Any]], lengths: Mapping[str, int], width: int) -> ScanTable:
        """The table that was kept, in arrays with room to spare."""
        made = cls(width)
        made._words, made._factors, made._starts = arrays["words"], arrays["factors"], arrays["run_starts"]
        made._rows, made._runs = lengths["words"], lengths["run_starts"]
        return made


def _vector(asked: Asked) -> Floats:
    return np.asarray(asked.levels * np.float32(asked.scale), dtype=np.float32)
