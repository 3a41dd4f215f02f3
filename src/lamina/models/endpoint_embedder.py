"""Endpoints with OpenAI's `/v1/embeddings` API: hosted, or a server on the user's machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lamina.models.dense_embedder import DenseEmbedder
from lamina.models.errors import ModelError
from lamina.models.json_endpoint import TIMEOUT, JsonEndpoint
from lamina.telemetry import trace_model_call
from lamina.vectors.levels import Floats

BATCH_SIZE = 64


def connect_embedder(
    base_url: str,
    model: str,
    api_key: str | None = None,
    *,
    dimensions: int | None = None,
    timeout: float = TIMEOUT,
    sleep: Callable[[float], None] = time.sleep,
) -> DenseEmbedder:
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

    return DenseEmbedder(model_id, embed, embed, dimensions=dimensions)


def _parse_rows(answer: Any) -> Floats:
    """Return the vectors of an answer, one row for each text. Raises ValueError if some are missing."""
    entries = sorted(answer["data"], key=lambda entry: entry["index"])
    if [entry["index"] for entry in entries] != list(range(len(entries))):
        raise ValueError("indexes are missing")
    rows = np.array([entry["embedding"] for entry in entries], np.float32)
    if rows.ndim != 2:
        raise ValueError("no rows")
    return rows
