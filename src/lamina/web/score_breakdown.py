"""The parts of a score as bars: terms, their sum, and the weights."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.recall.hit import Hit

NEUTRAL = 50.0
"""The position of a weight of 1; larger weights extend to the right of it, smaller ones to the left."""


@dataclass(frozen=True, slots=True)
class ScoreBar:
    """A value, and the start and length of its bar from 0 to 100."""

    name: str
    value: float
    start: float
    length: float
    low: bool


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """All terms and weights. `relevance` is the sum of the terms, at least 0; `score` is that times the weights."""

    terms: tuple[ScoreBar, ...]
    relevance: float
    weights: tuple[ScoreBar, ...]
    score: float


def break_down_score(hit: Hit) -> ScoreBreakdown:
    """Return the parts of a hit's score."""
    largest = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = tuple(
        ScoreBar(name, value, 0.0, round(100 * abs(value) / largest, 2), value < 0)
        for name, value in sorted(hit.terms, key=lambda term: -term[1])
    )
    return ScoreBreakdown(
        terms, hit.relevance, tuple(_weight_bar(name, value) for name, value in hit.weights), hit.score
    )


def _weight_bar(name: str, value: float) -> ScoreBar:
    """Return the bar of a weight: it starts in the middle and is as long as the weight changes the score."""
    offset = max(-NEUTRAL, min(NEUTRAL, (value - 1.0) * 100))
    return ScoreBar(name, value, round(min(NEUTRAL, NEUTRAL + offset), 2), round(abs(offset), 2), value < 1)
