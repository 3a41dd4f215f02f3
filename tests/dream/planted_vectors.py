"""Vectors with clusters planted among them, and near pairs counted one by one: what clustering is measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lamina.dream.clusters import MIN_MEAN_COSINE, find_near_pairs, quantise_vectors
from lamina.vectors.integer_vectors import Floats

WIDTH = 384
LEANING = 0.4
"""How much of every vector is the same: two texts of one store are never wholly unlike."""
_BLOCK = 2000


@dataclass(frozen=True, slots=True)
class PlantedClusters:
    """Vectors, and the rows of each cluster that was planted among them."""

    vectors: Floats
    clusters: list[frozenset[int]]


def plant_clusters(count: int, seed: int, spread: float = 0.13) -> PlantedClusters:
    """So many vectors; `spread` is how far members lie from the middle of their cluster."""
    random = np.random.default_rng(seed)
    everywhere = random.standard_normal(WIDTH)
    vectors = random.standard_normal((count, WIDTH), dtype=np.float32)
    order, place, result = random.permutation(count), 0, []
    while place < count // 5:
        rows = order[place : place + int(random.integers(5, 21))]
        middle = random.standard_normal(WIDTH)
        noise = random.standard_normal((len(rows), WIDTH)) * np.sqrt(spread / (1 - spread))
        vectors[rows] = (middle + noise) * np.sqrt(1 - spread)
        result.append(frozenset(map(int, rows)))
        place += len(rows)
    vectors += np.float32(np.sqrt(LEANING)) * everywhere.astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return PlantedClusters(vectors, result)


def pair_recall(vectors: Floats, near: float = MIN_MEAN_COSINE) -> tuple[int, int]:
    """How many of the near pairs are looked at, and how many there are."""
    points = quantise_vectors(vectors)
    looked_at = find_near_pairs(points, near)
    everything = 0
    rows = np.arange(len(points))
    whole = points.levels.astype(np.float32) / points.lengths[:, None].astype(np.float32)
    for start in range(0, len(points), _BLOCK):
        near_by = whole[start : start + _BLOCK] @ whole.T > near
        everything += int(np.count_nonzero(near_by & (rows > rows[start : start + _BLOCK, None])))
    return len(looked_at.first), everything
