"""The parts of a score as bars: terms, their sum, and the weights."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.recall.hit import Hit

EVEN = 50.0
"""The position of a weight of 1; larger weights extend to the right of it, smaller ones to the left."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A value, and the start and length of its bar from 0 to 100."""

    name: str
    value: float
    start: float
    length: float
    low: bool


@dataclass(frozen=True, slots=True)
class Xray:
    """All terms and weights. `relevance` is the sum of the terms, at least 0; `score` is that times the weights."""

    terms: tuple[Bar, ...]
    relevance: float
    weights: tuple[Bar, ...]
    score: float


def xray(hit: Hit) -> Xray:
    """Return the parts of a hit's score."""
    largest = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = tuple(
        Bar(name, value, 0.0, round(100 * abs(value) / largest, 2), value < 0)
        for name, value in sorted(hit.terms, key=lambda term: -term[1])
    )
    return Xray(terms, hit.relevance, tuple(_weight(name, value) for name, value in hit.weights), hit.score)


def _weight(name: str, value: float) -> Bar:
    """Return the bar of a weight: it starts in the middle and is as long as the weight changes the score."""
    offset = max(-EVEN, min(EVEN, (value - 1.0) * 100))
    return Bar(name, value, round(min(EVEN, EVEN + offset), 2), round(abs(offset), 2), value < 1)
