"""The vectors of one model: which texts it has encoded, and the cosine of each with a query.

While there are few, all are kept in memory and compared exactly. From `LARGE` on, only two bits per dimension are kept:
they give approximate cosines, and the best candidates are read from the database and compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from lamina.store.sqlite.database import Corrupt, Database
from lamina.store.sqlite.saved import Arrays, Saved
from lamina.store.sqlite.texts import Numbers, Texts
from lamina.vectors.kept import Damaged, Kept, search_rows, searched, unpack
from lamina.vectors.levels import Asked, Floats, fine_cosines
from lamina.vectors.scan_table import ScanTable
from lamina.vectors.table import VectorTable, grown

Params = ParamSpec("Params")
T = TypeVar("T")

LARGE = 20_000
"""Number of texts from which on a model's vectors are scanned in two bits per dimension."""
FEW = 8
"""If fewer than one text in so many is compared, only those are, without a full scan."""
_AT_ONCE = 5000
_READ_AT_ONCE = 500

_SINCE = "SELECT id, digest, bits, data FROM vectors WHERE model=? AND id>? ORDER BY id LIMIT ?"
_MOVES = "SELECT texts FROM room WHERE what='moves'"
_SOME = "SELECT id, bits, data FROM vectors WHERE id IN (SELECT value FROM json_each(?))"


