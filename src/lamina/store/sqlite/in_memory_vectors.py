"""The vectors of one model: which texts it has encoded, and the cosine of each with a query.

While there are few, all are kept in memory and compared exactly. From `SearchLimits.scan_from` on, only two bits per
dimension are kept: they give approximate cosines, and the best candidates are read from the database and compared
exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from lamina.store.sqlite.array_files import Arrays, SavedArrays
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.store.sqlite.index import IndexState
from lamina.store.sqlite.passage_columns import RowNumbers, TextNumbers
from lamina.vectors.integer_vectors import Floats, QueryVector, fine_cosines
from lamina.vectors.stored_vectors import DamagedVectors, StoredVectors, to_search_rows, to_search_vectors, unpack
from lamina.vectors.vector_table import ScanTable, VectorTable, grow_array

Params = ParamSpec("Params")
T = TypeVar("T")

FEW_SHARE = 8
"""If fewer than one text in so many is compared, only those are, without a full scan."""
_SCAN_BATCH = 5000
_READ_BATCH = 500

_READ_SINCE = "SELECT id, digest, bits, data FROM vectors WHERE model=? AND id>? ORDER BY id LIMIT ?"
_READ_SOME = "SELECT id, bits, data FROM vectors WHERE id IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The number of texts from which on a model's vectors are scanned in two bits per dimension, and the number of
    passages from which on a search is saved for the next process."""

    scan_from: int = 20_000
    save_from: int = 20_000


SEARCH_LIMITS = SearchLimits()


