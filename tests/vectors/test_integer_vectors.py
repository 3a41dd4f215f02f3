from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.vectors.integer_vectors import MAX_EXACT, QUERY_LEVELS, ROW_LEVELS, cosines, to_level_rows, to_query_vector
from unit_vectors import unit_vectors

WIDTHS = (1, 2, 7, 16, 255, 256, 384, 518, 519, 768, 1023, 1536, 4096)

widths = st.sampled_from(WIDTHS)
seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=60)
@given(widths, st.integers(1, 40), seeds, st.booleans())
def test_a_dot_product_is_an_exact_integer_in_any_batch(width: int, count: int, seed: int, spiky: bool) -> None:
    vectors, question = (
        unit_vectors(count, width, seed, spiky=spiky),
        to_query_vector(unit_vectors(1, width, seed + 1, spiky=spiky)[0]),
    )
    rows = to_level_rows(vectors)
    whole = rows.levels.astype(np.int64) @ question.levels.astype(np.int64)
    assert np.abs(whole).max() <= MAX_EXACT
    initial = rows.levels.astype(np.float32) @ question.levels
    assert (initial.astype(np.int64) == whole).all()
    all_at_once = cosines(rows, question)
    order = np.random.default_rng(seed).permutation(count)
    for chosen in (order, order[: 1 + count // 2], order[:1]):
        some = to_level_rows(vectors[chosen])
        assert (some.levels == rows.levels[chosen]).all()
        result = cosines(some, question)
        assert result.tobytes() == all_at_once[chosen].tobytes()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_extreme_query_and_row_still_give_an_exact_product(width: int) -> None:
    row, question = (
        to_level_rows(np.full((1, width), -1, dtype=np.float32)),
        to_query_vector(np.ones(width, dtype=np.float32)),
    )
    assert set(row.levels.ravel()) == {-ROW_LEVELS}
    assert len(set(question.levels)) == 1
    assert 1 <= question.levels[0] <= QUERY_LEVELS
    exact = row.levels.astype(np.float32) @ question.levels
    assert int(exact[0]) == -ROW_LEVELS * int(question.levels[0]) * width
    assert ROW_LEVELS * int(question.levels[0]) * width <= MAX_EXACT


@pytest.mark.parametrize("width", [number for number in WIDTHS if number > 1])
@pytest.mark.parametrize("spiky", [False, True])
def test_a_cosine_is_off_by_less_than_a_hundredth(width: int, spiky: bool) -> None:
    vectors, questions = unit_vectors(400, width, 1, spiky=spiky), unit_vectors(20, width, 2, spiky=spiky)
    rows = to_level_rows(vectors)
    for question in questions:
        result = cosines(rows, to_query_vector(question))
        assert np.abs(result - vectors.astype(np.float64) @ question.astype(np.float64)).max() < 0.01


@pytest.mark.parametrize("width", WIDTHS)
def test_a_zero_vector_is_similar_to_nothing(width: int) -> None:
    nothing = np.zeros((2, width), dtype=np.float32)
    rows, some = to_level_rows(nothing), to_level_rows(unit_vectors(3, width, 3))
    assert not rows.levels.any()
    assert np.isfinite(rows.scale).all()
    assert not cosines(rows, to_query_vector(unit_vectors(1, width, 4)[0])).any()
    assert not cosines(some, to_query_vector(nothing[0])).any()


def test_empty_rows_and_dimensions_are_handled() -> None:
    question = to_query_vector(unit_vectors(1, 8, 5)[0])
    none = to_level_rows(np.empty((0, 8), dtype=np.float32))
    assert cosines(none, question).shape == (0,)
    assert len(to_query_vector(np.empty(0, dtype=np.float32)).levels) == 0


@settings(deadline=None, max_examples=60)
@given(widths, seeds)
def test_levels_reproduce_the_vector_to_half_a_level(width: int, seed: int) -> None:
    (vector,) = unit_vectors(1, width, seed)
    rows, question = to_level_rows(vector[None, :]), to_query_vector(vector)
    assert np.abs(rows.levels[0] * rows.scale[0] - vector).max() <= 0.51 * rows.scale[0]
    assert np.abs(question.levels * np.float32(question.scale) - vector).max() <= 0.51 * question.scale
