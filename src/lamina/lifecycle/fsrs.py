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
LEAST_STABILITY = 0.001
EASIEST, HARDEST = 1.0, 10.0


class Rating(IntEnum):
    """The result of a review: marked wrong, hard, used, or confirmed by a person."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4


@dataclass(frozen=True, slots=True)
class State:
    """The stability of a memory in days, and its difficulty from 1 to 10."""

    stability: float
    difficulty: float


def retrievability(days: float, stability: float) -> float:
    """Return the probability of recall after a number of days."""
    return float((1.0 + FACTOR * days / stability) ** -_W[20])


def first(rating: Rating) -> State:
    """Return the state after the first review."""
    return State(_W[rating - 1], _difficulty(_first_difficulty(rating)))


def reviewed(state: State, rating: Rating, days: float) -> State:
    """Return the state after a review, a number of days after the previous one."""
    stability = _same_day(state.stability, rating) if days < 1.0 else _later(state, rating, days)
    eased = state.difficulty - _W[6] * (rating - 3) * (10.0 - state.difficulty) / 9.0
    difficulty = _W[7] * _first_difficulty(Rating.EASY) + (1.0 - _W[7]) * eased
    return State(max(LEAST_STABILITY, stability), _difficulty(difficulty))


def replayed(reviews: Iterable[tuple[float, Rating]]) -> tuple[State, float]:
    """Return the state after all reviews, given with their days in any order, and the day of the last."""
    (last, rating), *later = sorted(reviews)
    state = first(rating)
    for day, rating in later:
        state, last = reviewed(state, rating, day - last), day
    return state, last


def _first_difficulty(rating: Rating) -> float:
    return _W[4] - exp(_W[5] * (rating - 1)) + 1.0


def _difficulty(raw: float) -> float:
    return min(HARDEST, max(EASIEST, raw))


def _same_day(stability: float, rating: Rating) -> float:
    """Return the stability after a second review on one day; a successful one never lowers it."""
    growth = exp(_W[17] * (rating - 3 + _W[18])) * stability ** -_W[19]
    return float(stability * (growth if rating is Rating.AGAIN else max(1.0, growth)))


def _later(state: State, rating: Rating, days: float) -> float:
    remaining = retrievability(days, state.stability)
    return _lapsed(state, remaining) if rating is Rating.AGAIN else _recalled(state, rating, remaining)


def _recalled(state: State, rating: Rating, left: float) -> float:
    bonus = {Rating.HARD: _W[15], Rating.EASY: _W[16]}.get(rating, 1.0)
    growth = exp(_W[8]) * (11.0 - state.difficulty) * state.stability ** -_W[9] * (exp(_W[10] * (1.0 - left)) - 1.0)
    return float(state.stability * (1.0 + growth * bonus))


def _lapsed(state: State, left: float) -> float:
    relearnt = (state.stability + 1.0) ** _W[13] - 1.0
    stability = _W[11] * state.difficulty ** -_W[12] * relearnt * exp(_W[14] * (1.0 - left))
    return float(min(stability, state.stability / exp(_W[17] * _W[18])))
