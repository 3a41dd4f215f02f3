"""Compute how much of a memory is left: a curve over its age in half-lives, raised by use. It only affects ranking."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from math import inf
from typing import assert_never

from lamina.atom.atom import Atom
from lamina.lifecycle import curves, fsrs
from lamina.lifecycle.half_life import STANDARD_DAYS, half_life_days
from lamina.lifecycle.moment import DAY, days_since
from lamina.lifecycle.signals import Signals, last_touch, recorded


class Mode(StrEnum):
    """The forgetting curves."""

    L2 = "l2"
    HUBER = "huber"
    ELASTIC = "elastic"
    ELASTIC_BLEND = "elastic_blend"
    POWER = "power"
    FSRS = "fsrs"


DEFAULT = Mode.HUBER


def retention(atom: Atom, signals: Signals, now: datetime, mode: Mode = DEFAULT) -> float:
    """Return how much of a memory is left, from 0 to 1; 1 if it has no half-life."""
    half_life = half_life_days(atom, signals)
    if half_life == inf:
        return 1.0
    if mode is Mode.FSRS:
        return _reviewed(atom, signals, now, half_life)
    t = days_since(last_touch(atom, signals), now) / half_life
    return curves.reinforced(_left(mode, t, strength(atom)), signals.many)


def strength(atom: Atom) -> float:
    """Return the initial strength of a memory: 1 for ordinary importance, from 0.5 to 1.5."""
    return 0.5 + min(1.0, max(0.0, atom.importance))


def _left(mode: Mode, t: float, strong: float) -> float:
    match mode:
        case Mode.L2:
            return curves.l2(t)
        case Mode.HUBER:
            return curves.huber(t)
        case Mode.ELASTIC:
            return curves.elastic(t, strong) / strong
        case Mode.ELASTIC_BLEND:
            return curves.elastic_blend(t)
        case Mode.POWER:
            return curves.power(t)
        case Mode.FSRS:
            raise AssertionError("fsrs has a state and no curve over half-lives")
        case _:
            assert_never(mode)


def _reviewed(atom: Atom, signals: Signals, now: datetime, half_life: float) -> float:
    """Return the retention by FSRS: recording and every stored use are reviews, so use adds no further bonus.

    Days are scaled by the half-life relative to that of a person's own statement.
    """
    start, scale = recorded(atom), STANDARD_DAYS / half_life
    reviews = [(0.0, fsrs.Rating.GOOD)]
    for times, rating in (
        (signals.uses, fsrs.Rating.GOOD),
        ((signals.reviewed_at,), fsrs.Rating.EASY),
        ((signals.wrong_at,), fsrs.Rating.AGAIN),
    ):
        reviews += [(days_since(start, moment) * scale, rating) for moment in times if moment and moment <= now]
    state, last = fsrs.replayed(reviews)
    return fsrs.retrievability(max(0.0, (now - start) / DAY * scale - last), state.stability)
