"""Run one other memory system in its own interpreter: index texts and vectors, and report what it finds and how fast.

    PYTHON scripts/peer.py NAME FOLDER

`scripts/peers.py` writes the task into the folder and reads the answer there. Nothing of lamina is imported, so the
interpreter needs only numpy and the system. Its embedding model is a table of the given vectors: no time is spent on
embedding, and every system gets the same vectors.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np

NOT_INSTALLED = 3
WARM_UP = 5

Vector = Any
Items = Sequence[tuple[str, str]]
"""Pairs of an id and a text."""


class Peer(Protocol):
    """The interface of every system."""

    def add(self, items: Items) -> None:
        """Store these texts."""

    def search(self, question: str, k: int) -> list[str]:
        """Return the ids of the results, best first."""


class Chroma:
    """A persistent client with the default settings of a collection."""

    def __init__(self, folder: Path, vector: Callable[[str], Vector]) -> None:
        chromadb: Any = import_module("chromadb")
        settings = chromadb.config.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(path=str(folder), settings=settings)
        self._collection, self._vector = client.create_collection("items", embedding_function=None), vector

    def add(self, items: Items) -> None:
        for start in range(0, len(items), 1000):
            batch = items[start : start + 1000]
            vectors = [self._vector(text).tolist() for _, text in batch]
            self._collection.add(ids=[id for id, _ in batch], embeddings=vectors, documents=[text for _, text in batch])

    def search(self, question: str, k: int) -> list[str]:
        response = self._collection.query(query_embeddings=[self._vector(question).tolist()], n_results=k)
        return list(response["ids"][0])


class LangGraph:
    """The in-memory store, one `put` for each text."""

    def __init__(self, folder: Path, vector: Callable[[str], Vector]) -> None:
        memory: Any = import_module("langgraph.store.memory")

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return [vector(text).tolist() for text in texts]

        self._store = memory.InMemoryStore(index={"dims": len(vector("")), "embed": embed, "fields": ["text"]})

    def add(self, items: Items) -> None:
        for id, text in items:
            self._store.put(("items",), id, {"text": text})

    def search(self, question: str, k: int) -> list[str]:
        return [item.key for item in self._store.search(("items",), query=question, limit=k)]


class Mem0:
    """`add(infer=False)` into its local qdrant; no language model is called."""

    def __init__(self, folder: Path, vector: Callable[[str], Vector]) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder), "OPENAI_API_KEY": "none"}
        mem0: Any = import_module("mem0")
        place = {"path": str(folder / "qdrant"), "embedding_model_dims": len(vector("")), "on_disk": True}
        config = {
            "vector_store": {"provider": "qdrant", "config": place},
            "history_db_path": str(folder / "history.db"),
        }
        self._memory = mem0.Memory.from_config(config)
        self._memory.embedding_model = _Table(vector)

    def add(self, items: Items) -> None:
        for id, text in items:
            self._memory.add(text, user_id="everybody", metadata={"item": id}, infer=False)

    def search(self, question: str, k: int) -> list[str]:
        response = self._memory.search(question, top_k=k, filters={"user_id": "everybody"})
        return [str(result["metadata"]["item"]) for result in response["results"]]


class _Table:
    """An embedding model as mem0 expects it."""

    def __init__(self, vector: Callable[[str], Vector]) -> None:
        self._vector = vector

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return list(self._vector(text).tolist())

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class Txtai:
    """Hybrid search with content and external vectors."""

    def __init__(self, folder: Path, vector: Callable[[str], Vector]) -> None:
        txtai: Any = import_module("txtai")

        def transform(texts: Sequence[str]) -> Vector:
            return np.array([vector(text) for text in texts], dtype=np.float32)

        self._embeddings = txtai.Embeddings(method="external", transform=transform, content=True, hybrid=True)

    def add(self, items: Items) -> None:
        self._embeddings.index([(id, text, None) for id, text in items])

    def search(self, question: str, k: int) -> list[str]:
        return [str(row["id"]) for row in self._embeddings.search(question, k)]


PEERS: dict[str, tuple[str, Callable[[Path, Callable[[str], Vector]], Peer]]] = {
    "txtai": ("txtai", Txtai),
    "chromadb": ("chromadb", Chroma),
    "mem0": ("mem0ai", Mem0),
    "langgraph": ("langgraph", LangGraph),
}
"""By name: the package, and how it is created."""


def main(name: str, folder: Path) -> int:
    """Run the task in the folder with one system; write the answer there.

    Return NOT_INSTALLED if its package is missing.
    """
    package, make = PEERS[name]
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    vector = _vectors(folder)
    try:
        results = [
            _ask(make(_fresh(folder, f"{name}-{n}"), vector), collection)
            for n, collection in enumerate(task["collections"])
        ]
        speed = _time(make(_fresh(folder, f"{name}-speed"), vector), task["speed"])
    except ModuleNotFoundError as error:
        (folder / f"{name}.json").write_text(json.dumps({"missing": str(error)}), encoding="utf-8")
        return NOT_INSTALLED
    answer = {"version": version(package), "found": results, **speed}
    (folder / f"{name}.json").write_text(json.dumps(answer), encoding="utf-8")
    return 0


def _vectors(folder: Path) -> Callable[[str], Vector]:
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    rows = np.load(folder / "vectors.npy")
    # Some systems strip the texts.
    rows_by_text = {text.strip(): n for n, text in enumerate(texts)}
    zeros = np.zeros(rows.shape[1], dtype=np.float32)
    return lambda text: rows[rows_by_text[text.strip()]] if text else zeros


def _fresh(folder: Path, name: str) -> Path:
    created = folder / name
    created.mkdir()
    return created


def _ask(peer: Peer, collection: dict[str, Any]) -> list[list[str]]:
    peer.add([(id, text) for id, text in collection["items"]])
    return [peer.search(question, 20) for question in collection["questions"]]


def _time(peer: Peer, task: dict[str, Any]) -> dict[str, Any]:
    """Return the milliseconds of each warm search, and the CPU time, which a busy machine affects less."""
    began = time.perf_counter()
    peer.add([(id, text) for id, text in task["items"]])
    adding = time.perf_counter() - began
    for question in task["questions"][:WARM_UP]:
        peer.search(question, 10)
    took, worked = [], time.process_time()
    for question in task["questions"]:
        began = time.perf_counter()
        peer.search(question, 10)
        took.append(1000 * (time.perf_counter() - began))
    cpu = 1000 * (time.process_time() - worked) / len(took)
    return {"took_ms": took, "cpu_ms": cpu, "added_per_s": len(task["items"]) / adding}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
