"""Edges: firmer when seen again, weaker when not, and never gone.

Decay charges whole windows and moves the mark by as many, so that one pass and many come to the same.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

from lamina.atom.relation import Relation

STEP_UP, STEP_DOWN = 0.05, 0.1
WINDOW = timedelta(days=90)
"""Also the grace before the first step."""
FLOOR = 0.1
PRUNED_BELOW = 0.2
"""What is weaker is not walked."""


def firmer(confidence: float) -> float:
    """The confidence of an edge seen once more."""
    return min(1.0, round(confidence + STEP_UP, 9))


def weaker(confidence: float, since: datetime, now: datetime) -> tuple[float, datetime]:
    """The confidence of an edge last seen so long ago, and the mark from which its time counts on."""
    age = now - since
    if age <= WINDOW or confidence <= FLOOR:
        return confidence, since
    windows = min(ceil((age - WINDOW) / WINDOW), ceil(round((confidence - FLOOR) / STEP_DOWN, 9)))
    return max(FLOOR, round(confidence - STEP_DOWN * windows, 9)), since + windows * WINDOW


def reinforced(relation: Relation, now: datetime) -> Relation:
    """A relation seen again."""
    at = max(relation.last_reinforced_at or now, now)
    return replace(relation, confidence=firmer(relation.confidence), last_reinforced_at=at)


def decayed(relation: Relation, now: datetime, made: datetime) -> Relation:
    """A relation as time has left it; one never seen again counts from when it was made."""
    since = relation.last_reinforced_at or made
    confidence, mark = weaker(relation.confidence, since, now)
    if mark == since:
        return relation
    return replace(relation, confidence=confidence, last_reinforced_at=mark)
