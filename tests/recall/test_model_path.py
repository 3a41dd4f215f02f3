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
from town import STORE, needs_minilm, opened, populate, questions, says, texts

from lamina import InvalidInput
from lamina.models.errors import ModelMissing
from lamina.models.model_files import ALL_FILES, MODEL_FILES

LIGHT, MINILM = "wordllama-l2-supercat-256", "all-MiniLM-L6-v2-int8@afdb6f1a"
QUESTION = "which animal lives with them?"


def test_without_the_transformers_files_the_light_path_answers_and_says_what_is_missing(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "auto", models_dir=tmp_path / "models") as memory:
        says(memory, ("Ann", "We adopted a greyhound."), ("Bob", "The train was late."))
        found = memory.recall(QUESTION)
        assert found.model == LIGHT
        assert texts(found)[0] == "We adopted a greyhound."
        assert "lamina models download" in memory.models.missing_hint


def test_the_transformer_by_name_must_be_there(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "minilm", models_dir=tmp_path / "models") as memory:
        memory.remember("We adopted a greyhound.")
        with pytest.raises(ModelMissing, match="lamina models download"):
            memory.recall(QUESTION)


@needs_minilm
def test_an_open_memory_answers_through_the_transformer_as_soon_as_it_is_there_and_has_seen_everything(
    tmp_path: Path,
) -> None:
    models = tmp_path / "models"
    with opened(tmp_path / "vault", "auto", models_dir=models) as memory:
        populate(memory, sessions=10)
        assert {memory.recall(question).model for question in questions(count=3)} == {LIGHT}
        models.mkdir()
        for file in ALL_FILES:
            shutil.copyfile(STORE.path_of(file), models / file.sha256)
        assert memory.recall(QUESTION).model == LIGHT
        assert memory.models.missing_hint == ""
        assert memory.embed() > 0
        found = memory.recall(QUESTION)
        assert found.model == MINILM
        assert {name for hit in found.hits for name, _ in hit.terms} >= {"vector", "light", "window"}
        assert memory.embed() == 0


@needs_minilm
def test_half_of_the_transformers_files_are_none(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    weights = max(ALL_FILES, key=lambda file: file.size)
    shutil.copyfile(STORE.path_of(weights), models / weights.sha256)
    with opened(tmp_path / "vault", "auto", models_dir=models) as memory:
        memory.remember("We adopted a greyhound.")
        assert memory.recall(QUESTION).model == LIGHT


@needs_minilm
def test_while_the_transformer_has_seen_only_a_part_the_light_path_answers(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "light") as memory:
        populate(memory, sessions=10)
    with opened(tmp_path / "vault", "minilm") as memory:
        assert memory.recall(QUESTION).model == LIGHT
        assert memory.stats()["models"].get(MINILM, 0) == 0
        memory.embed()
        assert memory.recall(QUESTION).model == MINILM
        memory.remember_many([{"content": f"The heron number {n} stands in the pond."} for n in range(60)])
        assert memory.recall(QUESTION).model == LIGHT
        memory.embed()
        assert memory.recall(QUESTION).model == MINILM


@needs_minilm
def test_a_few_new_passages_are_encoded_while_one_waits(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "minilm") as memory:
        for n in range(10):
            memory.remember(f"The heron number {n} stands in the pond.")
            found = memory.recall("which bird is by the water?")
            assert (found.model, len(found.hits)) == (MINILM, n + 1)


@needs_minilm
def test_what_another_scope_has_left_to_encode_does_not_keep_one_waiting(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "minilm") as memory, opened(tmp_path / "vault", "none", "org:other") as other:
        other.remember_many([{"content": f"The stork number {n} stands in the pond."} for n in range(60)])
        memory.remember("The heron stands in the pond.")
        assert memory.recall("which bird is by the water?").model == MINILM


def test_encoding_is_told_as_a_job_with_what_is_done(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "light") as quiet:
        populate(quiet, sessions=4)
        total = quiet.stats()["models"][LIGHT]
    shutil.rmtree(tmp_path / "vault" / ".lamina")
    with opened(tmp_path / "vault", "light") as memory:
        memory.embed()
        assert memory.stats()["models"] == {LIGHT: total}
        (job,) = memory.jobs()
        assert (job.name, job.holder, job.done, job.total, job.error) == (f"encode {LIGHT}", "", total, total, "")


def test_without_an_embedder_words_alone_answer(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "none") as memory:
        says(memory, ("Ann", "We adopted a greyhound."), ("Bob", "The train was late."))
        found = memory.recall("when was the train?")
        assert found.model == "text"
        assert texts(found)[0] == "The train was late."
        assert memory.recall(QUESTION).hits == ()
        assert memory.embed() == 0


@needs_minilm
def test_light_and_transformer_may_take_turns_on_one_vault(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "minilm") as memory:
        populate(memory, sessions=4)
        both = memory.stats()["models"]
    assert set(both) == {LIGHT, MINILM}
    for embedder, model in (("light", LIGHT), ("none", "text"), ("minilm", MINILM)):
        with opened(tmp_path / "vault", embedder) as memory:
            assert memory.recall("who is going to Oslo?").model == model
            assert memory.stats()["models"] == both


class Endpoint(BaseHTTPRequestHandler):
    """An embedding service that knows two meanings: animals and the rest."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = [[1.0, 0.1] if _animal(text) else [0.1, 1.0] for text in asked["input"]]
        body = json.dumps({"data": [{"index": n, "embedding": each} for n, each in enumerate(vectors)]}).encode()
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
    with opened(tmp_path / "vault", "openai:tiny", embedder_url=address, embedder_key="s3cret") as memory:
        says(memory, ("Ann", "The train was late."), ("Bob", "We adopted a greyhound."), ("Ann", "It rains."))
        found = memory.recall(QUESTION)
        assert found.model == f"openai:tiny@{address.removeprefix('http://').removesuffix('/v1')}"
        assert texts(found)[0] == "We adopted a greyhound."
        assert {"vector", "light", "passage", "window"} <= {name for name, _ in found.hits[0].terms}
        assert "s3cret" not in repr(memory.settings)


def test_when_a_new_model_has_read_everything_the_old_one_s_work_is_gone_and_the_light_one_s_is_not(
    tmp_path: Path, address: str
) -> None:
    served: dict[str, Any] = {"embedder_url": address, "embedder_key": "s3cret"}
    with opened(tmp_path / "vault", "openai:tiny", **served) as memory:
        populate(memory, sessions=4)
        memory.embed()
        old = memory.recall(QUESTION).model
    with opened(tmp_path / "vault", "openai:other", **served) as memory:
        assert memory.recall(QUESTION).model == LIGHT
        assert set(memory.stats()["models"]) == {LIGHT, old}
        memory.embed()
        new = memory.recall(QUESTION).model
        assert set(memory.stats()["models"]) == {LIGHT, new}
    with opened(tmp_path / "vault", "light") as memory:
        memory.embed()
        assert set(memory.stats()["models"]) == {LIGHT, new}


def test_an_endpoint_needs_its_address(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "openai:tiny") as memory, pytest.raises(InvalidInput, match="address"):
        memory.recall("tea")


def test_the_store_knows_every_file_of_the_transformer() -> None:
    assert {file.sha256 for files in MODEL_FILES.values() for file in files} == {file.sha256 for file in ALL_FILES}
