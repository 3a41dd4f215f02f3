from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from lamina.models.cache import CachedQuestions
from lamina.models.embedder import Embedder, Encoded, Model, Piece, Probe, TokenStates


class Counting:
    model = Model("counting", 2, TokenStates.NONE)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def passages(self, pieces: Sequence[Piece]) -> list[Encoded]:
        return [Encoded(np.ones((1, 2), np.float32), b"") for _ in pieces]

    def question(self, text: str) -> Probe:
        self.asked.append(text)
        return Probe(np.array([len(text), 1], np.float32), np.zeros((0, 2), np.float32), ())


def test_a_question_is_worked_out_once() -> None:
    inner = Counting()
    cached: Embedder = CachedQuestions(inner)
    assert cached.question("a") is cached.question("a")
    assert cached.question("bb").vector[0] == 2
    assert inner.asked == ["a", "bb"]
    assert cached.model is inner.model
    assert len(cached.passages([Piece("x", 1)] * 2)) == 2


def test_the_one_that_was_not_asked_for_longest_is_forgotten() -> None:
    inner = Counting()
    cached = CachedQuestions(inner, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.question(text)
    assert inner.asked == ["a", "b", "c", "b"]


def test_what_is_kept_cannot_be_changed() -> None:
    probe = CachedQuestions(Counting()).question("a")
    with pytest.raises(ValueError, match="read-only"):
        probe.vector[0] = 7


def test_threads_share_it() -> None:
    cached, wrong = CachedQuestions(Counting(), most=5), list[str]()

    def ask(seed: int) -> None:
        for n in range(500):
            text = "x" * ((n * seed) % 11)
            if cached.question(text).vector[0] != len(text):
                wrong.append(text)

    work = [threading.Thread(target=ask, args=(seed,)) for seed in (1, 3, 7)]
    for each in work:
        each.start()
    for each in work:
        each.join()
    assert wrong == []
