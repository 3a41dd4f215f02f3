"""Embedders that return one vector for a text and nothing else: endpoints, and libraries that the user chose."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from lamina.models.embedder import EmbeddingModel, EncodedQuestion, EncodedText, TextToEncode, TokenStates
from lamina.models.errors import ModelError, ModelMissing
from lamina.models.json_endpoint import TIMEOUT, JsonEndpoint
from lamina.telemetry import trace_model_call
from lamina.vectors.integer_vectors import Floats, normalise_rows

EmbedFunction = Callable[[Sequence[str]], Floats]
"""Returns one row for each text, in order, of any length."""

BATCH_SIZE = 64
"""Texts that are sent to an endpoint at once."""
MAX_CHARACTERS = 24_000
"""Characters; most such models read less, and endpoints reject much longer texts."""


class ExternalEmbedder:
    """An embedder around a function; the width of its vectors is taken from the first result, unless it is given."""

    def __init__(
        self, model_id: str, passages: EmbedFunction, questions: EmbedFunction, *, dimensions: int | None = None
    ) -> None:
        self._id, self._passages, self._questions = model_id, passages, questions
        self._dimensions = dimensions
        self._lock = Lock()

    @property
    def model(self) -> EmbeddingModel:
        """The model; its width is measured with one call if it is not known."""
        if self._dimensions is None:
            self._rows(self._passages, ["width"])
        assert self._dimensions is not None
        return EmbeddingModel(self._id, self._dimensions, TokenStates.NONE)

    def encode_passages(self, texts: Sequence[TextToEncode]) -> list[EncodedText]:
        return [
            EncodedText(row[None, :], b"") for row in self._embed_all(self._passages, [piece.text for piece in texts])
        ]

    def encode_question(self, text: str) -> EncodedQuestion:
        return EncodedQuestion(
            self._embed_all(self._questions, [text])[0], np.zeros((0, self.model.dimensions), np.float32), ()
        )

    def _embed_all(self, embed: EmbedFunction, texts: Sequence[str]) -> Floats:
        """Return a unit row for each text; zeros for a blank one, which endpoints reject."""
        sent = [n for n, text in enumerate(texts) if text.strip()]
        rows = np.zeros((len(texts), self.model.dimensions), np.float32)
        if sent:
            rows[sent] = normalise_rows(self._rows(embed, [_make_sendable(texts[n]) for n in sent]))
        return rows

    def _rows(self, embed: EmbedFunction, texts: Sequence[str]) -> Floats:
        """Call the function and check its result. Raises ModelError if the vectors are unusable."""
        rows = embed(texts)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise ModelError(f"{self._id} gave no usable vectors for {len(texts)} texts; is it an embedding model?")
        with self._lock:
            self._dimensions = self._dimensions or rows.shape[1]
        if rows.shape[1] != self._dimensions:
            raise ModelError(f"{self._id} gave {rows.shape[1]} dimensions where {self._dimensions} were expected")
        return rows


def _make_sendable(text: str) -> str:
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def connect_embedder(
    base_url: str,
    model: str,
    api_key: str | None = None,
    *,
    dimensions: int | None = None,
    timeout: float = TIMEOUT,
    sleep: Callable[[float], None] = time.sleep,
) -> ExternalEmbedder:
    """Return an embedder at `base_url`, which ends before `/embeddings`, as in OpenAI's own libraries."""
    endpoint = JsonEndpoint(base_url, "/embeddings", api_key, timeout=timeout, sleep=sleep)
    model_id = f"openai:{model}@{endpoint.host}"

    def batch(texts: Sequence[str]) -> Floats:
        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        with trace_model_call("embeddings", model_id):
            rows = endpoint.request(body, _parse_rows, "embeddings")
        if len(rows) != len(texts):
            raise ModelError(f"{endpoint.host} gave {len(rows)} vectors for {len(texts)} texts")
        return rows

    def embed(texts: Sequence[str]) -> Floats:
        return np.concatenate([batch(texts[n : n + BATCH_SIZE]) for n in range(0, len(texts), BATCH_SIZE)])

    return ExternalEmbedder(model_id, embed, embed, dimensions=dimensions)


def _parse_rows(answer: Any) -> Floats:
    """Return the vectors of an answer, one row for each text. Raises ValueError if some are missing."""
    entries = sorted(answer["data"], key=lambda entry: entry["index"])
    if [entry["index"] for entry in entries] != list(range(len(entries))):
        raise ValueError("indexes are missing")
    rows = np.array([entry["embedding"] for entry in entries], np.float32)
    if rows.ndim != 2:
        raise ValueError("no rows")
    return rows


def load_fastembed(name: str) -> ExternalEmbedder:
    """Return the fastembed model of this name."""
    load = cache(lambda: _import_package("fastembed", "fastembed").TextEmbedding(name, threads=1))
    # One text per batch: other texts in a batch must not change its vector.
    passages = _wrap_embed(lambda texts: list(load().passage_embed(texts, batch_size=1)))
    questions = _wrap_embed(lambda texts: list(load().query_embed(texts)))
    return ExternalEmbedder(f"fastembed:{name}", passages, questions)


def load_sentence_transformers(name: str) -> ExternalEmbedder:
    """Return the sentence-transformers model of this name."""
    load = cache(lambda: _import_package("sentence_transformers", "sentence-transformers").SentenceTransformer(name))
    passages = _wrap_embed(lambda texts: load().encode(texts, batch_size=1, show_progress_bar=False))
    return ExternalEmbedder(f"sentence-transformers:{name}", passages, passages)


def _wrap_embed(ask: Callable[[list[str]], Any]) -> EmbedFunction:
    def embed(texts: Sequence[str]) -> Floats:
        return np.asarray(ask(list(texts)), np.float32)

    return embed


def _import_package(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ModelMissing(f"{extra} is not installed; `pip install 'lamina[{extra}]'`") from error
