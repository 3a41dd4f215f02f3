"""Store and search vectors as the store does, without the texts they came from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.vector_sources import NEAREST, ExactNeighbours, VectorSource
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.in_memory_vectors import SEARCH_LIMITS, ModelVectors, SearchLimits
from lamina.store.sqlite.index import IndexState
from lamina.store.sqlite.passage_columns import DIGEST_BYTES, TextNumbers
from lamina.store.sqlite.precision import SCHEMA
from lamina.vectors.integer_vectors import Floats, to_query_vector
from lamina.vectors.stored_vectors import pack

RESCORED = 100
"""How many of the best estimates are compared exactly."""
_MODEL = "made"
_KEEP = "INSERT INTO vectors(model, digest, bits, wanted, data) VALUES(?,?,?,?,?)"


class BenchVectorStore:
    """Vectors of texts that are identified by a number only."""

    def __init__(self, folder: Path, limits: SearchLimits = SEARCH_LIMITS) -> None:
        self._file = folder / "vectors.db"
        self._db = Database(self._file)
        self._db.run(SCHEMA)
        self._texts, self._model = TextNumbers(), ModelVectors(self._db, _MODEL, limits)

    def append(self, vectors: Floats) -> None:
        """Store more vectors and add them to the search."""
        first = len(self._texts)
        digests = [number.to_bytes(DIGEST_BYTES, "big") for number in range(first, first + len(vectors))]
        packed = [pack(vector[None, :]) for vector in vectors]
        with self._db.write_transaction(durable=False):
            rows = [(_MODEL, digest, it.bits, it.bits, it.data) for digest, it in zip(digests, packed, strict=True)]
            self._db.run_many(_KEEP, rows)
        for digest in digests:
            self._texts.add(digest)
        self._model.catch_up(self._texts, IndexState(last_vector=len(self._texts)))

    def settle(self) -> None:
        """Put the texts in order, as the store does after it was filled."""
        self._texts.compact(np.arange(len(self._texts)))

    @property
    def held(self) -> int:
        """Return the bytes in memory for the search."""
        return self._model.bytes_held

    @property
    def disk(self) -> int:
        """Return the bytes on disk."""
        return sum(path.stat().st_size for path in self._file.parent.glob(f"{self._file.name}*"))

    def scan(self, question: Floats) -> Floats:
        """Return the estimated similarity of every vector."""
        return self._model.scan_all(to_query_vector(question))

    def nearest(self, question: Floats, rows: NDArray[np.int64] | None = None) -> list[int]:
        """Return the nearest vectors, best first; only among `rows` if given."""
        prepared = to_query_vector(question)
        near = self._model.scan_all(prepared) if rows is None else self._model.approximate_cosines(prepared, rows)
        count = min(len(near), NEAREST if self._model.is_exact else RESCORED)
        best = np.flatnonzero(near >= np.partition(near, len(near) - count)[len(near) - count])
        texts, near = best if rows is None else rows[best], near[best]
        if not self._model.is_exact:
            near = self._model.exact_cosines(prepared, texts)
        nearest: list[int] = texts[np.argsort(-near, kind="stable")[:NEAREST]].tolist()
        return nearest


def build_vector_store(
    source: VectorSource, folder: Path, limits: SearchLimits = SEARCH_LIMITS
) -> tuple[BenchVectorStore, Floats, ExactNeighbours]:
    """Return the vector store of a source, the same vectors in a mapped file, and their exact neighbours."""
    shape = (source.size, source.questions.shape[1])
    mapped = np.lib.format.open_memmap(folder / "whole.npy", mode="w+", dtype=np.float32, shape=shape)
    table, truth = BenchVectorStore(folder, limits), ExactNeighbours(source.questions)
    for block in source.blocks():
        mapped[truth.count : truth.count + len(block)] = block
        table.append(block)
        truth.add_block(block)
    mapped.flush()
    table.settle()
    return table, np.asarray(mapped), truth
