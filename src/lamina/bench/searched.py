"""Vectors kept and searched as the store keeps and searches them, without the words they came from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lamina.bench.made_vectors import NEAREST, Source, Truth
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.model_vectors import ModelVectors
from lamina.store.sqlite.precision import VECTORS
from lamina.store.sqlite.texts import WIDTH, Texts
from lamina.vectors.kept import pack
from lamina.vectors.levels import Floats, to_asked

RESCORED = 100
"""How many of the best estimates are compared exactly."""
_MODEL = "made"
_KEEP = "INSERT INTO vectors(model, digest, bits, wanted, data) VALUES(?,?,?,?,?)"


class Searched:
    """The vectors of texts that are known by nothing but their number."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "vectors.db"
        self._db = Database(self._file)
        self._db.run(VECTORS)
        self._texts, self._model = Texts(), ModelVectors(self._db, _MODEL)

    def append(self, vectors: Floats) -> None:
        """Keep more vectors, and take them in."""
        first = len(self._texts)
        digests = [number.to_bytes(WIDTH, "big") for number in range(first, first + len(vectors))]
        kept = [pack(vector[None, :]) for vector in vectors]
        with self._db.writing(durable=False):
            rows = [(_MODEL, digest, it.bits, it.bits, it.data) for digest, it in zip(digests, kept, strict=True)]
            self._db.run_many(_KEEP, rows)
        for digest in digests:
            self._texts.add(digest)
        self._model.follow(self._texts)

    def settle(self) -> None:
        """Put the texts in order, as a board does when it has been filled."""
        self._texts.settle(np.arange(len(self._texts)))

    @property
    def held(self) -> int:
        """Bytes held in memory for the search."""
        return self._model.held

    @property
    def disk(self) -> int:
        """Bytes on the disk."""
        return sum(path.stat().st_size for path in self._file.parent.glob(f"{self._file.name}*"))

    def scan(self, question: Floats) -> Floats:
        """About how near every vector is."""
        return self._model.every(to_asked(question))

    def nearest(self, question: Floats, rows: NDArray[np.int64] | None = None) -> list[int]:
        """The nearest vectors, best first; of some alone where a filter chose them."""
        asked = to_asked(question)
        near = self._model.every(asked) if rows is None else self._model.about(asked, rows)
        wanted = min(len(near), NEAREST if self._model.is_exact else RESCORED)
        best = np.flatnonzero(near >= np.partition(near, len(near) - wanted)[len(near) - wanted])
        texts, near = best if rows is None else rows[best], near[best]
        if not self._model.is_exact:
            near = self._model.exactly(asked, texts)
        found: list[int] = texts[np.argsort(-near, kind="stable")[:NEAREST]].tolist()
        return found


def build(source: Source, folder: Path) -> tuple[Searched, Floats, Truth]:
    """The table of a source, the same vectors in a mapped file, and the truth about them."""
    shape = (source.size, source.questions.shape[1])
    mapped = np.lib.format.open_memmap(folder / "whole.npy", mode="w+", dtype=np.float32, shape=shape)
    table, truth = Searched(folder), Truth(source.questions)
    for block in source.blocks():
        mapped[truth.seen : truth.seen + len(block)] = block
        table.append(block)
        truth.look(block)
    mapped.flush()
    table.settle()
    return table, np.asarray(mapped), truth
