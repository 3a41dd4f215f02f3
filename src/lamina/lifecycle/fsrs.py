"""Implement FSRS-6: a memory has a stability and a difficulty, and every review changes both.

Stability is the number of days after which 90 % of memories are still recalled. The parameters are the published
defaults, fitted to how people recall flashcards.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from math import exp

WEIGHTS: tuple[float, ...] = (
    0.212,
    1.2931,
    2.3065,
    8.2956,
    6.4133,
    0.8334,
    3.0194,
    0.001,
    1.8722,
    0.1666,
    0.796,
    1.4835,
    0.0614,
    0.2629,
    1.6483,
    0.6014,
    1.8729,
    0.5425,
    0.0912,
    0.0658,
    0.1542,
)
_W = WEIGHTS
FACTOR = 0.9 ** (-1.0 / _W[20]) - 1.0
MIN_STABILITY = 0.001
MIN_DIFFICULTY, MAX_DIFFICULTY = 1.0, 10.0


class ReviewRating(IntEnum):
    """The result of a review: marked wrong, hard, used, or confirmed by a person."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4


@dataclass(frozen=True, slots=True)
class FsrsState:
    """The stability of a memory in days, and its difficulty from 1 to 10."""

    stability: float
    difficulty: float


def retrievability(days: float, stability: float) -> float:
    """Return the probability of recall after a number of days."""
    return float((1.0 + FACTOR * days / stability) ** -_W[20])


def first_state(rating: ReviewRating) -> FsrsState:
    """Return the state after the first review."""
    return FsrsState(_W[rating - 1], _clamp_difficulty(_first_difficulty(rating)))


def apply_review(state: FsrsState, rating: ReviewRating, days: float) -> FsrsState:
    """Return the state after a review, a number of days after the previous one."""
    stability = _same_day_stability(state.stability, rating) if days < 1.0 else _later_stability(state, rating, days)
    eased = state.difficulty - _W[6] * (rating - 3) * (10.0 - state.difficulty) / 9.0
    difficulty = _W[7] * _first_difficulty(ReviewRating.EASY) + (1.0 - _W[7]) * eased
    return FsrsState(max(MIN_STABILITY, stability), _clamp_difficulty(difficulty))


def replay_reviews(reviews: Iterable[tuple[float, ReviewRating]]) -> tuple[FsrsState, float]:
    """Return the state after all reviews, given with their days in any order, and the day of the last."""
    (last, rating), *later = sorted(reviews)
    state = first_state(rating)
    for day, rating in later:
        state, last = apply_review(state, rating, day - last), day
    return state, last


def _first_difficulty(rating: ReviewRating) -> float:
    return _W[4] - exp(_W[5] * (rating - 1)) + 1.0


def _clamp_difficulty(raw: float) -> float:
    return min(MAX_DIFFICULTY, max(MIN_DIFFICULTY, raw))


def _same_day_stability(stability: float, rating: ReviewRating) -> float:
    """Return the stability after a second review on one day; a successful one never lowers it."""
    growth = exp(_W[17] * (rating - 3 + _W[18])) * stability ** -_W[19]
    return float(stability * (growth if rating is ReviewRating.AGAIN else max(1.0, growth)))


def _later_stability(state: FsrsState, rating: ReviewRating, days: float) -> float:
    remaining = retrievability(days, state.stability)
    return (
        _stability_after_lapse(state, remaining)
        if rating is ReviewRating.AGAIN
        else _stability_after_recall(state, rating, remaining)
    )


def _stability_after_recall(state: FsrsState, rating: ReviewRating, remaining: float) -> float:
    bonus = {ReviewRating.HARD: _W[15], ReviewRating.EASY: _W[16]}.get(rating, 1.0)
    growth = (
        exp(_W[8]) * (11.0 - state.difficulty) * state.stability ** -_W[9] * (exp(_W[10] * (1.0 - remaining)) - 1.0)
    )
    return float(state.stability * (1.0 + growth * bonus))


def _stability_after_lapse(state: FsrsState, remaining: float) -> float:
    relearnt = (state.stability + 1.0) ** _W[13] - 1.0
    stability = _W[11] * state.difficulty ** -_W[12] * relearnt * exp(_W[14] * (1.0 - remaining))
    return float(min(stability, state.stability / exp(_W[17] * _W[18])))
