"""Embedders of other libraries, if they are installed; loaded at first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from lamina.models.dense_embedder import DenseEmbedder, EmbedFunction
from lamina.models.errors import ModelMissing
from lamina.vectors.levels import Floats


def load_fastembed(name: str) -> DenseEmbedder:
    """Return the fastembed model of this name."""
    load = cache(lambda: _import_package("fastembed", "fastembed").TextEmbedding(name, threads=1))
    # One text per batch: other texts in a batch must not change its vector.
    passages = _wrap_embed(lambda texts: list(load().passage_embed(texts, batch_size=1)))
    questions = _wrap_embed(lambda texts: list(load().query_embed(texts)))
    return DenseEmbedder(f"fastembed:{name}", passages, questions)


def load_sentence_transformers(name: str) -> DenseEmbedder:
    """Return the sentence-transformers model of this name."""
    load = cache(lambda: _import_package("sentence_transformers", "sentence-transformers").SentenceTransformer(name))
    passages = _wrap_embed(lambda texts: load().encode(texts, batch_size=1, show_progress_bar=False))
    return DenseEmbedder(f"sentence-transformers:{name}", passages, passages)


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
