"""Which model an answer comes through: the best that has seen everything, and without a restart when that changes."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from town_conversations import STORE, capture_session, needs_minilm, open_memory, populate, questions, texts

from lamina import InvalidInput
from lamina.models.errors import ModelMissing
from lamina.models.model_files import ALL_FILES, MODEL_FILES

LIGHT, MINILM = "wordllama-l2-supercat-256", "all-MiniLM-L6-v2-int8@afdb6f1a"
QUESTION = "which animal lives with them?"


def test_without_transformer_files_light_recall_answers_and_reports_what_is_missing(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "auto", models_dir=tmp_path / "models") as memory:
        capture_session(memory, ("Ann", "We adopted a greyhound."), ("Bob", "The train was late."))
        result = memory.recall(QUESTION)
        assert result.model == LIGHT
        assert texts(result)[0] == "We adopted a greyhound."
        assert "lamina models download" in memory.engine.models.choice.missing_hint


def test_a_transformer_requested_by_name_must_be_present(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "minilm", models_dir=tmp_path / "models") as memory:
        memory.remember("We adopted a greyhound.")
        with pytest.raises(ModelMissing, match="lamina models download"):
            memory.recall(QUESTION)


@needs_minilm
def test_an_open_memory_switches_to_the_transformer_once_it_has_encoded_everything(tmp_path: Path) -> None:
    models = tmp_path / "models"
    with open_memory(tmp_path / "vault", "auto", models_dir=models) as memory:
        populate(memory, sessions=10)
        assert {memory.recall(question).model for question in questions(count=3)} == {LIGHT}
        models.mkdir()
        for file in ALL_FILES:
            shutil.copyfile(STORE.path_of(file), models / file.sha256)
        assert memory.recall(QUESTION).model == LIGHT
        assert memory.engine.models.choice.missing_hint == ""
        assert memory.embed() > 0
        result = memory.recall(QUESTION)
        assert result.model == MINILM
        assert {name for hit in result.hits for name, _ in hit.terms} >= {"vector", "light", "window"}
        assert memory.embed() == 0


@needs_minilm
def test_an_incomplete_transformer_counts_as_missing(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    weights = max(ALL_FILES, key=lambda file: file.size)
    shutil.copyfile(STORE.path_of(weights), models / weights.sha256)
    with open_memory(tmp_path / "vault", "auto", models_dir=models) as memory:
        memory.remember("We adopted a greyhound.")
        assert memory.recall(QUESTION).model == LIGHT


@needs_minilm
def test_a_partly_encoded_transformer_leaves_the_light_model_answering(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "light") as memory:
        populate(memory, sessions=10)
    with open_memory(tmp_path / "vault", "minilm") as memory:
        assert memory.recall(QUESTION).model == LIGHT
        assert memory.upkeep.stats()["models"].get(MINILM, 0) == 0
        memory.embed()
        assert memory.recall(QUESTION).model == MINILM
        memory.remember_many([{"content": f"The heron number {n} stands in the pond."} for n in range(60)])
        assert memory.recall(QUESTION).model == LIGHT
        memory.embed()
        assert memory.recall(QUESTION).model == MINILM


@needs_minilm
def test_a_few_new_passages_are_encoded_during_recall(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "minilm") as memory:
        for n in range(10):
            memory.remember(f"The heron number {n} stands in the pond.")
            result = memory.recall("which bird is by the water?")
            assert (result.model, len(result.hits)) == (MINILM, n + 1)


@needs_minilm
def test_unencoded_passages_of_another_scope_do_not_delay_recall(tmp_path: Path) -> None:
    with (
        open_memory(tmp_path / "vault", "minilm") as memory,
        open_memory(tmp_path / "vault", "none", "org:other") as other,
    ):
        other.remember_many([{"content": f"The stork number {n} stands in the pond."} for n in range(60)])
        memory.remember("The heron stands in the pond.")
        assert memory.recall("which bird is by the water?").model == MINILM


def test_encoding_is_reported_as_a_job_with_progress(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "light") as quiet:
        populate(quiet, sessions=4)
        total = quiet.upkeep.stats()["models"][LIGHT]
    shutil.rmtree(tmp_path / "vault" / ".lamina")
    with open_memory(tmp_path / "vault", "light") as memory:
        memory.embed()
        assert memory.upkeep.stats()["models"] == {LIGHT: total}
        (job,) = memory.upkeep.jobs()
        assert (job.name, job.holder, job.done, job.total, job.error) == (f"encode {LIGHT}", "", total, total, "")


def test_without_an_embedder_text_search_answers(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "none") as memory:
        capture_session(memory, ("Ann", "We adopted a greyhound."), ("Bob", "The train was late."))
        result = memory.recall("when was the train?")
        assert result.model == "text"
        assert texts(result)[0] == "The train was late."
        assert memory.recall(QUESTION).hits == ()
        assert memory.embed() == 0


@needs_minilm
def test_light_and_transformer_may_alternate_on_one_vault(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "minilm") as memory:
        populate(memory, sessions=4)
        both = memory.upkeep.stats()["models"]
    assert set(both) == {LIGHT, MINILM}
    for embedder, model in (("light", LIGHT), ("none", "text"), ("minilm", MINILM)):
        with open_memory(tmp_path / "vault", embedder) as memory:
            assert memory.recall("who is going to Oslo?").model == model
            assert memory.upkeep.stats()["models"] == both


class Endpoint(BaseHTTPRequestHandler):
    """An embedding service that knows two meanings: animals and the rest."""

    def do_POST(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = [[1.0, 0.1] if _animal(text) else [0.1, 1.0] for text in document["input"]]
        body = json.dumps({"data": [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]}).encode()
        self.send_response(200 if self.headers["Authorization"] == "Bearer s3cret" else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


def _animal(text: str) -> bool:
    return any(word in text for word in ("greyhound", "animal", "parrot"))


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_an_endpoint_can_be_the_model(tmp_path: Path, address: str) -> None:
    with open_memory(tmp_path / "vault", "openai:tiny", embedder_url=address, embedder_key="s3cret") as memory:
        capture_session(
            memory, ("Ann", "The train was late."), ("Bob", "We adopted a greyhound."), ("Ann", "It rains.")
        )
        result = memory.recall(QUESTION)
        assert result.model == f"openai:tiny@{address.removeprefix('http://').removesuffix('/v1')}"
        assert texts(result)[0] == "We adopted a greyhound."
        assert {"vector", "light", "passage", "window"} <= {name for name, _ in result.hits[0].terms}
        assert "s3cret" not in repr(memory.settings)


def test_once_a_new_model_has_encoded_everything_the_old_vectors_are_dropped_but_not_the_light_ones(
    tmp_path: Path, address: str
) -> None:
    served: dict[str, Any] = {"embedder_url": address, "embedder_key": "s3cret"}
    with open_memory(tmp_path / "vault", "openai:tiny", **served) as memory:
        populate(memory, sessions=4)
        memory.embed()
        old = memory.recall(QUESTION).model
    with open_memory(tmp_path / "vault", "openai:other", **served) as memory:
        assert memory.recall(QUESTION).model == LIGHT
        assert set(memory.upkeep.stats()["models"]) == {LIGHT, old}
        memory.embed()
        new = memory.recall(QUESTION).model
        assert set(memory.upkeep.stats()["models"]) == {LIGHT, new}
    with open_memory(tmp_path / "vault", "light") as memory:
        memory.embed()
        assert set(memory.upkeep.stats()["models"]) == {LIGHT, new}


def test_an_endpoint_needs_its_address(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "openai:tiny") as memory, pytest.raises(InvalidInput, match="address"):
        memory.recall("tea")


def test_the_model_store_lists_every_file_of_the_transformer() -> None:
    assert {file.sha256 for files in MODEL_FILES.values() for file in files} == {file.sha256 for file in ALL_FILES}
