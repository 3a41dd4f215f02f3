"""Compute how much of a memory is left: a curve over its age in half-lives, raised by use. It only affects ranking.

Each curve has one half left after one half-life. Past its joint, huber is below l2, because a tangent is below a convex
curve; power fades slowest; elastic is the flow dw/dt = −λ₂w − λ₁: it reaches zero, later for strong memories than for
weak ones. FSRS-6 has no curve: a memory has a stability (the days after which 90 % are recalled) and a difficulty, and
every review changes both. Its parameters are the published defaults, fitted to how people recall flashcards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from math import exp, expm1, inf, log, log1p
from typing import assert_never

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, Layer
from lamina.lifecycle.ageing_time import DAY, days_since
from lamina.lifecycle.signals import AgeingSignals, effective_trust, last_touched_at, recorded_at

LN2 = log(2)
HUBER_DELTA = 1.0
ELASTIC_A = 0.25
BLEND_RHO = 0.3
POWER_C = 0.5
USE_BONUS, MAX_USE_BONUS = 0.05, 0.3


def l2(t: float) -> float:
    """Return what is left if one half is lost in each half-life."""
    return float(2.0**-t)


def huber(t: float, delta: float = HUBER_DELTA) -> float:
    """Return l2 up to delta, then its tangent at delta, which reaches zero at delta + 1/ln 2."""
    return l2(t) if t <= delta else max(0.0, l2(delta) * (1.0 - LN2 * (t - delta)))


def elastic(t: float, strength: float = 1.0, a: float = ELASTIC_A) -> float:
    """Return what the flow leaves of a strength: it loses a share and a fixed amount, whose ratio is `a`."""
    if a <= 0.0:
        return strength * l2(t)
    return max(0.0, (strength + a) * exp(-elastic_rate(a) * t) - a)


def elastic_rate(a: float = ELASTIC_A) -> float:
    """Return the rate per half-life at which a strength of one falls to one half after one half-life."""
    return log((1.0 + a) / (0.5 + a))


def elastic_blend(t: float, rho: float = BLEND_RHO) -> float:
    """Return a mix of l2 and a straight line that reaches zero at two half-lives."""
    return rho * max(0.0, 1.0 - t / 2.0) + (1.0 - rho) * l2(t)


def power(t: float, c: float = POWER_C) -> float:
    """Return a power law: fast at first, then slow; it approaches l2 for large c."""
    return exp(-c * log1p(expm1(LN2 / c) * t))


def add_use_bonus(retention: float, uses: int) -> float:
    """Return the retention raised by uses, by 0.3 at most."""
    return min(1.0, retention + min(MAX_USE_BONUS, USE_BONUS * log1p(max(0, uses))))


_FSRS_NUMBERS = """
    0.212 1.2931 2.3065 8.2956 6.4133 0.8334 3.0194 0.001 1.8722 0.1666 0.796 1.4835 0.0614 0.2629 1.6483
    0.6014 1.8729 0.5425 0.0912 0.0658 0.1542
"""
FSRS_WEIGHTS = tuple(map(float, _FSRS_NUMBERS.split()))
_W = FSRS_WEIGHTS
FSRS_FACTOR = 0.9 ** (-1.0 / _W[20]) - 1.0
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
    return float((1.0 + FSRS_FACTOR * days / stability) ** -_W[20])


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


STANDARD_DAYS = 30.0
KAPPA = 2.0

PERMANENT_LAYERS = frozenset({Layer.SEMANTIC, Layer.PROCEDURAL, Layer.PROFILE, Layer.CODEBASE})
"""Layers in which memories do not fade."""

DURABILITY_FACTOR: Mapping[Durability, float] = {
    Durability.CORE: inf,
    Durability.STANDARD: 1.0,
    Durability.EPHEMERAL: 0.25,
}


class FadingSource(StrEnum):
    """A source of a memory, if that says more than the trust in its origin."""

    HUMAN = "human"
    EXTRACTED = "extracted"


FADING_SPEED: Mapping[FadingSource, float] = {FadingSource.HUMAN: 1.0, FadingSource.EXTRACTED: 3.0}
"""How many times faster a memory from the source fades; other sources are computed from their trust."""


def half_life_days(atom: Atom, signals: AgeingSignals) -> float:
    """Return the half-life in days; infinite for memories that do not fade."""
    if is_permanent(atom):
        return inf
    return STANDARD_DAYS / fading_speed(atom, signals) * DURABILITY_FACTOR[atom.durability]


def is_permanent(atom: Atom) -> bool:
    """Return whether it has no half-life: because of its layer, its durability or a pin."""
    return atom.pinned or atom.layer in PERMANENT_LAYERS or atom.durability is Durability.CORE


def fading_speed(atom: Atom, signals: AgeingSignals) -> float:
    """Return how many times faster it fades than a person's own statement."""
    source = fading_source_of(atom, signals)
    return FADING_SPEED[source] if source else fading_speed_by_trust(effective_trust(atom, signals))