class ModelVectors:
    """The vectors of one model, by the number of their text."""

    def __init__(self, db: Database, model: str) -> None:
        self._db, self._model = db, model
        self._last = self._width = self._in_order = 0
        self._count = 0
        self._vectors: Numbers = np.empty(0, dtype=np.int64)
        self._runs: Numbers = np.empty(0, dtype=np.int64)
        self._homeless: dict[bytes, tuple[int, int]] = {}
        self._table: VectorTable | ScanTable | None = None
        self._doubted: dict[bytes, int] = {}
        self._moves: int | None = None
        self._scanned: tuple[Asked, Floats] | None = None
        self._compared: tuple[Asked, dict[int, float]] | None = None
        self.edition = self.taken_in = 0

    @property
    def is_exact(self) -> bool:
        """Return whether the cosines of a scan are exact already."""
        return not isinstance(self._table, ScanTable)

    @property
    def _vector_of(self) -> Numbers:
        """Return the database row of each text; 0 for none."""
        return self._vectors[: self._count]

    @property
    def _run_of(self) -> Numbers:
        """Return the row of each text in the table; negative for none."""
        return self._runs[: self._count]

    @property
    def held(self) -> int:
        """Return the number of bytes in memory."""
        return self._vector_of.nbytes + self._run_of.nbytes + (self._table.held if self._table is not None else 0)

    def doubt(self, digest: bytes, number: int) -> None:
        """Check before the next query whether this text still has its vectors."""
        if number < len(self._vector_of) and self._vector_of[number]:
            self._doubted[digest] = number

    def follow(self, texts: Texts) -> None:
        """Add vectors computed since the last call, and make room for new texts."""
        is_changed = self._look_for_moves() | self._make_room(texts)
        for digest, number in self._doubted.items():
            if not self._is_there(digest):
                self._put(number, 0, -1)
                is_changed = True
        self._doubted.clear()
        for rows in self._since():
            self._take_in(rows, texts)
            is_changed = True
        if is_changed:
            self._find_in_order(self._in_order)
            self._scanned = self._compared = None
            self.edition += 1

    def _look_for_moves(self) -> bool:
        """Reset the table if the precision of vectors was changed; return whether it was.

        A scan table is kept, since exact cosines are computed from the database.
        """
        row = self._db.one(_MOVES)
        previous, self._moves = self._moves, row[0] if row else 0
        if self._moves == previous or previous is None:
            return False
        if isinstance(self._table, VectorTable):
            self._vector_of[:], self._run_of[:] = 0, -1
            self._table, self._last, self._in_order = None, 0, 0
            self._homeless.clear()
        return True

    def _find_in_order(self, first: int = 0) -> None:
        """Count the first texts whose table row equals their number: those need no lookup."""
        strays = np.flatnonzero(self._run_of[first:] != np.arange(first, self._count))
        self._in_order = first + int(strays[0]) if len(strays) else self._count

    def _make_room(self, texts: Texts) -> bool:
        """Make room for every text; assign vectors that were computed before the text had a number."""
        before, self._count = self._count, len(texts)
        if self._count == before:
            return False
        self._vectors, self._runs = grown(self._vectors, self._count), grown(self._runs, self._count)
        self._vector_of[before:], self._run_of[before:] = 0, -1
        for digest in list(self._homeless):
            number = texts.number(digest)
            if number is not None and number >= before:
                self._put(number, *self._homeless.pop(digest))
        return True

    def _put(self, number: int, vector: int, run: int) -> None:
        self._vectors[number], self._runs[number] = vector, run
        self._in_order = min(self._in_order, number)

    def _is_there(self, digest: bytes) -> bool:
        row = self._db.one("SELECT 1 FROM vectors WHERE digest=? AND model=?", (digest, self._model))
        return row is not None

    def _since(self) -> Iterator[list[tuple[int, bytes, Kept]]]:
        """Yield batches of vectors that were written since the last call."""
        while rows := self._db.rows(_SINCE, (self._model, self._last, _AT_ONCE)):
            self._last = rows[-1][0]
            yield [(number, digest, Kept(bits, data)) for number, digest, bits, data in rows]

    def _take_in(self, found: Sequence[tuple[int, bytes, Kept]], texts: Texts) -> None:
        """Add vectors to the table."""
        stored = [packed for _, _, packed in found]
        self._width = self._width or int.from_bytes(stored[0].data[:2], "little")
        first_row = len(self._table) if self._table is not None else 0
        self._append(stored)
        numbers = texts.numbers([digest for _, digest, _ in found])
        for table_row, ((vector_row, digest, _), number) in enumerate(zip(found, numbers, strict=True), first_row):
            if number is None:
                self._homeless[digest] = vector_row, table_row
            else:
                self._put(number, vector_row, table_row)
        self.taken_in += len(found)

    def _append(self, kept: Sequence[Kept]) -> None:
        rows, sizes = _whole(search_rows, kept, self._width)
        if self._table is None:
            self._table = VectorTable(self._width)
        if isinstance(self._table, VectorTable) and len(self._table) + len(kept) > LARGE:
            self._table = ScanTable.of_table(self._table)
        self._table.append(rows, sizes)

    def known(self, texts: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of the texts have a vector."""
        return np.asarray(self._vector_of[texts] > 0)

    def about(self, asked: Asked, texts: NDArray[Any]) -> Floats:
        """Return the approximate cosine of each of these texts; NaN without a vector."""
        if self._table is None:
            return np.full(len(texts), np.nan, dtype=np.float32)
        if not self._was_scanned(asked) and FEW * len(texts) < len(self._vector_of):
            table_rows = self._run_of[texts]
            return np.asarray(
                np.where(table_rows >= 0, self._table.of(asked, table_rows), np.float32(np.nan)), dtype=np.float32
            )
        cosines: Floats = self.every(asked)[texts]
        return cosines

    def every(self, asked: Asked) -> Floats:
        """Return the approximate cosine of every text; cached for the same query."""
        if self._scanned is None or not self._was_scanned(asked):
            self._scanned = asked, self._by_text(self._table.scan(asked) if self._table is not None else None)
        return self._scanned[1]

    def _by_text(self, scanned: Floats | None) -> Floats:
        """Return the cosines of a scan ordered by text number."""
        in_order = self._in_order
        if scanned is not None and in_order == len(self._run_of):
            return scanned[:in_order]
        cosines = np.full(len(self._run_of), np.nan, dtype=np.float32)
        if scanned is not None:
            cosines[:in_order] = scanned[:in_order]
            others = in_order + np.flatnonzero(self._run_of[in_order:] >= 0)
            cosines[others] = scanned[self._run_of[others]]
        return cosines

    def _was_scanned(self, asked: Asked) -> bool:
        return self._scanned is not None and self._scanned[0] is asked

    def exactly(self, asked: Asked, texts: NDArray[Any]) -> Floats:
        """Return the cosine of some texts, as exact as the stored precision allows; 0 without a vector."""
        table_rows = np.where(texts >= 0, self._run_of[texts], -1) if len(self._run_of) else np.full(len(texts), -1)
        if self._table is None:
            return np.zeros(len(texts), dtype=np.float32)
        if isinstance(self._table, VectorTable):
            return self._table.of(asked, table_rows)
        vector_rows: list[int] = np.where(table_rows >= 0, self._vector_of[texts], 0).tolist()
        if self._compared is None or self._compared[0] is not asked:
            self._compared = asked, {0: 0.0}
        cosines = self._compared[1]
        self._compare(
            asked, [vector_row for vector_row in dict.fromkeys(vector_rows) if vector_row not in cosines], cosines
        )
        return np.array([cosines.get(stored_row, 0.0) for stored_row in vector_rows], dtype=np.float32)

    def _compare(self, asked: Asked, vectors: Sequence[int], near: dict[int, float]) -> None:
        """Compute the exact cosines of some vectors of the database into `near`."""
        for start in range(0, len(vectors), _READ_AT_ONCE):
            rows = self._db.rows(_SOME, (str(vectors[start : start + _READ_AT_ONCE]),))
            if rows:
                levels, slack, sizes = _whole(searched, [Kept(bits, data) for _, bits, data in rows], self._width)
                best = np.maximum.reduceat(fine_cosines(levels, slack, asked), np.cumsum(sizes) - sizes)
                near |= zip((number for number, _, _ in rows), best.tolist(), strict=True)

    def renumber(self, old: Numbers) -> bool:
        """Give the texts new numbers, by their old ones; return False if this must be read again instead."""
        if self._homeless or not isinstance(self._table, ScanTable):
            return False
        missing = int(old.max(initial=-1)) + 1 - len(self._vector_of)
        if missing > 0:
            return False
        self._vectors, self._runs = self._vector_of[old], self._table.arrange(self._run_of[old])
        self._count = len(old)
        self._find_in_order()
        self._scanned = None
        self.edition += 1
        return True

    def saved(self) -> tuple[Arrays, dict[str, Any]] | None:
        """Return the arrays and metadata of a large table; None if it is not worth saving."""
        if not isinstance(self._table, ScanTable) or self._homeless:
            return None
        arrays: Arrays = {"vector_of": self._vector_of, "run_of": self._run_of, **self._table.saved()}
        return arrays, {"model": self._model, "last": self._last, "width": self._width}

    @classmethod
    def of(cls, db: Database, saved: Saved) -> ModelVectors:
        """Return the table of saved arrays."""
        vectors = cls(db, str(saved.told["model"]))
        vectors._last, vectors._width = int(saved.told["last"]), int(saved.told["width"])
        vectors._vectors, vectors._runs = saved.arrays["vector_of"], saved.arrays["run_of"]
        vectors._count = saved.lengths["vector_of"]
        vectors._table = ScanTable.of_saved(saved.arrays, saved.lengths, vectors._width)
        vectors._find_in_order()
        return vectors


def vectors_in(bits: int, data: bytes) -> Floats:
    """Return the vectors of a text."""
    return _whole(unpack, Kept(bits, data))


def _whole(read: Callable[Params, T], *given: Params.args, **besides: Params.kwargs) -> T:
    """Call a function that decodes vectors; `CorruptDatabase` if they are damaged.

    SQLite does not notice when the pages of a long blob were overwritten.
    """
    try:
        return read(*given, **besides)
    except Damaged as error:
        raise Corrupt(f"index.db is damaged: {error}") from error
