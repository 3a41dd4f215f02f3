"""Lower the confidence of relations with time; it never reaches zero.

Decay subtracts whole windows and moves the start time by as many, so that one pass and many passes give the same
result.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil

from lamina.atom.atom import Relation

STEP_DOWN = 0.1
DECAY_WINDOW = timedelta(days=90)
"""The time per decay step; also the time before the first step."""
MIN_CONFIDENCE = 0.1
TRAVERSAL_THRESHOLD = 0.2
"""Relations with a lower confidence are not followed."""


def decay_confidence(confidence: float, since: datetime, now: datetime) -> tuple[float, datetime]:
    """Return the confidence of a relation last seen at `since`, and the new time from which its decay counts."""
    age = now - since
    if age <= DECAY_WINDOW or confidence <= MIN_CONFIDENCE:
        return confidence, since
    steps = min(ceil((age - DECAY_WINDOW) / DECAY_WINDOW), ceil(round((confidence - MIN_CONFIDENCE) / STEP_DOWN, 9)))
    return max(MIN_CONFIDENCE, round(confidence - STEP_DOWN * steps, 9)), since + steps * DECAY_WINDOW


def decay_relation(relation: Relation, now: datetime, created_at: datetime) -> Relation:
    """Return the relation after its decay; one that was never seen again decays from its creation."""
    since = relation.last_reinforced_at or created_at
    confidence, decayed_until = decay_confidence(relation.confidence, since, now)
    if decayed_until == since:
        return relation
    return replace(relation, confidence=confidence, last_reinforced_at=decayed_until)
