from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import pair_recall, planted
from scipy.cluster.hierarchy import fcluster, linkage  # type: ignore[import-untyped]
from scipy.spatial.distance import squareform  # type: ignore[import-untyped]

from lamina.dream.clusters import MAX_PART_SIZE, MIN_MEAN_COSINE, average_linkage, find_clusters
from lamina.dream.near_pairs import HASH_ROUNDS, MAX_NEIGHBOURS, find_near_pairs, quantise_vectors
from lamina.vectors.levels import Floats

seeds = st.integers(0, 10**6)


def sets(found: list[tuple[int, ...]]) -> set[frozenset[int]]:
    return {frozenset(each) for each in found}


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
def test_clusters_are_those_of_average_linkage_as_others_work_it_out(seed: int) -> None:
    vectors = blobs(seed)
    distances = squareform(np.clip(1 - cosines(vectors), 0, None), checks=False)
    labels = fcluster(linkage(distances, "average"), 1 - MIN_MEAN_COSINE, "distance")
    expected = {frozenset(map(int, np.flatnonzero(labels == label))) for label in set(labels)}
    assert sets(find_clusters(vectors)) == {each for each in expected if len(each) >= 5}


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_clusters_hang_on_no_order_of_rows(seed: int) -> None:
    vectors = blobs(seed)
    order = np.random.default_rng(seed + 1).permutation(len(vectors))
    moved = {frozenset(int(order[row]) for row in cluster) for cluster in find_clusters(vectors[order])}
    assert moved == sets(find_clusters(vectors))


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_a_vector_that_is_there_several_times_counts_as_often(seed: int) -> None:
    vectors = blobs(seed, 20)
    counts = np.random.default_rng(seed).integers(1, 4, len(vectors))
    apart = average_linkage(cosines(np.repeat(vectors, counts, axis=0)), [1] * int(counts.sum()), MIN_MEAN_COSINE)
    owner = np.repeat(np.arange(len(vectors)), counts)
    together = average_linkage(cosines(vectors), counts, MIN_MEAN_COSINE)
    assert {frozenset(owner[each].tolist()) for each in apart} == {frozenset(each) for each in together}


def test_copies_alone_make_a_cluster_and_nothing_makes_one_of_four() -> None:
    one = blobs(1, 1)
    assert sets(find_clusters(np.repeat(one, 5, axis=0))) == {frozenset(range(5))}
    assert find_clusters(np.repeat(one, 4, axis=0)) == []


def test_vectors_of_nothing_belong_nowhere() -> None:
    assert find_clusters(np.zeros((9, 8), np.float32)) == find_clusters(np.empty((0, 8), np.float32)) == []


def test_no_chain_ties_together_what_has_nothing_in_common() -> None:
    turn = np.linspace(0, np.pi, 40)
    chain = np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
    found = find_clusters(chain)
    assert len(found) > 1
    for each in found:
        assert cosines(chain[list(each)]).mean() > MIN_MEAN_COSINE


def test_the_most_central_comes_first() -> None:
    turn = np.array([-0.3, -0.2, 0.0, 0.2, 0.3])
    fan = np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32)
    (found,) = find_clusters(fan)
    assert found[0] == 2 and set(found[-2:]) == {0, 4}


def test_planted_clusters_are_found_and_nothing_else() -> None:
    made = planted(6000, seed=3)
    assert sets(find_clusters(made.vectors)) == set(made.clusters)


@pytest.mark.parametrize("spread", (0.13, 0.24))
def test_nearly_all_near_pairs_are_looked_at(spread: float) -> None:
    looked_at, there = pair_recall(planted(4000, 5, spread).vectors)
    assert there > 1000
    assert looked_at / there > 0.99


def test_a_part_that_is_too_large_is_taken_apart_and_each_piece_holds_together() -> None:
    random = np.random.default_rng(7)
    turn = np.sort(random.uniform(0, 2 * np.pi, MAX_PART_SIZE + 900))
    ring = np.stack([np.cos(turn), np.sin(turn), 0.05 * random.standard_normal(len(turn))], axis=1).astype(np.float32)
    found = find_clusters(ring)
    assert sum(map(len, found)) > len(ring) * 0.9
    for each in found:
        assert cosines(ring[list(each)]).mean() > MIN_MEAN_COSINE


def test_a_crowd_is_held_together_by_few_pairs_and_cut_into_few_pieces() -> None:
    random = np.random.default_rng(8)
    crowd = (np.ones(32) + 0.1 * random.standard_normal((MAX_PART_SIZE + 500, 32))).astype(np.float32)
    found = find_near_pairs(quantise_vectors(crowd), MIN_MEAN_COSINE)
    assert len(found.first) < len(crowd) * MAX_NEIGHBOURS * HASH_ROUNDS
    assert (found.first < found.second).all() and (found.cosine > MIN_MEAN_COSINE).all()
    pieces = find_clusters(crowd)
    assert len(pieces) < 50 and sum(map(len, pieces)) > 0.95 * len(crowd)
    assert max(map(len, pieces)) <= MAX_PART_SIZE
