"""Raise the confidence of relations that are seen again, and lower it with time; it never reaches zero.

Decay subtracts whole windows and moves the start time by as many, so that one pass and many passes give the same
result.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

from lamina.atom.relation import Relation

STEP_UP, STEP_DOWN = 0.05, 0.1
WINDOW = timedelta(days=90)
"""The time per decay step; also the time before the first step."""
FLOOR = 0.1
PRUNED_BELOW = 0.2
"""Relations with a lower confidence are not followed."""


def firmer(confidence: float) -> float:
    """Return the confidence of a relation that was seen once more."""
    return min(1.0, round(confidence + STEP_UP, 9))


def weaker(confidence: float, since: datetime, now: datetime) -> tuple[float, datetime]:
    """Return the confidence of a relation last seen at `since`, and the new time from which its decay counts."""
    age = now - since
    if age <= WINDOW or confidence <= FLOOR:
        return confidence, since
    steps = min(ceil((age - WINDOW) / WINDOW), ceil(round((confidence - FLOOR) / STEP_DOWN, 9)))
    return max(FLOOR, round(confidence - STEP_DOWN * steps, 9)), since + steps * WINDOW


def reinforced(relation: Relation, now: datetime) -> Relation:
    """Return the relation after it was seen again."""
    reinforced_at = max(relation.last_reinforced_at or now, now)
    return replace(relation, confidence=firmer(relation.confidence), last_reinforced_at=reinforced_at)


def decayed(relation: Relation, now: datetime, made: datetime) -> Relation:
    """Return the relation after its decay; one that was never seen again decays from its creation."""
    since = relation.last_reinforced_at or made
    confidence, decayed_until = weaker(relation.confidence, since, now)
    if decayed_until == since:
        return relation
    return replace(relation, confidence=confidence, last_reinforced_at=decayed_until)