class ModelVectors:
    """The vectors of one model, by the number of their text."""

    def __init__(self, db: Database, model: str, limits: SearchLimits = SEARCH_LIMITS) -> None:
        self._db, self._model, self._scan_from = db, model, limits.scan_from
        self._last = self._width = self._in_order = 0
        self._last_checked = -1
        self._count = 0
        self._vector_row_column: RowNumbers = np.empty(0, dtype=np.int64)
        self._table_row_column: RowNumbers = np.empty(0, dtype=np.int64)
        self._unplaced: dict[bytes, tuple[int, int]] = {}
        self._table: VectorTable | ScanTable | None = None
        self._to_recheck: dict[bytes, int] = {}
        self._moves: int | None = None
        self._scanned: tuple[QueryVector, Floats] | None = None
        self._compared: tuple[QueryVector, dict[int, float]] | None = None
        self.edition = self.unsaved_count = 0

    @property
    def is_exact(self) -> bool:
        """Return whether the cosines of a scan are exact already."""
        return not isinstance(self._table, ScanTable)

    @property
    def _vector_rows(self) -> RowNumbers:
        """Return the database row of each text; 0 for none."""
        return self._vector_row_column[: self._count]

    @property
    def _table_rows(self) -> RowNumbers:
        """Return the row of each text in the table; negative for none."""
        return self._table_row_column[: self._count]

    @property
    def bytes_held(self) -> int:
        """Return the number of bytes in memory."""
        return (
            self._vector_rows.nbytes
            + self._table_rows.nbytes
            + (self._table.byte_count if self._table is not None else 0)
        )

    def recheck(self, digest: bytes, number: int) -> None:
        """Check before the next query whether this text still has its vectors."""
        if number < len(self._vector_rows) and self._vector_rows[number]:
            self._to_recheck[digest] = number

    def catch_up(self, texts: TextNumbers, state: IndexState) -> None:
        """Add vectors computed since the last call, and make room for new texts."""
        is_changed = self._reset_if_moved(state.moves) | self._grow(texts)
        for digest, number in self._to_recheck.items():
            if not self._has_vector(digest):
                self._set_rows(number, 0, -1)
                is_changed = True
        self._to_recheck.clear()
        if state.last_vector != self._last_checked:
            for rows in self._read_since():
                self._add(rows, texts)
                is_changed = True
            self._last_checked = state.last_vector
        if is_changed:
            self._count_in_order(self._in_order)
            self._scanned = self._compared = None
            self.edition += 1

    def _reset_if_moved(self, moves: int) -> bool:
        """Reset the table if the precision of vectors was changed; return whether it was.

        A scan table is kept, since exact cosines are computed from the database.
        """
        previous, self._moves = self._moves, moves
        if self._moves == previous or previous is None:
            return False
        if isinstance(self._table, VectorTable):
            self._vector_rows[:], self._table_rows[:] = 0, -1
            self._table, self._last, self._last_checked, self._in_order = None, 0, -1, 0
            self._unplaced.clear()
        return True

    def _count_in_order(self, first: int = 0) -> None:
        """Count the first texts whose table row equals their number: those need no lookup."""
        strays = np.flatnonzero(self._table_rows[first:] != np.arange(first, self._count))
        self._in_order = first + int(strays[0]) if len(strays) else self._count

    def _grow(self, texts: TextNumbers) -> bool:
        """Make room for every text; assign vectors that were computed before the text had a number."""
        before, self._count = self._count, len(texts)
        if self._count == before:
            return False
        self._vector_row_column, self._table_row_column = (
            grow_array(self._vector_row_column, self._count),
            grow_array(self._table_row_column, self._count),
        )
        self._vector_rows[before:], self._table_rows[before:] = 0, -1
        for digest in list(self._unplaced):
            number = texts.number(digest)
            if number is not None and number >= before:
                self._set_rows(number, *self._unplaced.pop(digest))
        return True

    def _set_rows(self, number: int, vector_row: int, table_row: int) -> None:
        self._vector_row_column[number], self._table_row_column[number] = vector_row, table_row
        self._in_order = min(self._in_order, number)

    def _has_vector(self, digest: bytes) -> bool:
        row = self._db.one("SELECT 1 FROM vectors WHERE digest=? AND model=?", (digest, self._model))
        return row is not None

    def _read_since(self) -> Iterator[list[tuple[int, bytes, StoredVectors]]]:
        """Yield batches of vectors that were written since the last call."""
        while rows := self._db.rows(_READ_SINCE, (self._model, self._last, _SCAN_BATCH)):
            self._last = rows[-1][0]
            yield [(number, digest, StoredVectors(bits, data)) for number, digest, bits, data in rows]

    def _add(self, rows: Sequence[tuple[int, bytes, StoredVectors]], texts: TextNumbers) -> None:
        """Add vectors to the table."""
        stored = [packed for _, _, packed in rows]
        self._width = self._width or int.from_bytes(stored[0].data[:2], "little")
        first_row = len(self._table) if self._table is not None else 0
        self._append(stored)
        numbers = texts.numbers([digest for _, digest, _ in rows])
        for table_row, ((vector_row, digest, _), number) in enumerate(zip(rows, numbers, strict=True), first_row):
            if number is None:
                self._unplaced[digest] = vector_row, table_row
            else:
                self._set_rows(number, vector_row, table_row)
        self.unsaved_count += len(rows)

    def _append(self, packed: Sequence[StoredVectors]) -> None:
        rows, sizes = _checked(to_search_rows, packed, self._width)
        if self._table is None:
            self._table = VectorTable(self._width)
        if isinstance(self._table, VectorTable) and len(self._table) + len(packed) > self._scan_from:
            self._table = ScanTable.from_table(self._table)
        self._table.append(rows, sizes)

    def has_vectors(self, texts: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of the texts have a vector."""
        return np.asarray(self._vector_rows[texts] > 0)

    def approximate_cosines(self, query_vector: QueryVector, texts: NDArray[Any]) -> Floats:
        """Return the approximate cosine of each of these texts; NaN without a vector."""
        if self._table is None:
            return np.full(len(texts), np.nan, dtype=np.float32)
        if not self._was_scanned(query_vector) and FEW_SHARE * len(texts) < len(self._vector_rows):
            table_rows = self._table_rows[texts]
            return np.asarray(
                np.where(table_rows >= 0, self._table.scan_runs(query_vector, table_rows), np.float32(np.nan)),
                dtype=np.float32,
            )
        cosines: Floats = self.scan_all(query_vector)[texts]
        return cosines

    def scan_all(self, query_vector: QueryVector) -> Floats:
        """Return the approximate cosine of every text; cached for the same query."""
        if self._scanned is None or not self._was_scanned(query_vector):
            self._scanned = (
                query_vector,
                self._by_text(self._table.scan(query_vector) if self._table is not None else None),
            )
        return self._scanned[1]

    def _by_text(self, scanned: Floats | None) -> Floats:
        """Return the cosines of a scan ordered by text number."""
        in_order = self._in_order
        if scanned is not None and in_order == len(self._table_rows):
            return scanned[:in_order]
        cosines = np.full(len(self._table_rows), np.nan, dtype=np.float32)
        if scanned is not None:
            cosines[:in_order] = scanned[:in_order]
            others = in_order + np.flatnonzero(self._table_rows[in_order:] >= 0)
            cosines[others] = scanned[self._table_rows[others]]
        return cosines

    def _was_scanned(self, query_vector: QueryVector) -> bool:
        return self._scanned is not None and self._scanned[0] is query_vector

    def exact_cosines(self, query_vector: QueryVector, texts: NDArray[Any]) -> Floats:
        """Return the cosine of some texts, as exact as the stored precision allows; 0 without a vector."""
        table_rows = (
            np.where(texts >= 0, self._table_rows[texts], -1) if len(self._table_rows) else np.full(len(texts), -1)
        )
        if self._table is None:
            return np.zeros(len(texts), dtype=np.float32)
        if isinstance(self._table, VectorTable):
            return self._table.scan_runs(query_vector, table_rows)
        vector_rows: list[int] = np.where(table_rows >= 0, self._vector_rows[texts], 0).tolist()
        if self._compared is None or self._compared[0] is not query_vector:
            self._compared = query_vector, {0: 0.0}
        cosines = self._compared[1]
        self._compare_exactly(
            query_vector,
            [vector_row for vector_row in dict.fromkeys(vector_rows) if vector_row not in cosines],
            cosines,
        )
        return np.array([cosines.get(stored_row, 0.0) for stored_row in vector_rows], dtype=np.float32)

    def _compare_exactly(self, query_vector: QueryVector, vectors: Sequence[int], near: dict[int, float]) -> None:
        """Compute the exact cosines of some vectors of the database into `near`."""
        for start in range(0, len(vectors), _READ_BATCH):
            rows = self._db.rows(_READ_SOME, (str(vectors[start : start + _READ_BATCH]),))
            if rows:
                levels, slack, sizes = _checked(
                    to_search_vectors, [StoredVectors(bits, data) for _, bits, data in rows], self._width
                )
                best = np.maximum.reduceat(fine_cosines(levels, slack, query_vector), np.cumsum(sizes) - sizes)
                near |= zip((number for number, _, _ in rows), best.tolist(), strict=True)

    def renumber(self, old_numbers: RowNumbers) -> bool:
        """Give the texts new numbers, by their old ones; return False if this must be read again instead."""
        if self._unplaced or not isinstance(self._table, ScanTable):
            return False
        missing = int(old_numbers.max(initial=-1)) + 1 - len(self._vector_rows)
        if missing > 0:
            return False
        self._vector_row_column, self._table_row_column = (
            self._vector_rows[old_numbers],
            self._table.keep_runs(self._table_rows[old_numbers]),
        )
        self._count = len(old_numbers)
        self._count_in_order()
        self._scanned = None
        self.edition += 1
        return True

    def to_arrays(self) -> tuple[Arrays, dict[str, Any]] | None:
        """Return the arrays and metadata of a large table; None if it is not worth saving."""
        if not isinstance(self._table, ScanTable) or self._unplaced:
            return None
        arrays: Arrays = {"vector_of": self._vector_rows, "run_of": self._table_rows, **self._table.to_arrays()}
        return arrays, {"model": self._model, "last": self._last, "width": self._width}

    @classmethod
    def from_arrays(cls, db: Database, array_file: SavedArrays, limits: SearchLimits) -> ModelVectors:
        """Return the table of saved arrays."""
        vectors = cls(db, str(array_file.metadata["model"]), limits)
        vectors._last, vectors._width = int(array_file.metadata["last"]), int(array_file.metadata["width"])
        vectors._vector_row_column, vectors._table_row_column = (
            array_file.arrays["vector_of"],
            array_file.arrays["run_of"],
        )
        vectors._count = array_file.lengths["vector_of"]
        vectors._table = ScanTable.from_arrays(array_file.arrays, array_file.lengths, vectors._width)
        vectors._count_in_order()
        return vectors


def unpack_vectors(bits: int, data: bytes) -> Floats:
    """Return the vectors of a text."""
    return _checked(unpack, StoredVectors(bits, data))


def _checked(read: Callable[Params, T], *args: Params.args, **kwargs: Params.kwargs) -> T:
    """Call a function that decodes vectors; `CorruptDatabase` if they are damaged.

    SQLite does not notice when the pages of a long blob were overwritten.
    """
    try:
        return read(*args, **kwargs)
    except DamagedVectors as error:
        raise CorruptDatabase(f"index.db is damaged: {error}") from error
