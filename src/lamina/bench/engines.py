"""One engine that searches vectors, in a process and an interpreter of its own: built once, then asked in rounds.

    PYTHON -I engines.py NAME FOLDER THREADS

`lamina bench peers` writes vectors and questions into the folder and says on stdin, a line each, which questions to ask
(`first last`); the answers are left in the folder and `done` is said on stdout. Nothing of lamina is imported except by
its own engine, so that an interpreter needs numpy and the engine alone.
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
"""How many candidates a graph keeps while it searches: more of them find more, later."""

Vectors = Any
Setting = tuple[str, Callable[[], None]]


class Engine(Protocol):
    """What is asked of every engine."""

    def add(self, vectors: Vectors) -> None:
        """Take all vectors in, and leave on the disk what the engine keeps there."""

    def settings(self) -> Sequence[Setting]:
        """The ways of searching that are tried, each with what turns it on."""

    def search(self, question: Vectors) -> list[int]:
        """The rows of the nearest, best first."""


def _as_it_is() -> None:
    """Nothing to turn on."""


class Lamina:
    """Two bits in memory, the best few exactly from the database, as the store does it."""

    def __init__(self, folder: Path, threads: int) -> None:
        import_module("lamina.vectors.scan").prepare()
        self._searched: Any = import_module("lamina.bench.searched")
        self._folder = folder

    def add(self, vectors: Vectors) -> None:
        self._table = self._searched.Searched(self._folder)
        for start in range(0, len(vectors), 10_000):
            self._table.append(vectors[start : start + 10_000])
        self._table.settle()

    def settings(self) -> Sequence[Setting]:
        return [("", _as_it_is)]

    def search(self, question: Vectors) -> list[int]:
        found: list[int] = self._table.nearest(question)
        return found


class Numpy:
    """Every cosine, then the nearest."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._folder = folder

    def add(self, vectors: Vectors) -> None:
        self._vectors = np.array(vectors)
        np.save(self._folder / "vectors.npy", vectors)

    def settings(self) -> Sequence[Setting]:
        return [("exact", _as_it_is)]

    def search(self, question: Vectors) -> list[int]:
        near = self._vectors @ question
        best = np.argpartition(-near, K - 1)[:K]
        return list(best[np.argsort(-near[best])].tolist())


class Usearch:
    """A graph with the settings an index has by itself, which keeps half of the bits of each number, or all of them."""

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


class Faiss:
    """Every inner product."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._faiss: Any = import_module("faiss")
        self._faiss.omp_set_num_threads(threads)
        self._folder = folder

    def add(self, vectors: Vectors) -> None:
        self._index = self._faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors))
        self._faiss.write_index(self._index, str(self._folder / "index.faiss"))

    def settings(self) -> Sequence[Setting]:
        return [("flat", _as_it_is)]

    def search(self, question: Vectors) -> list[int]:
        return list(self._index.search(question[None, :], K)[1][0].tolist())


class SqliteVec:
    """A vec0 table in a file, through apsw, which can load extensions everywhere."""

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
        return [("exact", _as_it_is)]

    def search(self, question: Vectors) -> list[int]:
        asked = (question.tobytes(), K)
        return [
            row for (row,) in self._db.execute("SELECT rowid FROM v WHERE x MATCH ? AND k=? ORDER BY distance", asked)
        ]


class Chroma:
    """A persistent client, a collection as it comes but for the cosine."""

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
            some = np.array(vectors[start : start + 5000])
            self._collection.add(ids=[str(start + n) for n in range(len(some))], embeddings=some)

    def settings(self) -> Sequence[Setting]:
        return [(f"ef {effort}", self._effort(effort)) for effort in (100, *EFFORTS[1:])]

    def _effort(self, effort: int) -> Callable[[], None]:
        def turn_on() -> None:
            self._collection.modify(configuration={"hnsw": {"ef_search": effort}})
            # It counts from the next time that the index is opened.
            import_module("chromadb.api.shared_system_client").SharedSystemClient.clear_system_cache()
            self._collection = self._client().get_collection("vectors", embedding_function=None)

        return turn_on

    def search(self, question: Vectors) -> list[int]:
        found = self._collection.query(query_embeddings=[question], n_results=K, include=[])
        return [int(each) for each in found["ids"][0]]


class Lance:
    """A table without an index, which is searched from end to end."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._arrow: Any = import_module("pyarrow")
        self._db = import_module("lancedb").connect(str(folder))

    def add(self, vectors: Vectors) -> None:
        flat = self._arrow.array(np.asarray(vectors).reshape(-1))
        column = self._arrow.FixedSizeListArray.from_arrays(flat, vectors.shape[1])
        rows = self._arrow.table({"id": np.arange(len(vectors)), "vector": column})
        self._table = self._db.create_table("vectors", rows)

    def settings(self) -> Sequence[Setting]:
        return [("flat", _as_it_is)]

    def search(self, question: Vectors) -> list[int]:
        found = self._table.search(question).distance_type("cosine").select(["id"]).limit(K).to_arrow()
        return list(found["id"].to_pylist())


