"""Rerankers read the question together with the best candidates: a model one by one, a chat model twelve at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from math import exp
from typing import Any, Protocol

from pydantic import BaseModel, Field

from lamina.errors import InvalidInput
from lamina.models.chat import MOST_TOKENS, Chat, Message, system_message, user_message
from lamina.models.errors import ModelError
from lamina.models.json_endpoint import JsonEndpoint
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise

MAX_PASSAGES, MAX_PICKS = 12, 6
_MAX_LENGTH = 600
_TASK = f"""\
You judge which notes answer a question. Pick up to {MAX_PICKS} notes that help to answer it, the best first. For each
give its number and how well it answers from 0 (not at all) to 100 (fully). Pick none where none helps. {DATA_ONLY}"""


class Pick(BaseModel):
    """A passage by its number, and how well it answers."""

    note: int = Field(ge=1, le=MAX_PASSAGES)
    fits: int = Field(ge=0, le=100)


class Picks(BaseModel):
    """The passages that answer, best first."""

    picks: list[Pick] = Field(max_length=MAX_PICKS)


class ChatReranker:
    """Reads passages together, so a score depends on the others; a passage that is not picked gets 0."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how well each passage answers, from 0 to 1."""
        return [
            score
            for start in range(0, len(passages), MAX_PASSAGES)
            for score in self._batch(question, passages[start : start + MAX_PASSAGES])
        ]

    def _batch(self, question: str, passages: Sequence[str]) -> list[float]:
        picks = self._chat.ask(_build_messages(question, passages), Picks, most_tokens=MOST_TOKENS).value.picks
        scores = [0.0] * len(passages)
        for pick in picks:
            if pick.note <= len(passages):
                scores[pick.note - 1] = max(scores[pick.note - 1], pick.fits / 100)
        return scores


def _build_messages(question: str, passages: Sequence[str]) -> list[Message]:
    notes = [f"[{n}] {sanitise(text, _MAX_LENGTH)}" for n, text in enumerate(passages, 1)]
    return [system_message(_TASK), user_message(fence_data([f"question: {sanitise(question, _MAX_LENGTH)}", *notes]))]


RERANKER_SETTINGS = "chat:, chat:MODEL, none, endpoint:MODEL or fastembed:NAME"

ChatLoader = Callable[[str], Chat | None]
"""Returns the chat model of that name from the configured server; '' is the configured model."""


class Reranker(Protocol):
    """Reads each passage together with the question; the same pair always gets the same score."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return how well each passage answers, from 0 to 1. Raises ModelError if it fails."""


class EndpointReranker:
    """Any server with a `/rerank` endpoint: llama.cpp, vLLM, Jina, Cohere and similar ones."""

    def __init__(self, base_url: str, model: str, api_key: str | None = None) -> None:
        self._model, self._endpoint = model, JsonEndpoint(base_url, "/rerank", api_key)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        body = {"model": self._model, "query": question, "documents": list(passages), "top_n": len(passages)}
        scores_by_index = self._endpoint.request(body, _parse_scores, "a ranking")
        if sorted(scores_by_index) != list(range(len(passages))):
            raise ModelError(f"{self._endpoint.host} ranked {len(scores_by_index)} of {len(passages)} passages")
        return [scores_by_index[n] for n in range(len(passages))]


class FastembedReranker:
    """A cross-encoder of the fastembed package, which downloads its weights itself."""

    def __init__(self, name: str) -> None:
        try:
            library = import_module("fastembed.rerank.cross_encoder")
        except ImportError as error:
            raise ModelError("a cross-encoder needs an extra: pip install 'lamina[fastembed]'") from error
        self._encoder = library.TextCrossEncoder(model_name=name)

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        return [_to_probability(float(score)) for score in self._encoder.rerank(question, list(passages))]


def choose_reranker(
    setting: str, base_url: str | None, api_key: str | None, chat: ChatLoader | None = None
) -> Reranker | None:
    """Return the reranker for a setting, or None. Raises InvalidInput for an unknown setting or a missing address or
    chat model."""
    family, _, name = setting.partition(":")
    match family, name:
        case ["none", ""]:
            return None
        case ["endpoint", name] if name:
            if not base_url:
                raise InvalidInput(f"{setting} needs the address of its server, such as http://127.0.0.1:8080/v1")
            return EndpointReranker(base_url, name, api_key)
        case ["fastembed", name] if name:
            return FastembedReranker(name)
        case ["chat", name]:
            chat_model = chat(name) if chat else None
            if chat_model is None:
                raise InvalidInput(f"{setting} needs a chat model; set chat to openai:MODEL or anthropic:MODEL")
            return ChatReranker(chat_model)
        case _:
            raise InvalidInput(f"unknown reranker {setting!r}; choose one of {RERANKER_SETTINGS}")


def _parse_scores(answer: Any) -> dict[int, float]:
    return {int(entry["index"]): _to_probability(float(entry["relevance_score"])) for entry in answer["results"]}


def _to_probability(score: float) -> float:
    """Return a score as a probability; some models return log-odds."""
    return score if 0.0 <= score <= 1.0 else 1.0 / (1.0 + exp(-max(-500.0, min(500.0, score))))
