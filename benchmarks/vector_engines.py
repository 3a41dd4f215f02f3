"""Run one vector search engine in its own process and interpreter: build it once, then answer questions in rounds.

    PYTHON -I vector_engines.py NAME FOLDER THREADS

`lamina bench peers` writes vectors and questions into the folder and sends lines `first last` on stdin: which questions
to ask. The answers are written to the folder, followed by `done` on stdout. Nothing of lamina is imported except by its
own engine, so that the interpreter needs only numpy and the engine.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

NOT_INSTALLED = 3
WARM_UP = 3
K = 10
EFFORTS = (64, 128, 256, 512, 1024)
"""How many candidates a graph keeps while it searches: more candidates find more, but take longer."""

Vectors = Any
Setting = tuple[str, Callable[[], None]]


class VectorEngine(Protocol):
    """The interface of every engine."""

    def add(self, vectors: Vectors) -> None:
        """Index all vectors, and write to disk what the engine stores there."""

    def settings(self) -> Sequence[Setting]:
        """Return the search settings to try, each with the function that enables it."""

    def search(self, question: Vectors) -> list[int]:
        """Return the rows of the nearest vectors, best first."""


def _no_change() -> None:
    """Enable nothing: the default settings."""


class LaminaEngine:
    """Two bits in memory, the best candidates exactly from the database, as the store does it."""

    def __init__(self, folder: Path, threads: int) -> None:
        import_module("lamina.vectors.bit_scan").load_compiled_kernel()
        # This file runs as an isolated script, which has no repository in its path.
        sys.path.append(str(Path(__file__).parents[1]))
        self._store_module: Any = import_module("benchmarks.vector_store")
        self._folder = folder

    def add(self, vectors: Vectors) -> None:
        self._table = self._store_module.BenchVectorStore(self._folder)
        for start in range(0, len(vectors), 10_000):
            self._table.append(vectors[start : start + 10_000])
        self._table.settle()

    def settings(self) -> Sequence[Setting]:
        return [("", _no_change)]

    def search(self, question: Vectors) -> list[int]:
        rows: list[int] = self._table.nearest(question)
        return rows


class NumpyEngine:
    """All cosines, then the nearest."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._folder = folder

    def add(self, vectors: Vectors) -> None:
        self._vectors = np.array(vectors)
        np.save(self._folder / "vectors.npy", vectors)

    def settings(self) -> Sequence[Setting]:
        return [("exact", _no_change)]

    def search(self, question: Vectors) -> list[int]:
        near = self._vectors @ question
        best = np.argpartition(-near, K - 1)[:K]
        return list(best[np.argsort(-near[best])].tolist())


class UsearchEngine:
    """A graph with default settings, in half precision or in float32."""

    def __init__(self, folder: Path, threads: int, kind: str | None = None) -> None:
        index: Any = import_module("usearch.index")
        self._make, self._folder, self._threads, self._kind = index.Index, folder, threads, kind

    def add(self, vectors: Vectors) -> None:
        self._index = self._make(ndim=vectors.shape[1], metric="cos", dtype=self._kind)
        self._index.add(np.arange(len(vectors)), vectors, threads=self._threads)
        self._index.save(str(self._folder / "index.usearch"))

    def settings(self) -> Sequence[Setting]:
        return [(f"ef {effort}", self._effort(effort)) for effort in EFFORTS]

    def _effort(self, effort: int) -> Callable[[], None]:
        return lambda: setattr(self._index, "expansion_search", effort)

    def search(self, question: Vectors) -> list[int]:
        return [int(key) for key in self._index.search(question, K, threads=1).keys]


class FaissEngine:
    """All inner products."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._faiss: Any = import_module("faiss")
        self._faiss.omp_set_num_threads(threads)
        self._folder = folder

    def add(self, vectors: Vectors) -> None:
        self._index = self._faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors))
        self._faiss.write_index(self._index, str(self._folder / "index.faiss"))

    def settings(self) -> Sequence[Setting]:
        return [("flat", _no_change)]

    def search(self, question: Vectors) -> list[int]:
        return list(self._index.search(question[None, :], K)[1][0].tolist())


class SqliteVecEngine:
    """A vec0 table in a file, through apsw, which can load extensions on every platform."""

    def __init__(self, folder: Path, threads: int) -> None:
        apsw: Any = import_module("apsw")
        self._db = apsw.Connection(str(folder / "vectors.db"))
        self._db.enable_load_extension(True)
        self._db.load_extension(import_module("sqlite_vec").loadable_path())

    def add(self, vectors: Vectors) -> None:
        self._db.execute(f"CREATE VIRTUAL TABLE v USING vec0(x float[{vectors.shape[1]}] distance_metric=cosine)")
        with self._db:
            self._db.executemany(
                "INSERT INTO v(rowid, x) VALUES(?,?)", ((n, x.tobytes()) for n, x in enumerate(vectors))
            )

    def settings(self) -> Sequence[Setting]:
        return [("exact", _no_change)]

    def search(self, question: Vectors) -> list[int]:
        arguments = (question.tobytes(), K)
        return [
            row
            for (row,) in self._db.execute("SELECT rowid FROM v WHERE x MATCH ? AND k=? ORDER BY distance", arguments)
        ]


class ChromaEngine:
    """A persistent client with default settings except for the cosine metric."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._chromadb: Any = import_module("chromadb")
        self._folder = folder
        how = {"hnsw": {"space": "cosine"}}
        self._collection = self._client().create_collection("vectors", embedding_function=None, configuration=how)

    def _client(self) -> Any:
        settings = self._chromadb.config.Settings(anonymized_telemetry=False)
        return self._chromadb.PersistentClient(path=str(self._folder), settings=settings)

    def add(self, vectors: Vectors) -> None:
        for start in range(0, len(vectors), 5000):
            batch = np.array(vectors[start : start + 5000])
            self._collection.add(ids=[str(start + n) for n in range(len(batch))], embeddings=batch)

    def settings(self) -> Sequence[Setting]:
        return [(f"ef {effort}", self._effort(effort)) for effort in (100, *EFFORTS[1:])]

    def _effort(self, effort: int) -> Callable[[], None]:
        def turn_on() -> None:
            self._collection.modify(configuration={"hnsw": {"ef_search": effort}})
            # The setting takes effect the next time the index is opened.
            import_module("chromadb.api.shared_system_client").SharedSystemClient.clear_system_cache()
            self._collection = self._client().get_collection("vectors", embedding_function=None)

        return turn_on

    def search(self, question: Vectors) -> list[int]:
        response = self._collection.query(query_embeddings=[question], n_results=K, include=[])
        return [int(row_id) for row_id in response["ids"][0]]