def fading_speed_by_trust(trust: float) -> float:
    """Return how many times faster a statement of this trust fades: once at full trust, three times at none."""
    return 1.0 + KAPPA * (1.0 - min(1.0, max(0.0, trust)))


def fading_source_of(atom: Atom, signals: AgeingSignals) -> FadingSource | None:
    """Return whether it was extracted from text or stated by a person; None if neither."""
    if atom.evidence and not atom.is_segment:
        return FadingSource.EXTRACTED
    return FadingSource.HUMAN if effective_trust(atom, signals) >= 1.0 else None


class RetentionMode(StrEnum):
    """The forgetting"""

    L2 = "l2"
    HUBER = "huber"
    ELASTIC = "elastic"
    ELASTIC_BLEND = "elastic_blend"
    POWER = "power"
    FSRS = "fsrs"


DEFAULT_MODE = RetentionMode.HUBER


def retention(atom: Atom, signals: AgeingSignals, now: datetime, mode: RetentionMode = DEFAULT_MODE) -> float:
    """Return how much of a memory is left, from 0 to 1; 1 if it has no half-life."""
    half_life = half_life_days(atom, signals)
    if half_life == inf:
        return 1.0
    if mode is RetentionMode.FSRS:
        return _fsrs_retention(atom, signals, now, half_life)
    t = days_since(last_touched_at(atom, signals), now) / half_life
    return add_use_bonus(_apply_curve(mode, t, initial_strength(atom)), signals.total_uses)


def initial_strength(atom: Atom) -> float:
    """Return the initial strength of a memory: 1 for ordinary importance, from 0.5 to 1.5."""
    return 0.5 + min(1.0, max(0.0, atom.importance))


def _apply_curve(mode: RetentionMode, t: float, strength: float) -> float:
    match mode:
        case RetentionMode.L2:
            return l2(t)
        case RetentionMode.HUBER:
            return huber(t)
        case RetentionMode.ELASTIC:
            return elastic(t, strength) / strength
        case RetentionMode.ELASTIC_BLEND:
            return elastic_blend(t)
        case RetentionMode.POWER:
            return power(t)
        case RetentionMode.FSRS:
            raise AssertionError("fsrs has a state and no curve over half-lives")
        case _:
            assert_never(mode)


def _fsrs_retention(atom: Atom, signals: AgeingSignals, now: datetime, half_life: float) -> float:
    """Return the retention by FSRS: recording and every stored use are reviews, so use adds no further bonus.

    Days are scaled by the half-life relative to that of a person's own statement.
    """
    start, scale = recorded_at(atom), STANDARD_DAYS / half_life
    reviews = [(0.0, ReviewRating.GOOD)]
    for times, rating in (
        (signals.uses, ReviewRating.GOOD),
        ((signals.reviewed_at,), ReviewRating.EASY),
        ((signals.wrong_at,), ReviewRating.AGAIN),
    ):
        reviews += [(days_since(start, moment) * scale, rating) for moment in times if moment and moment <= now]
    state, last = replay_reviews(reviews)
    return retrievability(max(0.0, (now - start) / DAY * scale - last), state.stability)
