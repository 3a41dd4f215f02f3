"""Vectors for measuring search: generated ones as hard as real ones, or rows of a file, and their exact neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lamina.errors import InvalidInput
from lamina.vectors.integer_vectors import Floats

WIDTH = 384
CLUSTERS = 5000
NOISE = 0.9
"""How far a vector is from the centre of its cluster, relative to how far the centres are from each other."""
OUTLIERS = {3: 2.0, 77: -1.5, 200: 1.2}
"""Dimensions in which all vectors are shifted, as in real models."""
BLOCK_SIZE = 16_384
NEAREST = 10


@dataclass(frozen=True, slots=True, eq=False)
class VectorSource:
    """A source of unit vectors in blocks, and the questions asked of them."""

    name: str
    size: int
    questions: Floats
    blocks: Callable[[], Iterator[Floats]]


@dataclass(slots=True)
class ExactNeighbours:
    """The rows nearest to each question, collected block by block."""

    questions: Floats
    rows: NDArray[np.int64] = field(init=False)
    near: Floats = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.rows = np.zeros((len(self.questions), 0), dtype=np.int64)
        self.near = np.zeros((len(self.questions), 0), dtype=np.float32)

    def add_block(self, block: Floats) -> None:
        """Add the next vectors."""
        near = np.concatenate([self.near, self.questions @ block.T], axis=1)
        block_rows = np.broadcast_to(np.arange(self.count, self.count + len(block)), (len(near), len(block)))
        rows = np.concatenate([self.rows, block_rows], axis=1)
        best = np.argpartition(-near, min(NEAREST, near.shape[1]) - 1, axis=1)[:, :NEAREST]
        self.near, self.rows = np.take_along_axis(near, best, axis=1), np.take_along_axis(rows, best, axis=1)
        self.count += len(block)

    def share(self, answers: list[list[int]]) -> float:
        """Return how many of the nearest were found, in percent."""
        hits = sum(
            len(set(rows) & set(exact_rows)) for rows, exact_rows in zip(answers, self.rows.tolist(), strict=True)
        )
        return 100 * hits / max(1, self.rows.size)


def choose_source(file: Path | None, size: int, questions: int, seed: int) -> VectorSource:
    """Return rows of a file if one is given, otherwise generated vectors."""
    return file_source(file, size, questions, seed) if file else generated_source(size, questions, seed)


def generated_source(size: int, questions: int, seed: int) -> VectorSource:
    """Return clusters with a decaying spectrum, noise and three shifted dimensions; no two questions share a vector."""
    centre_rng = np.random.default_rng(seed)
    spread = (1 / np.sqrt(1 + np.arange(WIDTH) / 20)).astype(np.float32)
    centres = centre_rng.standard_normal((CLUSTERS, WIDTH), dtype=np.float32) * spread

    def draw(count: int, rng: np.random.Generator) -> Floats:
        rows = centres[rng.integers(0, CLUSTERS, count)]
        rows += NOISE * rng.standard_normal((count, WIDTH), dtype=np.float32) * spread
        rows[:, list(OUTLIERS)] += np.array(list(OUTLIERS.values()), dtype=np.float32)
        return _units(rows)

    def blocks() -> Iterator[Floats]:
        rng = np.random.default_rng((seed, 1))
        for start in range(0, size, BLOCK_SIZE):
            yield draw(min(BLOCK_SIZE, size - start), rng)

    return VectorSource("made", size, draw(questions, np.random.default_rng((seed, 2))), blocks)


def file_source(file: Path, size: int, questions: int, seed: int) -> VectorSource:
    """Return rows of a .npy file in random order, without those used as questions; InvalidInput if it
    has too few rows.
    """
    rows = np.load(file, mmap_mode="r")
    if rows.ndim != 2 or rows.dtype != np.float32 or len(rows) < size + questions:
        raise InvalidInput(f"{file.name} must hold {size + questions} rows of float32; choose smaller --sizes")
    order = np.random.default_rng(seed).permutation(len(rows))

    def blocks() -> Iterator[Floats]:
        for start in range(0, size, BLOCK_SIZE):
            yield _units(rows[order[start : min(start + BLOCK_SIZE, size)]])

    return VectorSource(file.name, size, _units(rows[order[len(rows) - questions :]]), blocks)


def _units(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)