class LanceEngine:
    """A table without an index, scanned completely."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._arrow: Any = import_module("pyarrow")
        self._db = import_module("lancedb").connect(str(folder))

    def add(self, vectors: Vectors) -> None:
        flat = self._arrow.array(np.asarray(vectors).reshape(-1))
        column = self._arrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
        rows = self._arrow.table({"id": np.arange(len(vectors)), "vector": column})
        self._table = self._db.create_table("vectors", rows)

    def settings(self) -> Sequence[Setting]:
        return [("flat", _no_change)]

    def search(self, question: Vectors) -> list[int]:
        response = self._table.search(question).distance_type("cosine").select(["id"]).limit(K).to_arrow()
        return list(response["id"].to_pylist())


ENGINES: dict[str, tuple[str, Callable[[Path, int], VectorEngine]]] = {
    "lamina": ("lamina", LaminaEngine),
    "numpy": ("numpy", NumpyEngine),
    "faiss": ("faiss-cpu", FaissEngine),
    "usearch": ("usearch", UsearchEngine),
    "usearch-f32": ("usearch", lambda folder, threads: UsearchEngine(folder, threads, "f32")),
    "sqlite-vec": ("sqlite-vec", SqliteVecEngine),
    "chromadb": ("chromadb", ChromaEngine),
    "lancedb": ("lancedb", LanceEngine),
}
"""By name: the package, and the function that creates the engine."""


def main(name: str, folder: Path, threads: int) -> int:
    """Build one engine, then answer until stdin ends; return NOT_INSTALLED if its package is missing."""
    _pin_processors(threads)
    package, make = ENGINES[name]
    vectors, questions = np.load(folder / "vectors.npy", mmap_mode="r"), np.load(folder / "questions.npy")
    engine_folder = folder / name
    engine_folder.mkdir()
    before = _anonymous_memory_mb()
    try:
        engine = make(engine_folder, threads)
    except ModuleNotFoundError as error:
        _write_answer(engine_folder, "built", {"missing": str(error)})
        return NOT_INSTALLED
    began = time.perf_counter()
    engine.add(np.asarray(vectors))
    built = {"version": version(package), "build_s": time.perf_counter() - began}
    engine.search(questions[0])
    files = sum(path.stat().st_size for path in engine_folder.rglob("*") if path.is_file())
    _write_answer(engine_folder, "built", {**built, "ram_mb": _anonymous_memory_mb() - before, "disk_mb": files / 1e6})
    for line in sys.stdin:
        first, last = map(int, line.split())
        _write_answer(
            engine_folder,
            f"{first}",
            {name: _time_searches(engine, turn, questions[first:last]) for name, turn in engine.settings()},
        )
    return 0


def _time_searches(engine: VectorEngine, turn_on: Callable[[], None], questions: Vectors) -> dict[str, Any]:
    turn_on()
    for question in questions[:WARM_UP]:
        engine.search(question)
    took, cpu, results = [], [], []
    for question in questions:
        began, worked = time.perf_counter(), time.process_time()
        results.append(engine.search(question))
        took.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - worked))
    return {"took_ms": took, "cpu_ms": cpu, "found": results}


def _write_answer(folder: Path, name: str, answer: dict[str, Any]) -> None:
    folder.with_name(f"{folder.name}-{name}.json").write_text(json.dumps(answer), encoding="utf-8")
    sys.stdout.write("\ndone\n")
    sys.stdout.flush()


def _pin_processors(threads: int) -> None:
    """Pin the process to as many processors for every engine, the same ones, if the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def _anonymous_memory_mb() -> float:
    """Return the anonymous memory of this process in MB; 0 if the system does not report it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    match = re.search(r"RssAnon:\s+(\d+) kB", status)
    return int(match[1]) * 1024 / 1e6 if match else 0.0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
