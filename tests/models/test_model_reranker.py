"""A second opinion from a real server on this machine."""

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

    asked: ClassVar[list[dict[str, Any]]] = []
    answer: Any = None

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append({"path": self.path, **asked})
        results = [
            {"index": n, "relevance_score": 4.0 if "oak" in text else -4.0} for n, text in enumerate(asked["documents"])
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
        asked: ClassVar[list[dict[str, Any]]] = []

    Handler.answer = answer
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", Handler.asked
        server.shutdown()


def test_scores_come_in_the_order_of_the_passages_and_between_0_and_1() -> None:
    with serving() as (url, asked):
        scores = EndpointReranker(url, "m").scores("which tree?", ["a rose", "an oak", "a fern"])
    assert scores == pytest.approx([0.018, 0.982, 0.018], abs=0.001)
    assert asked[0]["path"] == "/v1/rerank"
    assert (asked[0]["model"], asked[0]["query"], asked[0]["top_n"]) == ("m", "which tree?", 3)


@pytest.mark.parametrize(
    "answer", [{"results": []}, {"results": [{"index": 7, "relevance_score": 1}]}, {"data": []}, [1], "no"]
)
def test_an_answer_that_is_no_ranking_of_them_all_is_an_error(answer: Any) -> None:
    with serving(answer) as (url, _), pytest.raises(ModelError, match=r"127\.0\.0\.1"):
        EndpointReranker(url, "m").scores("which tree?", ["a rose", "an oak"])


def test_a_second_opinion_is_a_term_of_the_best_and_moves_them(tmp_path: Path) -> None:
    with serving() as (url, asked):
        settings = lamina.Settings(embedder="light", background=False, reranker="endpoint:m", reranker_url=url)
        with lamina.Memory(tmp_path / "vault", watch=False, settings=settings) as memory:
            memory.remember("The tree in the garden is a rose.", subject="rose")
            memory.remember("Behind the house stands an oak.", subject="house")
            for n in range(20):
                memory.remember(f"The tree number {n} in the garden is small.", subject=f"tree {n}")
            hits = memory.recall("which tree is in the garden?", k=30).hits
        assert len(asked[0]["documents"]) == RERANKED_COUNT
        told = [dict(hit.terms).get("reranker") for hit in hits]
        assert len([each for each in told if each is not None]) == RERANKED_COUNT
        assert all(each is None or 0 < each <= RERANKER_SHARE for each in told)
        for hit in hits:
            assert hit.relevance == pytest.approx(max(0.0, sum(value for _, value in hit.terms)), abs=1e-9)


def test_without_its_server_recall_works_and_says_nothing_wrong(tmp_path: Path) -> None:
    with serving({"nonsense": 1}) as (url, _):
        settings = lamina.Settings(embedder="light", background=False, reranker="endpoint:m", reranker_url=url)
        with lamina.Memory(tmp_path / "vault", watch=False, settings=settings) as memory:
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
