"""Any endpoint that speaks OpenAI's `/v1/embeddings`: hosted, or a server on the user's own machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lamina.models.dense import Dense
from lamina.models.endpoint import TIMEOUT, Endpoint
from lamina.models.errors import ModelError
from lamina.telemetry import model_call
from lamina.vectors.levels import Floats

BATCH = 64


def remote(
    base_url: str,
    model: str,
    api_key: str | None = None,
    *,
    dimensions: int | None = None,
    timeout: float = TIMEOUT,
    sleep: Callable[[float], None] = time.sleep,
) -> Dense:
    """An embedder behind `base_url`, which ends before `/embeddings`, as in OpenAI's own libraries."""
    endpoint = Endpoint(base_url, "/embeddings", api_key, timeout=timeout, sleep=sleep)
    known_as = f"openai:{model}@{endpoint.host}"

    def batch(texts: Sequence[str]) -> Floats:
        asked = {"model": model, "input": list(texts), "encoding_format": "float"}
        with model_call("embeddings", known_as):
            rows = endpoint.ask(asked, _rows, "embeddings")
        if len(rows) != len(texts):
            raise ModelError(f"{endpoint.host} gave {len(rows)} vectors for {len(texts)} texts")
        return rows

    def embed(texts: Sequence[str]) -> Floats:
        return np.concatenate([batch(texts[n : n + BATCH]) for n in range(0, len(texts), BATCH)])

    return Dense(known_as, embed, embed, dimensions=dimensions)


def _rows(answer: Any) -> Floats:
    found = sorted(answer["data"], key=lambda each: each["index"])
    if [each["index"] for each in found] != list(range(len(found))):
        raise ValueError("places are missing")
    rows = np.array([each["embedding"] for each in found], np.float32)
    if rows.ndim != 2:
        raise ValueError("no rows")
    return rows
