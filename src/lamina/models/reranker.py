"""A second opinion on the best candidates: a model that reads question and passage together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from math import exp
from typing import Any, Protocol

from lamina.errors import InvalidInput
from lamina.models.chat import Chat
from lamina.models.chat_reranker import ChatReranker
from lamina.models.endpoint import Endpoint
from lamina.models.errors import ModelError

SETTINGS = "chat:, chat:MODEL, none, endpoint:MODEL or fastembed:NAME"

ChatNamed = Callable[[str], Chat | None]
"""Gives the chat model of that name from the server in the settings; '' is the one the settings name."""


class Reranker(Protocol):
    """Reads each passage together with the question; the same pair always gets the same score."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """How well each passage answers, from 0 to 1."""


class EndpointReranker:
    """Any server with a `/rerank` endpoint: llama.cpp, vLLM, Jina, Cohere and their kin."""

    def __init__(self, base_url: str, model: str, api_key: str | None = None) -> None:
        self._model, self._endpoint = model, Endpoint(base_url, "/rerank", api_key)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        asked = {"model": self._model, "query": question, "documents": list(passages), "top_n": len(passages)}
        found = self._endpoint.ask(asked, _scores, "a ranking")
        if sorted(found) != list(range(len(passages))):
            raise ModelError(f"{self._endpoint.host} ranked {len(found)} of {len(passages)} passages")
        return [found[n] for n in range(len(passages))]


class FastembedReranker:
    """A cross-encoder of the fastembed package, which fetches its weights itself."""

    def __init__(self, name: str) -> None:
        try:
            library = import_module("fastembed.rerank.cross_encoder")
        except ImportError as error:
            raise ModelError("a cross-encoder needs an extra: pip install 'lamina[fastembed]'") from error
        self._encoder = library.TextCrossEncoder(model_name=name)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        return [_between_0_and_1(float(each)) for each in self._encoder.rerank(question, list(passages))]


def choose_reranker(
    setting: str, base_url: str | None, api_key: str | None, chat: ChatNamed | None = None
) -> Reranker | None:
    """The reranker a setting stands for."""
    family, _, name = setting.partition(":")
    match family, name:
        case "none", "":
            return None
        case "endpoint", name if name:
            if not base_url:
                raise InvalidInput(f"{setting} needs the address of its server, such as http://127.0.0.1:8080/v1")
            return EndpointReranker(base_url, name, api_key)
        case "fastembed", name if name:
            return FastembedReranker(name)
        case "chat", name:
            asked = chat(name) if chat else None
            if asked is None:
                raise InvalidInput(f"{setting} needs a chat model; set chat to openai:MODEL or anthropic:MODEL")
            return ChatReranker(asked)
        case _:
            raise InvalidInput(f"no reranker is called {setting!r}; it is one of {SETTINGS}")


def _scores(answer: Any) -> dict[int, float]:
    return {int(each["index"]): _between_0_and_1(float(each["relevance_score"])) for each in answer["results"]}


def _between_0_and_1(score: float) -> float:
    """Some models give a probability, some its log-odds."""
    return score if 0.0 <= score <= 1.0 else 1.0 / (1.0 + exp(-max(-500.0, min(500.0, score))))