ENGINES: dict[str, tuple[str, Callable[[Path, int], Engine]]] = {
    "lamina": ("lamina", Lamina),
    "numpy": ("numpy", Numpy),
    "faiss": ("faiss-cpu", Faiss),
    "usearch": ("usearch", Usearch),
    "usearch-f32": ("usearch", lambda folder, threads: Usearch(folder, threads, "f32")),
    "sqlite-vec": ("sqlite-vec", SqliteVec),
    "chromadb": ("chromadb", Chroma),
    "lancedb": ("lancedb", Lance),
}
"""By name: the package, and how it is set up."""


def main(name: str, folder: Path, threads: int) -> int:
    """Build one engine, then answer until stdin ends."""
    _pin(threads)
    package, make = ENGINES[name]
    vectors, questions = np.load(folder / "vectors.npy", mmap_mode="r"), np.load(folder / "questions.npy")
    own = folder / name
    own.mkdir()
    before = _memory()
    try:
        engine = make(own, threads)
    except ModuleNotFoundError as error:
        _answer(own, "built", {"missing": str(error)})
        return NOT_INSTALLED
    began = time.perf_counter()
    engine.add(np.asarray(vectors))
    built = {"version": version(package), "build_s": time.perf_counter() - began}
    engine.search(questions[0])
    files = sum(path.stat().st_size for path in own.rglob("*") if path.is_file())
    _answer(own, "built", {**built, "ram_mb": _memory() - before, "disk_mb": files / 1e6})
    for line in sys.stdin:
        first, last = map(int, line.split())
        _answer(
            own, f"{first}", {name: _asked(engine, turn, questions[first:last]) for name, turn in engine.settings()}
        )
    return 0


def _asked(engine: Engine, turn_on: Callable[[], None], questions: Vectors) -> dict[str, Any]:
    turn_on()
    for question in questions[:WARM_UP]:
        engine.search(question)
    took, cpu, found = [], [], []
    for question in questions:
        began, worked = time.perf_counter(), time.process_time()
        found.append(engine.search(question))
        took.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - worked))
    return {"took_ms": took, "cpu_ms": cpu, "found": found}


def _answer(folder: Path, name: str, told: dict[str, Any]) -> None:
    folder.with_name(f"{folder.name}-{name}.json").write_text(json.dumps(told), encoding="utf-8")
    sys.stdout.write("\ndone\n")
    sys.stdout.flush()


def _pin(threads: int) -> None:
    """As many processors for every engine, and the same ones, where the system lets one choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def _memory() -> float:
    """Memory of this process that is no map of a file, in MB; 0 where the system does not tell."""
    try:
        told = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"RssAnon:\s+(\d+) kB", told)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
