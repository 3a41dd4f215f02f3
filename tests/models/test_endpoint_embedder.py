"""The embedding endpoint, with a real local server.

Covers `lamina.models.json_endpoint` and `lamina.vectors.integer_vectors`.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from lamina.errors import InvalidInput
from lamina.models.embedder import Embedder, TextToEncode, TokenStates
from lamina.models.errors import ModelError, ModelUnreachable
from lamina.models.external_embedder import BATCH_SIZE, ExternalEmbedder, connect_embedder

Json = Any
Reply = Callable[[list[str]], tuple[int, Json]]


def vectors(texts: list[str]) -> tuple[int, Json]:
    """Last first, to see that places are minded."""
    rows = [{"index": n, "embedding": [float(len(text)), 1.0, 0.0]} for n, text in enumerate(texts)]
    return 200, {"data": rows[::-1]}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.script: list[Reply] = []
        self.asked: list[Json] = []
        self.keys: list[str | None] = []
        self.headers: dict[str, str] = {}
        self.slept: list[float] = []
        self.release = threading.Event()

    def embedder(self, **more: Any) -> ExternalEmbedder:
        return connect_embedder(
            f"http://127.0.0.1:{self.server_port}/v1", "tiny", "secret", sleep=self.slept.append, **more
        )

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever would not wait is no longer there to be answered."""


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        server = self.server
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append({"path": self.path, **document})
        server.keys.append(self.headers["Authorization"])
        reply = server.script.pop(0) if server.script else vectors
        status, answer = reply(document["input"])
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.release.set()
        server.shutdown()
        thread.join()


def busy(status: int) -> Reply:
    return lambda texts: (status, {"error": "busy"})


def test_texts_become_unit_vectors_in_order(server: Server) -> None:
    embedder: Embedder = server.embedder()
    got = embedder.encode_passages([TextToEncode("a", 1), TextToEncode("bbb", 1)])
    assert [encoded_text.states for encoded_text in got] == [b"", b""]
    assert np.allclose(got[0].vectors, [[0.5**0.5, 0.5**0.5, 0]])
    assert np.allclose(got[1].vectors, np.array([[3, 1, 0]]) / 10**0.5)
    assert embedder.model.dimensions == 3
    assert embedder.model.states is TokenStates.NONE
    assert embedder.model.id == f"openai:tiny@127.0.0.1:{server.server_port}"
    assert server.asked[-1] == {
        "path": "/v1/embeddings",
        "model": "tiny",
        "input": ["a", "bbb"],
        "encoding_format": "float",
    }
    assert set(server.keys) == {"Bearer secret"}


def test_a_question_has_a_vector_and_no_tokens(server: Server) -> None:
    question = server.embedder(dimensions=3).encode_question("why")
    assert question.tokens.shape == (0, 3)
    assert question.spans == ()
    assert np.isclose(np.linalg.norm(question.vector), 1)
    assert len(server.asked) == 1


def test_many_texts_are_sent_in_batches(server: Server) -> None:
    embedder = server.embedder(dimensions=3)
    got = embedder.encode_passages([TextToEncode("x" * (n + 1), 1) for n in range(2 * BATCH_SIZE + 1)])
    assert len(got) == 2 * BATCH_SIZE + 1
    assert [len(request["input"]) for request in server.asked] == [BATCH_SIZE, BATCH_SIZE, 1]
    assert float(got[-1].vectors[0, 0]) > float(got[0].vectors[0, 0])


def test_blank_texts_are_not_sent(server: Server) -> None:
    embedder = server.embedder(dimensions=3)
    got = embedder.encode_passages([TextToEncode(" ", 1), TextToEncode("a", 1), TextToEncode("", 1)])
    assert [bool(encoded_text.vectors.any()) for encoded_text in got] == [False, True, False]
    assert server.asked[0]["input"] == ["a"]
    assert not embedder.encode_question("").vector.any()
    assert embedder.encode_passages([]) == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_retried(server: Server, status: int) -> None:
    server.script = [busy(status), busy(status)]
    assert server.embedder(dimensions=3).encode_question("a").vector.any()
    assert server.slept == [0.5, 1.0]


