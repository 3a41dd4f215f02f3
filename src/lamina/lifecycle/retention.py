"""Compute how much of a memory is left: a curve over its age in half-lives, raised by use. It only affects ranking."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from math import inf
from typing import assert_never

from lamina.atom.atom import Atom
from lamina.lifecycle import curves, fsrs
from lamina.lifecycle.ageing_time import DAY, days_since
from lamina.lifecycle.half_life import STANDARD_DAYS, half_life_days
from lamina.lifecycle.signals import AgeingSignals, last_touched_at, recorded_at


class RetentionMode(StrEnum):
    """The forgetting curves."""

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
    return curves.add_use_bonus(_apply_curve(mode, t, initial_strength(atom)), signals.total_uses)


def initial_strength(atom: Atom) -> float:
    """Return the initial strength of a memory: 1 for ordinary importance, from 0.5 to 1.5."""
    return 0.5 + min(1.0, max(0.0, atom.importance))


def _apply_curve(mode: RetentionMode, t: float, strength: float) -> float:
    match mode:
        case RetentionMode.L2:
            return curves.l2(t)
        case RetentionMode.HUBER:
            return curves.huber(t)
        case RetentionMode.ELASTIC:
            return curves.elastic(t, strength) / strength
        case RetentionMode.ELASTIC_BLEND:
            return curves.elastic_blend(t)
        case RetentionMode.POWER:
            return curves.power(t)
        case RetentionMode.FSRS:
            raise AssertionError("fsrs has a state and no curve over half-lives")
        case _:
            assert_never(mode)


def _fsrs_retention(atom: Atom, signals: AgeingSignals, now: datetime, half_life: float) -> float:
    """Return the retention by FSRS: recording and every stored use are reviews, so use adds no further bonus.

    Days are scaled by the half-life relative to that of a person's own statement.
    """
    start, scale = recorded_at(atom), STANDARD_DAYS / half_life
    reviews = [(0.0, fsrs.ReviewRating.GOOD)]
    for times, rating in (
        (signals.uses, fsrs.ReviewRating.GOOD),
        ((signals.reviewed_at,), fsrs.ReviewRating.EASY),
        ((signals.wrong_at,), fsrs.ReviewRating.AGAIN),
    ):
        reviews += [(days_since(start, moment) * scale, rating) for moment in times if moment and moment <= now]
    state, last = fsrs.replay_reviews(reviews)
    return fsrs.retrievability(max(0.0, (now - start) / DAY * scale - last), state.stability)
