"""A score taken apart for the eye: a bar for each term, what they add up to, and what that is multiplied by."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.recall.hit import Hit

EVEN = 50.0
"""Where a weight of one ends; those that lift reach further right, those that lower less far."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A value and where its bar begins and ends, from 0 to 100."""

    name: str
    value: float
    start: float
    length: float
    low: bool


@dataclass(frozen=True, slots=True)
class Xray:
    """Every term and weight. `relevance` is the sum of the terms, at least 0; `score` that times the weights."""

    terms: tuple[Bar, ...]
    relevance: float
    weights: tuple[Bar, ...]
    score: float


def xray(hit: Hit) -> Xray:
    """The score of a hit, taken apart."""
    most = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = tuple(
        Bar(name, value, 0.0, round(100 * abs(value) / most, 2), value < 0)
        for name, value in sorted(hit.terms, key=lambda each: -each[1])
    )
    return Xray(terms, hit.relevance, tuple(_weight(name, value) for name, value in hit.weights), hit.score)


def _weight(name: str, value: float) -> Bar:
    """A weight lies between a half and one and a half; its bar leaves the middle by as much as it moves the score."""
    away = max(-EVEN, min(EVEN, (value - 1.0) * 100))
    return Bar(name, value, round(min(EVEN, EVEN + away), 2), round(abs(away), 2), value < 1)
