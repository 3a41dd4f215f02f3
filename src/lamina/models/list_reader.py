"""The list reader: reads one text together with several others in one run, and says how each of them relates to it.

The first text is a question or a request to forget; the others are candidates, oldest first. Because they are read
together, a candidate is judged in view of the newer ones. The weights are made by `make train`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lamina.models.onnx_models import open_weights
from lamina.models.state_model import StateTrunk
from lamina.vectors.integer_vectors import Floats

MAX_PIECES = 64
"""Word pieces of a text that are read."""
CACHED_TEXTS = 1024
"""Texts whose states are cached, in 16 bits: about 40 MB of ordinary turns, at most 100."""
MAX_CANDIDATES = 20
"""Candidates of one run."""
TASKS = ("question", "statement", "request")
"""What the first text is. Statements, whose candidates are earlier statements, are only used in training: the pair
model, which reads two texts alone, is better at deciding what replaces what."""
ANSWER_CLASSES = ("none", "answers", "outdated")
"""What a candidate is to a question: no answer, an answer, or an earlier value of what a newer candidate answers."""
RELATION_CLASSES = ("replaces", "ends", "repeats", "keeps")
"""What a new statement does to an earlier one."""
FORGET_CLASSES = ("not meant", "meant")
"""Whether a request to forget means a statement."""
CLASS_COUNT = len(ANSWER_CLASSES) + len(RELATION_CLASSES) + len(FORGET_CLASSES)


class AnswerReading(NamedTuple):
    """Probabilities that a candidate answers a question, and that it states an earlier value of the requested slot."""

    answers: float
    outdated: float


class ListReader:
    """Reads lists of texts, one list a run. Loaded at first use; threads may share it."""

    def __init__(self, trunk: StateTrunk) -> None:
        self._weights = f"reader_{trunk.name}.onnx"
        self._encode = lru_cache(CACHED_TEXTS)(lambda text: encode_pieces(text, trunk))

    def answers(self, question: str, candidates: Sequence[str]) -> list[AnswerReading]:
        """Return for each candidate, oldest first, whether it answers a question or states an earlier value."""
        rows = _softmax(self._read("question", question, candidates)[:, : len(ANSWER_CLASSES)])
        return [AnswerReading(row[1], row[2]) for row in rows.tolist()]

    def forgets(self, request: str, statements: Sequence[str]) -> list[float]:
        """Return the probability that a request to forget means each statement, oldest first."""
        rows = _softmax(self._read("request", request, statements)[:, -len(FORGET_CLASSES) :])
        return [float(row[1]) for row in rows.tolist()]

    def _read(self, task: str, first: str, candidates: Sequence[str]) -> Floats:
        """Return the outputs of each candidate; more than MAX_CANDIDATES of them are read in several runs."""
        if not candidates:
            return np.zeros((0, CLASS_COUNT), np.float32)
        session = open_weights(self._weights)
        first_pieces, candidate_pieces = self._encode(first), [*map(self._encode, candidates)]
        lists = (
            candidate_pieces[start : start + MAX_CANDIDATES]
            for start in range(0, len(candidate_pieces), MAX_CANDIDATES)
        )
        rows = [session.run(None, build_inputs(task, first_pieces, part))[0] for part in lists]
        return np.concatenate(rows).astype(np.float64)


class EncodedPieces(NamedTuple):
    """A text's word pieces, with one in front and one behind: ids, which of them are words, the states that the network
    reads, and the unit vectors by which texts are matched."""

    ids: NDArray[np.int64]
    is_word: NDArray[np.bool_]
    states: NDArray[np.float16]
    meanings: NDArray[np.float16]


def encode_pieces(text: str, trunk: StateTrunk) -> EncodedPieces:
    """Return as much of a text as is read, with its states."""
    tokens = trunk.tokens(text).first(MAX_PIECES)
    states, meanings = trunk.states(tokens.ids), trunk.meanings(tokens.ids)
    meanings = meanings / np.maximum(1e-9, np.linalg.norm(meanings, axis=1, keepdims=True))
    ids, is_word = np.concatenate(([0], tokens.ids, [0])), np.zeros(len(tokens.ids) + 2, np.bool_)
    is_word[1:-1] = trunk.is_word(tokens)
    return EncodedPieces(ids, is_word, states.astype(np.float16), meanings.astype(np.float16))


MATCH_COUNT = 6
"""How many values `compute_matches` returns for each candidate."""


def compute_matches(first: EncodedPieces, candidates: Sequence[EncodedPieces]) -> Floats:
    """Return how well each candidate matches the first text: by its mean vector, by the best match of each word piece
    and by equal word pieces, weighted by their rarity among the candidates; and how far each value is from the best."""
    words = [set(candidate.ids[candidate.is_word].tolist()) for candidate in candidates]
    rarity = np.array(
        [
            math.log(1 + len(words) / (1 + sum(piece in candidate_words for candidate_words in words)))
            for piece in first.ids.tolist()
        ]
    )
    rarity[~first.is_word] *= 0.1
    rarity /= max(1e-9, float(rarity.sum()))
    first_vectors = first.meanings.astype(np.float32)
    whole, rows = _unit(first_vectors.mean(0)), []
    for candidate in candidates:
        vectors = candidate.meanings.astype(np.float32)
        best, is_held = (first_vectors @ vectors.T).max(axis=1), np.isin(first.ids, candidate.ids)
        rows.append((float(whole @ _unit(vectors.mean(0))), float(rarity @ best), float(rarity @ is_held)))
    values = np.array(rows, np.float32).reshape(-1, MATCH_COUNT // 2)
    return np.concatenate((values, values - values.max(axis=0, initial=-1.0)), axis=1)


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / max(1e-9, float(np.linalg.norm(vector))), np.float32)


def build_inputs(task: str, first: EncodedPieces, candidates: Sequence[EncodedPieces]) -> dict[str, NDArray[Any]]:
    """Return the network's inputs: all states in a row, the kind of each, the candidate it belongs to, the age of each
    candidate, the newest being 0, and how well it matches."""
    states = np.concatenate([first.states, *(candidate.states for candidate in candidates)]).astype(np.float32)
    first_words = first.ids[first.is_word]
    kinds = [np.zeros(len(first.ids), np.int64), *(1 + np.isin(candidate.ids, first_words) for candidate in candidates)]
    inside = np.zeros((len(candidates), len(states)), np.float32)
    start = len(first.ids)
    for row, candidate in enumerate(candidates):
        inside[row, start : start + len(candidate.ids)] = 1.0
        start += len(candidate.ids)
    ages = np.minimum(np.arange(len(candidates))[::-1], MAX_CANDIDATES - 1)
    return {
        "states": states,
        "kinds": np.concatenate(kinds).astype(np.int64),
        "inside": inside,
        "ages": np.ascontiguousarray(ages).astype(np.int64),
        "matches": compute_matches(first, candidates),
        "task": np.array([TASKS.index(task)]),
    }


def _softmax(rows: Floats) -> Floats:
    exponents = np.exp(rows - rows.max(axis=1, keepdims=True, initial=-30.0))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True), np.float64)
