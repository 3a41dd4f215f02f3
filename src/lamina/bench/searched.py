"""Store and search vectors as the store does, without the texts they came from."""

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
    """Vectors of texts that are identified by a number only."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "vectors.db"
        self._db = Database(self._file)
        self._db.run(VECTORS)
        self._texts, self._model = Texts(), ModelVectors(self._db, _MODEL)

    def append(self, vectors: Floats) -> None:
        """Store more vectors and add them to the search."""
        first = len(self._texts)
        digests = [number.to_bytes(WIDTH, "big") for number in range(first, first + len(vectors))]
        packed = [pack(vector[None, :]) for vector in vectors]
        with self._db.writing(durable=False):
            rows = [(_MODEL, digest, it.bits, it.bits, it.data) for digest, it in zip(digests, packed, strict=True)]
            self._db.run_many(_KEEP, rows)
        for digest in digests:
            self._texts.add(digest)
        self._model.follow(self._texts)

    def settle(self) -> None:
        """Put the texts in order, as the store does after it was filled."""
        self._texts.settle(np.arange(len(self._texts)))

    @property
    def held(self) -> int:
        """Return the bytes in memory for the search."""
        return self._model.held

    @property
    def disk(self) -> int:
        """Return the bytes on disk."""
        return sum(path.stat().st_size for path in self._file.parent.glob(f"{self._file.name}*"))

    def scan(self, question: Floats) -> Floats:
        """Return the estimated similarity of every vector."""
        return self._model.every(to_asked(question))

    def nearest(self, question: Floats, rows: NDArray[np.int64] | None = None) -> list[int]:
        """Return the nearest vectors, best first; only among `rows` if given."""
        prepared = to_asked(question)
        near = self._model.every(prepared) if rows is None else self._model.about(prepared, rows)
        count = min(len(near), NEAREST if self._model.is_exact else RESCORED)
        best = np.flatnonzero(near >= np.partition(near, len(near) - count)[len(near) - count])
        texts, near = best if rows is None else rows[best], near[best]
        if not self._model.is_exact:
            near = self._model.exactly(prepared, texts)
        nearest: list[int] = texts[np.argsort(-near, kind="stable")[:NEAREST]].tolist()
        return nearest


def build(source: Source, folder: Path) -> tuple[Searched, Floats, Truth]:
    """Return the vector store of a source, the same vectors in a mapped file, and their exact neighbours."""
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
