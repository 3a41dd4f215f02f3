from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_vectors import pair_recall, plant_clusters
from scipy.cluster.hierarchy import fcluster, linkage  # type: ignore[import-untyped]
from scipy.spatial.distance import squareform  # type: ignore[import-untyped]

from lamina.dream.clusters import (
    HASH_ROUNDS,
    MAX_NEIGHBOURS,
    MAX_PART_SIZE,
    MIN_MEAN_COSINE,
    average_linkage,
    find_clusters,
    find_near_pairs,
    quantise_vectors,
)
from lamina.vectors.integer_vectors import Floats

seeds = st.integers(0, 10**6)


def sets(result: list[tuple[int, ...]]) -> set[frozenset[int]]:
    return {frozenset(item) for item in result}


def blobs(seed: int, count: int = 60, width: int = 8) -> Floats:
    """A few loose heaps that touch each other, so that linkage has something to decide."""
    random = np.random.default_rng(seed)
    middles = random.standard_normal((5, width))
    rows = middles[random.integers(0, 5, count)] + random.standard_normal((count, width)) * 0.4
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def cosines(vectors: Floats) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return quantise_vectors(vectors).cosines(np.arange(len(vectors)))


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_clusters_equal_average_linkage_of_a_reference(seed: int) -> None:
    vectors = blobs(seed)
    distances = squareform(np.clip(1 - cosines(vectors), 0, None), checks=False)
    labels = fcluster(linkage(distances, "average"), 1 - MIN_MEAN_COSINE, "distance")
    expected = {frozenset(map(int, np.flatnonzero(labels == label))) for label in set(labels)}
    assert sets(find_clusters(vectors)) == {item for item in expected if len(item) >= 5}


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_clusters_do_not_depend_on_the_order_of_rows(seed: int) -> None:
    vectors = blobs(seed)
    order = np.random.default_rng(seed + 1).permutation(len(vectors))
    moved = {frozenset(int(order[row]) for row in cluster) for cluster in find_clusters(vectors[order])}
    assert moved == sets(find_clusters(vectors))


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_a_repeated_vector_counts_as_often_as_it_occurs(seed: int) -> None:
    vectors = blobs(seed, 20)
    counts = np.random.default_rng(seed).integers(1, 4, len(vectors))
    apart = average_linkage(cosines(np.repeat(vectors, counts, axis=0)), [1] * int(counts.sum()), MIN_MEAN_COSINE)
    owner = np.repeat(np.arange(len(vectors)), counts)
    together = average_linkage(cosines(vectors), counts, MIN_MEAN_COSINE)
    assert {frozenset(owner[item].tolist()) for item in apart} == {frozenset(item) for item in together}


def test_copies_alone_make_a_cluster_and_four_make_none() -> None:
    one = blobs(1, 1)
    assert sets(find_clusters(np.repeat(one, 5, axis=0))) == {frozenset(range(5))}
    assert find_clusters(np.repeat(one, 4, axis=0)) == []


def test_zero_vectors_belong_to_no_cluster() -> None:
    assert find_clusters(np.zeros((9, 8), np.float32)) == find_clusters(np.empty((0, 8), np.float32)) == []


def test_no_chain_joins_unrelated_vectors() -> None:
    turn = np.linspace(0, np.pi, 40)
    chain = np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
    result = find_clusters(chain)
    assert len(result) > 1
    for item in result:
        assert cosines(chain[list(item)]).mean() > MIN_MEAN_COSINE


def test_the_most_central_member_is_first() -> None:
    turn = np.array([-0.3, -0.2, 0.0, 0.2, 0.3])
    fan = np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
    (result,) = find_clusters(fan)
    assert result[0] == 2 and set(result[-2:]) == {0, 4}


def test_exactly_the_planted_clusters_are_found() -> None:
    planted_clusters = plant_clusters(6000, seed=3)
    assert sets(find_clusters(planted_clusters.vectors)) == set(planted_clusters.clusters)


@pytest.mark.parametrize("spread", (0.13, 0.24))
def test_nearly_all_near_pairs_are_compared(spread: float) -> None:
    looked_at, there = pair_recall(plant_clusters(4000, 5, spread).vectors)
    assert there > 1000
    assert looked_at / there > 0.99


def test_a_component_over_the_limit_is_split_into_coherent_parts() -> None:
    random = np.random.default_rng(7)
    turn = np.sort(random.uniform(0, 2 * np.pi, MAX_PART_SIZE + 900))
    ring = np.stack([np.cos(turn), np.sin(turn), 0.05 * random.standard_normal(len(turn))], axis=1).astype(np.float32)
    result = find_clusters(ring)
    assert sum(map(len, result)) > len(ring) * 0.9
    for item in result:
        assert cosines(ring[list(item)]).mean() > MIN_MEAN_COSINE


def test_a_large_component_held_by_few_pairs_is_split_into_few_parts() -> None:
    random = np.random.default_rng(8)
    crowd = (np.ones(32) + 0.1 * random.standard_normal((MAX_PART_SIZE + 500, 32))).astype(np.float32)
    near_pairs = find_near_pairs(quantise_vectors(crowd), MIN_MEAN_COSINE)
    assert len(near_pairs.first) < len(crowd) * MAX_NEIGHBOURS * HASH_ROUNDS
    assert (near_pairs.first < near_pairs.second).all() and (near_pairs.cosine > MIN_MEAN_COSINE).all()
    pieces = find_clusters(crowd)
    assert len(pieces) < 50 and sum(map(len, pieces)) > 0.95 * len(crowd)
    assert max(map(len, pieces)) <= MAX_PART_SIZE
