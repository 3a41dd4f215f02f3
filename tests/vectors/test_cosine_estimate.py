from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.cosine_estimate import QUERY_UNIT, estimate_cosines, exact_cosines, ranking_scores, rotate_query
from lamina.vectors.integer_vectors import Floats
from lamina.vectors.quantisation import (
    BATCH_ROWS,
    ERROR_WEIGHT,
    PRECISIONS,
    codebook_for,
    decode,
    encode,
    expected_error,
)

CODED = (8, 4, 2)
SHARES = {32: 0.4, 8: 0.2, 4: 0.2, 2: 0.2}

near = st.floats(-1.125, 1.125, width=32)
seeds = st.integers(0, 2**32 - 1)


def unit(rows: NDArray[np.float64]) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def random_vectors(rows: int, width: int, seed: int) -> Floats:
    return unit(np.random.default_rng(seed).standard_normal((rows, width)))


def clustered(rows: int, questions: int, seed: int) -> tuple[Floats, Floats]:
    """Vectors that lie in a hundred heaps, and questions that do."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((100, 384)) / math.sqrt(384)
    drawn = centres[rng.integers(0, 100, rows + questions)]
    drawn = drawn + 1.5 * rng.standard_normal(drawn.shape) / math.sqrt(384)
    return unit(drawn[:rows]), unit(drawn[rows:])


def best(scores: Floats, k: int) -> list[set[int]]:
    return [set(item[:k].tolist()) for item in np.argsort(-scores, axis=1, kind="stable")]


def recall(scores: Floats, truth: Floats, k: int = 10) -> float:
    pairs = zip(best(scores, k), best(truth, 10), strict=True)
    return sum(len(result & wanted) for result, wanted in pairs) / (10 * len(truth))


def test_full_precision_gives_the_plain_cosine() -> None:
    vectors, questions = random_vectors(500, 384, 1) * np.float32(3), random_vectors(10, 384, 2) * np.float32(0.5)
    whole = unit(vectors.astype(np.float64)).astype(np.float64) @ unit(questions.astype(np.float64)).T
    for n, question in enumerate(questions):
        result = exact_cosines(rotate_query(question), vectors)
        assert np.abs(result - whole[:, n]).max() < 1e-7
        assert (ranking_scores(result, 32, 384) == result).all()


@pytest.mark.parametrize("bits", CODED)
@pytest.mark.parametrize("width", [65, 300, 384])
def test_an_estimate_is_unbiased_with_the_expected_error(bits: int, width: int) -> None:
    vectors, others = random_vectors(3000, width, 3), random_vectors(40, width, 4)
    questions = unit((others + 0.5 * vectors[:40]).astype(np.float64))
    coded = encode(vectors, bits)
    off, share = [], []
    for question in questions:
        true = exact_cosines(rotate_query(question), vectors).astype(np.float64)
        off.append(estimate_cosines(rotate_query(question), coded) - true)
        share.append(np.sqrt(1 - true * true))
    scaled = np.concatenate(off) / np.concatenate(share)
    assert abs(scaled.mean()) < 0.03 * expected_error(bits, width)
    assert scaled.std() == pytest.approx(expected_error(bits, width), rel=0.08)


@pytest.mark.parametrize("bits", CODED)
def test_a_near_vector_is_not_underestimated(bits: int) -> None:
    vectors = random_vectors(400, 384, 5)
    questions = unit((vectors + 0.5 * random_vectors(400, 384, 6)).astype(np.float64))
    coded = encode(vectors, bits)
    true = (questions * vectors).sum(axis=1)
    off = [estimate_cosines(rotate_query(question), coded)[n] - true[n] for n, question in enumerate(questions)]
    assert abs(float(np.mean(off))) < 4 * expected_error(bits, 384) / math.sqrt(400)


def test_the_expected_errors_are_the_documented_ones() -> None:
    assert expected_error(4, 384) == pytest.approx(0.00500, abs=5e-6)
    assert expected_error(2, 384) == pytest.approx(0.01862, abs=5e-6)
    assert expected_error(32, 384) == 0
    with pytest.raises(ValueError, match="32, 8, 4 or 2 bits"):
        expected_error(3, 384)


@given(near)
def test_of_two_equal_estimates_the_less_precise_never_ranks_first(seems: float) -> None:
    scores = [float(ranking_scores(np.array([seems], np.float32), bits, 384)[0]) for bits in PRECISIONS]
    assert scores == sorted(scores, reverse=True)


@given(near, near, st.sampled_from(PRECISIONS), st.sampled_from(PRECISIONS))
def test_only_values_within_the_errors_change_places(one: float, other: float, bits: int, other_bits: int) -> None:
    a, b = (
        float(ranking_scores(np.array([seems], np.float32), item, 384)[0])
        for seems, item in ((one, bits), (other, other_bits))
    )
    if (a - b) * (one - other) < 0:
        allowed = ERROR_WEIGHT * (expected_error(bits, 384) + expected_error(other_bits, 384))
        assert abs(one - other) < allowed + 1e-7


def test_one_ranking_over_all_precisions_finds_what_full_precision_finds() -> None:
    vectors, questions = clustered(4000, 100, 1)
    stored = np.random.default_rng(2).choice(list(SHARES), len(vectors), p=list(SHARES.values()))
    truth = np.asarray(questions @ vectors.T)
    ours, seed = truth.copy(), truth.copy()
    for bits in CODED:
        rows = np.flatnonzero(stored == bits)
        coded = encode(vectors[rows], bits)
        ours[:, rows] = [
            ranking_scores(estimate_cosines(rotate_query(question), coded), bits, 384) for question in questions
        ]
        seed[:, rows] = questions @ decode(coded).T / (1 + 0.01 * ((32 / bits) ** 1.5 - 1))
    assert recall(ours, truth) >= 0.90
    assert recall(ours, truth) >= recall(seed, truth) + 0.20


def test_two_bits_with_forty_rescored_find_the_nearest_ten() -> None:
    vectors, questions = clustered(4000, 50, 3)
    coded = encode(vectors, 2)
    truth = np.asarray(questions @ vectors.T)
    assert (
        recall(np.array([estimate_cosines(rotate_query(question), coded) for question in questions]), truth, 40) >= 0.99
    )


@settings(deadline=None, max_examples=30)
@given(st.sampled_from([1, 7, 64, 300, 384]), st.sampled_from(CODED), st.integers(1, 30), seeds)
def test_an_estimate_does_not_depend_on_its_batch(width: int, bits: int, count: int, seed: int) -> None:
    vectors, rotated_query = random_vectors(count, width, seed), rotate_query(random_vectors(1, width, seed + 1)[0])
    together, whole = estimate_cosines(rotated_query, encode(vectors, bits)), exact_cosines(rotated_query, vectors)
    order = np.random.default_rng(seed).permutation(count)
    for chosen in (order, order[: 1 + count // 2], order[:1]):
        assert estimate_cosines(rotated_query, encode(vectors[chosen], bits)).tobytes() == together[chosen].tobytes()
        assert exact_cosines(rotated_query, vectors[chosen]).tobytes() == whole[chosen].tobytes()


@pytest.mark.parametrize("bits", CODED)
def test_rows_beyond_one_batch_are_estimated_alike(bits: int) -> None:
    coded, rotated_query = (
        encode(random_vectors(BATCH_ROWS + 7, 64, 1), bits),
        rotate_query(random_vectors(1, 64, 2)[0]),
    )
    last = encode(random_vectors(BATCH_ROWS + 7, 64, 1)[BATCH_ROWS:], bits)
    assert (
        estimate_cosines(rotated_query, coded)[BATCH_ROWS:].tobytes() == estimate_cosines(rotated_query, last).tobytes()
    )


@pytest.mark.parametrize("bits", CODED)
def test_lengths_do_not_matter_and_a_zero_vector_is_similar_to_nothing(bits: int) -> None:
    vectors, question = random_vectors(5, 384, 1), random_vectors(1, 384, 2)[0]
    plain = estimate_cosines(rotate_query(question), encode(vectors, bits))
    assert (
        estimate_cosines(rotate_query(question * np.float32(4)), encode(vectors * np.float32(8), bits)) == plain
    ).all()
    nothing = np.zeros((2, 384), np.float32)
    assert not estimate_cosines(rotate_query(question), encode(nothing, bits)).any()
    assert not exact_cosines(rotate_query(question), nothing).any()
    assert not estimate_cosines(rotate_query(nothing[0]), encode(vectors, bits)).any()


def test_the_widest_query_still_gives_exact_sums() -> None:
    """The largest sum there can be, of every coordinate at the last level, is a whole number a double holds."""
    widest = 2**16
    assert widest * QUERY_UNIT * int(codebook_for(8).unit_levels.max()) < 2**53


def test_a_query_of_another_width_is_refused() -> None:
    rotated_query = rotate_query(random_vectors(1, 64, 1)[0])
    with pytest.raises(ValueError, match="64 dimensions, the vectors have 128"):
        estimate_cosines(rotated_query, encode(random_vectors(1, 128, 1), 4))
    with pytest.raises(ValueError, match="64 dimensions, the vectors have 128"):
        exact_cosines(rotated_query, random_vectors(1, 128, 1))
    with pytest.raises(ValueError, match="finite numbers"):
        rotate_query(np.array([1, np.nan], np.float32))