def test_a_busy_endpoint_may_name_the_retry_delay(server: Server) -> None:
    server.script, server.headers = [busy(429)], {"Retry-After": "7"}
    server.embedder(dimensions=3).encode_question("a")
    assert server.slept == [7.0]


def test_retries_are_limited(server: Server) -> None:
    server.script = [busy(500)] * 9
    with pytest.raises(ModelUnreachable, match="500 again and again"):
        server.embedder(dimensions=3).encode_question("a")
    assert server.slept == [0.5, 1.0, 2.0]


def test_a_refusal_is_reported_immediately_and_without_the_key(server: Server) -> None:
    server.script = [busy(401), busy(404)]
    with pytest.raises(ModelError, match="check the API key") as refused:
        server.embedder(dimensions=3).encode_question("a")
    assert "secret" not in str(refused.value)
    with pytest.raises(ModelError, match=r"404.*check the address"):
        server.embedder(dimensions=3).encode_question("a")
    assert server.slept == []


def test_texts_and_key_follow_no_redirect(server: Server) -> None:
    server.script, server.headers = [busy(307)], {"Location": f"http://127.0.0.1:{server.server_port}/elsewhere"}
    with pytest.raises(ModelError, match="307"):
        server.embedder(dimensions=3).encode_question("a")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>hello</html>",
        {"data": "none"},
        {"data": [{"embedding": [1.0, 2.0]}]},
        {"data": [{"index": 0, "embedding": "text"}]},
        {"data": [{"index": 1, "embedding": [1.0, 2.0, 3.0]}]},
        {"data": [{"index": 0, "embedding": 3.0}]},
        {"data": []},
        [],
    ],
)
def test_a_response_without_vectors_is_an_error(server: Server, answer: Json) -> None:
    server.script = [lambda texts: (200, answer)]
    with pytest.raises(ModelError, match="did not answer with"):
        server.embedder(dimensions=3).encode_question("a")


def test_a_wrong_number_of_vectors_is_an_error(server: Server) -> None:
    server.script = [lambda texts: vectors([*texts, "more"])]
    with pytest.raises(ModelError, match="2 vectors for 1 texts"):
        server.embedder(dimensions=3).encode_question("a")


def test_a_changed_width_is_an_error(server: Server) -> None:
    embedder = server.embedder()
    assert embedder.model.dimensions == 3
    server.script = [lambda texts: (200, {"data": [{"index": 0, "embedding": [1.0, 2.0]}]})]
    with pytest.raises(ModelError, match="2 dimensions where 3"):
        embedder.encode_question("a")


def test_non_finite_numbers_are_an_error(server: Server) -> None:
    server.script = [lambda texts: (200, b'{"data": [{"index": 0, "embedding": [NaN, 1, 1]}]}')]
    with pytest.raises(ModelError, match="no usable vectors"):
        server.embedder(dimensions=3).encode_question("a")


def test_an_unresponsive_endpoint_times_out(server: Server) -> None:
    def silent(texts: list[str]) -> tuple[int, Json]:
        server.release.wait(10)
        return vectors(texts)

    server.script = [silent] * 4
    with pytest.raises(ModelUnreachable, match="timed out"):
        server.embedder(dimensions=3, timeout=0.05).encode_question("a")
    assert len(server.slept) == 3


def test_an_unreachable_endpoint_is_reported() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ModelUnreachable, match="is it running"):
            connect_embedder(address, "tiny", sleep=lambda seconds: None).encode_question("a")


@pytest.mark.parametrize("address", ["", "localhost:8080", "file:///etc/passwd", "ftp://somewhere/v1"])
def test_an_address_must_be_http(address: str) -> None:
    with pytest.raises(InvalidInput, match="address"):
        connect_embedder(address, "tiny")
