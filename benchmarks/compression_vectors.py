"""Vectors that compression is measured on: generated ones of every shape, and those of real conversations."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data_set import BenchCollection
from lamina.models.embedder import Embedder, TextToEncode
from lamina.models.model_choice import choose_embedders
from lamina.models.model_files import models_folder
from lamina.settings import Settings
from lamina.vectors.integer_vectors import Floats

Say = Callable[[str], None]

WIDTH = 384
NOISE_LEVELS = {"one-hot-like": 0.001, "one large dimension": 0.02}
"""How much the other dimensions vary relative to the large one. With almost nothing, two values describe a vector."""
CLUSTERS, SPREAD = 100, 1.5
"""How many clusters the clustered vectors have, and how wide a cluster is relative to its distance from 0."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorSet:
    """Unit vectors of one type, and questions if it makes sense to look for the nearest."""

    name: str
    vectors: Floats
    questions: Floats


def make_vector_sets(count: int, questions: int, seed: int) -> list[VectorSet]:
    """Generate gaussian, heavy-tailed, one-hot-like and clustered vectors; the clustered ones with questions."""
    rng = np.random.default_rng(seed)
    bell = rng.standard_normal((count, WIDTH))
    spiky = rng.standard_normal((count, WIDTH)) ** 5
    single = np.eye(WIDTH)[np.arange(count) % WIDTH]
    none = np.empty((0, WIDTH), dtype=np.float32)
    return [
        VectorSet("gaussian", _units(bell), none),
        VectorSet("spiky", _units(spiky), none),
        *(
            VectorSet(name, _units(single + hum * rng.standard_normal(single.shape)), none)
            for name, hum in NOISE_LEVELS.items()
        ),
        _clustered(count, questions, rng),
    ]


def encode_conversations(
    conversations: Sequence[BenchCollection], questions: int, light: bool, seed: int, say: Say
) -> VectorSet | None:
    """Encode the turns of conversations and some of their questions; None if the model is not installed."""
    embedder = _embedder(light, say)
    if embedder is None:
        return None
    turns = [turn for conversation in conversations for session in conversation.sessions for turn in session.turns]
    question_texts = [question.text for collection in conversations for question in collection.questions]
    chosen_rows = np.random.default_rng(seed).permutation(len(question_texts))[:questions]
    say(f"encoding {len(turns)} turns and {len(chosen_rows)} questions with {embedder.model.id}")
    encoded = embedder.encode_passages([TextToEncode(f"{turn.speaker}: {turn.text}", 1) for turn in turns])
    probes = [embedder.encode_question(question_texts[n]).vector for n in chosen_rows]
    return VectorSet(embedder.model.id, np.stack([item.vectors[0] for item in encoded]), np.stack(probes))


def _embedder(light: bool, say: Say) -> Embedder | None:
    configured = Settings().models_dir
    folder = configured.expanduser() if configured else models_folder(os.environ, Path.home(), sys.platform)
    chosen = choose_embedders("light" if light else "auto", folder)
    embedder = chosen.light if light else chosen.primary
    if embedder is None:
        say("the model is not installed, so only generated vectors are measured; run `lamina models download`")
    return embedder


def _clustered(count: int, questions: int, rng: np.random.Generator) -> VectorSet:
    centres = rng.standard_normal((CLUSTERS, WIDTH)) / math.sqrt(WIDTH)
    vector_centres = centres[rng.integers(0, CLUSTERS, count + questions)]
    drawn = _units(vector_centres + SPREAD * rng.standard_normal(vector_centres.shape) / math.sqrt(WIDTH))
    return VectorSet("clustered", drawn[:count], drawn[count:])


def _units(rows: NDArray[np.float64]) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
