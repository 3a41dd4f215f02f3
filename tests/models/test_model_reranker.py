"""The reranking endpoint, with a real local server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

import lamina
from lamina.errors import InvalidInput
from lamina.models.errors import ModelError
from lamina.models.reranker import EndpointReranker, FastembedReranker, choose_reranker
from lamina.recall.scoring_profiles import RERANKED_COUNT, RERANKER_SHARE


class Server(BaseHTTPRequestHandler):
    """Likes passages that name an oak, and says so in log-odds; what it was asked is kept."""

    requests: ClassVar[list[dict[str, Any]]] = []
    answer: Any = None

    def do_POST(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).requests.append({"path": self.path, **document})
        results = [
            {"index": n, "relevance_score": 4.0 if "oak" in text else -4.0}
            for n, text in enumerate(document["documents"])
        ]
        body = json.dumps(self.answer if self.answer is not None else {"results": results[::-1]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(answer: Any = None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    class Handler(Server):
        requests: ClassVar[list[dict[str, Any]]] = []

    Handler.answer = answer
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", Handler.requests
        server.shutdown()


def test_scores_are_in_passage_order_and_between_0_and_1() -> None:
    with serving() as (url, result):
        scores = EndpointReranker(url, "m").scores("which tree?", ["a rose", "an oak", "a fern"])
    assert scores == pytest.approx([0.018, 0.982, 0.018], abs=0.001)
    assert result[0]["path"] == "/v1/rerank"
    assert (result[0]["model"], result[0]["query"], result[0]["top_n"]) == ("m", "which tree?", 3)


@pytest.mark.parametrize(
    "answer", [{"results": []}, {"results": [{"index": 7, "relevance_score": 1}]}, {"data": []}, [1], "no"]
)
def test_an_incomplete_ranking_is_an_error(answer: Any) -> None:
    with serving(answer) as (url, _), pytest.raises(ModelError, match=r"127\.0\.0\.1"):
        EndpointReranker(url, "m").scores("which tree?", ["a rose", "an oak"])


def test_the_reranker_adds_a_term_to_the_best_hits_and_reorders_them(tmp_path: Path) -> None:
    with serving() as (url, result):
        settings = lamina.Settings(embedder="light", background=False, reranker="endpoint:m", reranker_url=url)
        with lamina.open(tmp_path / "vault", watch=False, settings=settings) as memory:
            memory.remember("The tree in the garden is a rose.", subject="rose")
            memory.remember("Behind the house stands an oak.", subject="house")
            for n in range(20):
                memory.remember(f"The tree number {n} in the garden is small.", subject=f"tree {n}")
            hits = memory.recall("which tree is in the garden?", k=30).hits
        assert len(result[0]["documents"]) == RERANKED_COUNT
        actual = [dict(hit.terms).get("reranker") for hit in hits]
        assert len([item for item in actual if item is not None]) == RERANKED_COUNT
        assert all(item is None or 0 < item <= RERANKER_SHARE for item in actual)
        for hit in hits:
            assert hit.relevance == pytest.approx(max(0.0, sum(value for _, value in hit.terms)), abs=1e-9)


def test_without_its_server_recall_works_without_the_term(tmp_path: Path) -> None:
    with serving({"nonsense": 1}) as (url, _):
        settings = lamina.Settings(embedder="light", background=False, reranker="endpoint:m", reranker_url=url)
        with lamina.open(tmp_path / "vault", watch=False, settings=settings) as memory:
            memory.remember("Behind the house stands an oak.")
            (hit,) = memory.recall("what stands behind the house?").hits
    assert "reranker" not in dict(hit.terms)


def test_a_setting_names_a_reranker_or_what_is_missing() -> None:
    assert choose_reranker("none", None, None) is None
    with pytest.raises(InvalidInput, match="needs the address"):
        choose_reranker("endpoint:m", None, None)
    with pytest.raises(InvalidInput, match="none, endpoint:MODEL or fastembed:NAME"):
        choose_reranker("best", None, None)
    with pytest.raises(ModelError, match=r"lamina\[fastembed\]"):
        FastembedReranker("any")
