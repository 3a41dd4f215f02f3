"""Embedders of other libraries, if they are installed; loaded at first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from lamina.models.dense import Dense, Embed
from lamina.models.errors import ModelMissing
from lamina.vectors.levels import Floats


def fastembed(name: str) -> Dense:
    """Return the fastembed model of this name."""
    load = cache(lambda: _package("fastembed", "fastembed").TextEmbedding(name, threads=1))
    # One text per batch: other texts in a batch must not change its vector.
    passages = _embed(lambda texts: list(load().passage_embed(texts, batch_size=1)))
    questions = _embed(lambda texts: list(load().query_embed(texts)))
    return Dense(f"fastembed:{name}", passages, questions)


def sentence_transformers(name: str) -> Dense:
    """Return the sentence-transformers model of this name."""
    load = cache(lambda: _package("sentence_transformers", "sentence-transformers").SentenceTransformer(name))
    passages = _embed(lambda texts: load().encode(texts, batch_size=1, show_progress_bar=False))
    return Dense(f"sentence-transformers:{name}", passages, passages)


def _embed(ask: Callable[[list[str]], Any]) -> Embed:
    def embed(texts: Sequence[str]) -> Floats:
        return np.asarray(ask(list(texts)), np.float32)

    return embed


def _package(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ModelMissing(f"{extra} is not installed; `pip install 'lamina[{extra}]'`") from error
