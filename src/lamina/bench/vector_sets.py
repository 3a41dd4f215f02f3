"""Vectors that compression is measured on: made ones of every shape, and those of real conversations."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lamina.bench.collection import Collection
from lamina.models.choose import choose
from lamina.models.embedder import Embedder, Piece
from lamina.models.files import models_folder
from lamina.settings import Settings
from lamina.vectors.levels import Floats

Say = Callable[[str], None]

WIDTH = 384
HUM = {"one-hot-like": 0.001, "one large dimension": 0.02}
"""What the other dimensions vary by, of the large one. With next to nothing, two values say all there is to say."""
HEAPS, SPREAD = 100, 1.5
"""How many heaps the clustered vectors lie in, and how wide a heap is beside the distance of its middle from 0."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorSet:
    """Unit vectors of one kind, and questions where it makes sense to look for the nearest."""

    name: str
    vectors: Floats
    questions: Floats


def made(count: int, questions: int, seed: int) -> list[VectorSet]:
    """A bell curve, heavy tails, one large dimension each, and heaps with questions."""
    rng = np.random.default_rng(seed)
    bell = rng.standard_normal((count, WIDTH))
    spiky = rng.standard_normal((count, WIDTH)) ** 5
    single = np.eye(WIDTH)[np.arange(count) % WIDTH]
    none = np.empty((0, WIDTH), dtype=np.float32)
    return [
        VectorSet("gaussian", _units(bell), none),
        VectorSet("spiky", _units(spiky), none),
        *(VectorSet(name, _units(single + hum * rng.standard_normal(single.shape)), none) for name, hum in HUM.items()),
        _clustered(count, questions, rng),
    ]


def real(conversations: Sequence[Collection], questions: int, light: bool, seed: int, say: Say) -> VectorSet | None:
    """The turns of conversations and some of the questions about them as the model sees them; None without a model."""
    embedder = _embedder(light, say)
    if embedder is None:
        return None
    turns = [turn for conversation in conversations for session in conversation.sessions for turn in session.turns]
    asked = [question.text for one in conversations for question in one.questions]
    some = np.random.default_rng(seed).permutation(len(asked))[:questions]
    say(f"encoding {len(turns)} turns and {len(some)} questions with {embedder.model.id}")
    encoded = embedder.passages([Piece(f"{turn.speaker}: {turn.text}", 1) for turn in turns])
    probes = [embedder.question(asked[n]).vector for n in some]
    return VectorSet(embedder.model.id, np.stack([each.vectors[0] for each in encoded]), np.stack(probes))


def _embedder(light: bool, say: Say) -> Embedder | None:
    own = Settings().models_dir
    folder = own.expanduser() if own else models_folder(os.environ, Path.home(), sys.platform)
    chosen = choose("light" if light else "auto", folder)
    found = chosen.light if light else chosen.primary
    if found is None:
        say("the model is not here, so only made vectors are measured: `lamina models download` gets it")
    return found


def _clustered(count: int, questions: int, rng: np.random.Generator) -> VectorSet:
    middles = rng.standard_normal((HEAPS, WIDTH)) / math.sqrt(WIDTH)
    homes = middles[rng.integers(0, HEAPS, count + questions)]
    drawn = _units(homes + SPREAD * rng.standard_normal(homes.shape) / math.sqrt(WIDTH))
    return VectorSet("clustered", drawn[:count], drawn[count:])


def _units(rows: NDArray[np.float64]) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
