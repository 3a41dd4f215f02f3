"""What one model made of the texts: which of them it has seen, and how near each is to a question.

While there are few, all are held in memory and searched exactly. From `LARGE` on only two bits a dimension are held:
they tell about how near a text is, and those that matter are read from the database and compared exactly.
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

Given = ParamSpec("Given")
T = TypeVar("T")

LARGE = 20_000
"""Texts from which on a model's vectors are scanned in two bits a dimension."""
FEW = 8
"""Where fewer than one text in so many is asked about, those alone are looked at."""
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
        """Whether what a scan tells is exact already."""
        return not isinstance(self._table, ScanTable)

    @property
    def _vector_of(self) -> Numbers:
        """The row that each text has in the database; 0 for none."""
        return self._vectors[: self._count]

    @property
    def _run_of(self) -> Numbers:
        """The run that each text has in the table; below 0 for none."""
        return self._runs[: self._count]

    @property
    def held(self) -> int:
        """Bytes held in memory."""
        return self._vector_of.nbytes + self._run_of.nbytes + (self._table.held if self._table is not None else 0)

    def doubt(self, digest: bytes, number: int) -> None:
        """Look again whether this text still has its vectors before the next answer."""
        if number < len(self._vector_of) and self._vector_of[number]:
            self._doubted[digest] = number

    def follow(self, texts: Texts) -> None:
        """Take in what the model has made since, and texts that have come."""
        changed = self._look_for_moves() | self._make_room(texts)
        for digest, number in self._doubted.items():
            if not self._is_there(digest):
                self._put(number, 0, -1)
                changed = True
        self._doubted.clear()
        for found in self._since():
            self._take_in(found, texts)
            changed = True
        if changed:
            self._find_in_order(self._in_order)
            self._scanned = self._compared = None
            self.edition += 1

    def _look_for_moves(self) -> bool:
        """Read everything again if vectors were put in other bits since; a scan goes on with what it has, since what
        matters is read from the database."""
        found = self._db.one(_MOVES)
        before, self._moves = self._moves, found[0] if found else 0
        if self._moves == before or before is None:
            return False
        if isinstance(self._table, VectorTable):
            self._vector_of[:], self._run_of[:] = 0, -1
            self._table, self._last, self._in_order = None, 0, 0
            self._homeless.clear()
        return True

    def _find_in_order(self, first: int = 0) -> None:
        """How many texts have the run of their own number, as the first so many have: those need not be looked up."""
        strays = np.flatnonzero(self._run_of[first:] != np.arange(first, self._count))
        self._in_order = first + int(strays[0]) if len(strays) else self._count

    def _make_room(self, texts: Texts) -> bool:
        """A place for every text; one that the model had seen before it stood anywhere gets what was made of it."""
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
        found = self._db.one("SELECT 1 FROM vectors WHERE digest=? AND model=?", (digest, self._model))
        return found is not None

    def _since(self) -> Iterator[list[tuple[int, bytes, Kept]]]:
        while found := self._db.rows(_SINCE, (self._model, self._last, _AT_ONCE)):
            self._last = found[-1][0]
            yield [(number, digest, Kept(bits, data)) for number, digest, bits, data in found]

    def _take_in(self, found: Sequence[tuple[int, bytes, Kept]], texts: Texts) -> None:
        kept = [each for _, _, each in found]
        self._width = self._width or int.from_bytes(kept[0].data[:2], "little")
        first = len(self._table) if self._table is not None else 0
        self._append(kept)
        numbers = texts.numbers([digest for _, digest, _ in found])
        for run, ((vector, digest, _), number) in enumerate(zip(found, numbers, strict=True), first):
            if number is None:
                self._homeless[digest] = vector, run
            else:
                self._put(number, vector, run)
        self.taken_in += len(found)

    def _append(self, kept: Sequence[Kept]) -> None:
        rows, sizes = _whole(search_rows, kept, self._width)
        if self._table is None:
            self._table = VectorTable(self._width)
        if isinstance(self._table, VectorTable) and len(self._table) + len(kept) > LARGE:
            self._table = ScanTable.of_table(self._table)
        self._table.append(rows, sizes)

    def known(self, texts: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of the texts have a vector."""
        return np.asarray(self._vector_of[texts] > 0)

    def about(self, asked: Asked, texts: NDArray[Any]) -> Floats:
        """About how near each of these texts is, not-a-number where it has no vector yet."""
        if self._table is None:
            return np.full(len(texts), np.nan, dtype=np.float32)
        if not self._was_scanned(asked) and FEW * len(texts) < len(self._vector_of):
            runs = self._run_of[texts]
            return np.asarray(np.where(runs >= 0, self._table.of(asked, runs), np.float32(np.nan)), dtype=np.float32)
        near: Floats = self.every(asked)[texts]
        return near

    def every(self, asked: Asked) -> Floats:
        """About how near every text is; asked again it is not counted again."""
        if self._scanned is None or not self._was_scanned(asked):
            self._scanned = asked, self._by_text(self._table.scan(asked) if self._table is not None else None)
        return self._scanned[1]

    def _by_text(self, scanned: Floats | None) -> Floats:
        ordered = self._in_order
        if scanned is not None and ordered == len(self._run_of):
            return scanned[:ordered]
        near = np.full(len(self._run_of), np.nan, dtype=np.float32)
        if scanned is not None:
            near[:ordered] = scanned[:ordered]
            others = ordered + np.flatnonzero(self._run_of[ordered:] >= 0)
            near[others] = scanned[self._run_of[others]]
        return near

    def _was_scanned(self, asked: Asked) -> bool:
        return self._scanned is not None and self._scanned[0] is asked

    def exactly(self, asked: Asked, texts: NDArray[Any]) -> Floats:
        """How near some texts are, as exactly as what is kept of them tells; 0 where there is no vector."""
        runs = np.where(texts >= 0, self._run_of[texts], -1) if len(self._run_of) else np.full(len(texts), -1)
        if self._table is None:
            return np.zeros(len(texts), dtype=np.float32)
        if isinstance(self._table, VectorTable):
            return self._table.of(asked, runs)
        vectors: list[int] = np.where(runs >= 0, self._vector_of[texts], 0).tolist()
        if self._compared is None or self._compared[0] is not asked:
            self._compared = asked, {0: 0.0}
        near = self._compared[1]
        self._compare(asked, [fromkey for fromkey in dict.fromkeys(vectors) if fromkey not in near], near)
        return np.array([near.get(vector, 0.0) for vector in vectors], dtype=np.float32)

    def _compare(self, asked: Asked, vectors: Sequence[int], near: dict[int, float]) -> None:
        """Note how near some vectors of the database are."""
        for start in range(0, len(vectors), _READ_AT_ONCE):
            found = self._db.rows(_SOME, (str(vectors[start : start + _READ_AT_ONCE]),))
            if found:
                whole, slack, sizes = _whole(searched, [Kept(bits, data) for _, bits, data in found], self._width)
                best = np.maximum.reduceat(fine_cosines(whole, slack, asked), np.cumsum(sizes) - sizes)
                near |= zip((number for number, _, _ in found), best.tolist(), strict=True)

    def renumber(self, old: Numbers) -> bool:
        """Let the texts have other numbers, each having had an old one; False if this has to be read anew instead."""
        if self._homeless or not isinstance(self._table, ScanTable):
            return False
        room = int(old.max(initial=-1)) + 1 - len(self._vector_of)
        if room > 0:
            return False
        self._vectors, self._runs = self._vector_of[old], self._table.arrange(self._run_of[old])
        self._count = len(old)
        self._find_in_order()
        self._scanned = None
        self.edition += 1
        return True

    def saved(self) -> tuple[Arrays, dict[str, Any]] | None:
        """What has to be kept of a large table."""
        if not isinstance(self._table, ScanTable) or self._homeless:
            return None
        arrays: Arrays = {"vector_of": self._vector_of, "run_of": self._run_of, **self._table.saved()}
        return arrays, {"model": self._model, "last": self._last, "width": self._width}

    @classmethod
    def of(cls, db: Database, saved: Saved) -> ModelVectors:
        """The table that was kept."""
        made = cls(db, str(saved.told["model"]))
        made._last, made._width = int(saved.told["last"]), int(saved.told["width"])
        made._vectors, made._runs = saved.arrays["vector_of"], saved.arrays["run_of"]
        made._count = saved.lengths["vector_of"]
        made._table = ScanTable.of_saved(saved.arrays, saved.lengths, made._width)
        made._find_in_order()
        return made


def vectors_in(bits: int, data: bytes) -> Floats:
    """The vectors of a text."""
    return _whole(unpack, Kept(bits, data))


def _whole(read: Callable[Given, T], *given: Given.args, **besides: Given.kwargs) -> T:
    """What was read; SQLite does not notice when the pages of a long blob were overwritten."""
    try:
        return read(*given, **besides)
    except Damaged as error:
        raise Corrupt(f"index.db is damaged: {error}") from error
