"""FSRS-6 against figures computed with its reference implementation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.lifecycle.retention import (
    FSRS_FACTOR,
    FSRS_WEIGHTS,
    FsrsState,
    ReviewRating,
    apply_review,
    first_state,
    replay_reviews,
    retrievability,
)

states = st.builds(FsrsState, st.floats(0.001, 1e4), st.floats(1.0, 10.0))
ratings = st.sampled_from(ReviewRating)
days = st.floats(0.0, 1e4)


def test_the_21_parameters_give_the_published_curve() -> None:
    assert len(FSRS_WEIGHTS) == 21
    assert round(FSRS_FACTOR, 5) == 0.98035
    assert retrievability(7.0, 7.0) == pytest.approx(0.9, abs=1e-12)
    assert retrievability(90.35, 1.0) == pytest.approx(0.5, abs=1e-4)


def test_four_good_reviews_on_their_due_days() -> None:
    state, atoms = first_state(ReviewRating.GOOD), list[tuple[float, float, int, float]]()
    for _ in range(4):
        due = round(state.stability)
        number = retrievability(30.0, state.stability)
        atoms.append((round(state.stability, 4), round(state.difficulty, 4), due, round(number, 6)))
        state = apply_review(state, ReviewRating.GOOD, due)
    assert atoms == [
        (2.3065, 2.1181, 2, 0.667526),
        (10.9643, 2.1112, 11, 0.817906),
        (46.2802, 2.1043, 46, 0.926949),
        (162.8622, 2.0975, 163, 0.974726),
    ]


@given(states, ratings, days)
def test_a_state_stays_within_its_bounds(state: FsrsState, rating: ReviewRating, after: float) -> None:
    fsrs_state = apply_review(state, rating, after)
    assert fsrs_state.stability >= 0.001
    assert 1.0 <= fsrs_state.difficulty <= 10.0
    assert 0.0 < retrievability(after, fsrs_state.stability) <= 1.0


@given(states, st.sampled_from([ReviewRating.HARD, ReviewRating.GOOD, ReviewRating.EASY]), days)
def test_a_successful_review_never_lowers_stability(state: FsrsState, rating: ReviewRating, after: float) -> None:
    assert apply_review(state, rating, after).stability >= state.stability


@given(states, st.floats(1.0, 1e4))
def test_a_lapse_never_raises_stability_or_lowers_difficulty(state: FsrsState, after: float) -> None:
    fsrs_state = apply_review(state, ReviewRating.AGAIN, after)
    assert fsrs_state.stability <= max(0.001, state.stability)
    assert fsrs_state.difficulty >= apply_review(state, ReviewRating.GOOD, after).difficulty


@given(states, days)
def test_a_better_rating_never_lowers_stability(state: FsrsState, after: float) -> None:
    stabilities = [apply_review(state, rating, after).stability for rating in ReviewRating]
    assert stabilities == sorted(stabilities)


@given(
    st.permutations(
        [(0.0, ReviewRating.GOOD), (3.0, ReviewRating.GOOD), (9.0, ReviewRating.AGAIN), (9.5, ReviewRating.EASY)]
    )
)
def test_the_order_of_reviews_does_not_matter(reviews: list[tuple[float, ReviewRating]]) -> None:
    assert replay_reviews(reviews) == replay_reviews(sorted(reviews))
