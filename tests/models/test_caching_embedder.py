from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from lamina.models.embedder import (
    CachingEmbedder,
    Embedder,
    EmbeddingModel,
    EncodedQuestion,
    EncodedText,
    TextToEncode,
    TokenStates,
)


class Counting:
    model = EmbeddingModel("counting", 2, TokenStates.NONE)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_passages(self, pieces: Sequence[TextToEncode]) -> list[EncodedText]:
        return [EncodedText(np.ones((1, 2), np.float32), b"") for _ in pieces]

    def encode_question(self, text: str) -> EncodedQuestion:
        self.asked.append(text)
        return EncodedQuestion(np.array([len(text), 1], np.float32), np.zeros((0, 2), np.float32), ())


def test_a_question_is_encoded_once() -> None:
    inner = Counting()
    cached: Embedder = CachingEmbedder(inner)
    assert cached.encode_question("a") is cached.encode_question("a")
    assert cached.encode_question("bb").vector[0] == 2
    assert inner.asked == ["a", "bb"]
    assert cached.model is inner.model
    assert len(cached.encode_passages([TextToEncode("x", 1)] * 2)) == 2


def test_the_least_recently_used_question_is_evicted() -> None:
    inner = Counting()
    cached = CachingEmbedder(inner, limit=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.encode_question(text)
    assert inner.asked == ["a", "b", "c", "b"]


def test_cached_vectors_are_read_only() -> None:
    probe = CachingEmbedder(Counting()).encode_question("a")
    with pytest.raises(ValueError, match="read-only"):
        probe.vector[0] = 7


def test_threads_share_the_cache() -> None:
    cached, wrong = CachingEmbedder(Counting(), limit=5), list[str]()

    def ask(seed: int) -> None:
        for n in range(500):
            text = "x" * ((n * seed) % 11)
            if cached.encode_question(text).vector[0] != len(text):
                wrong.append(text)

    work = [threading.Thread(target=ask, args=(seed,)) for seed in (1, 3, 7)]
    for job in work:
        job.start()
    for job in work:
        job.join()
    assert wrong == []
