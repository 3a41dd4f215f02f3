"""Compute the lifecycle state of a memory: a label for ranking. Whether it counts is decided by its status."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.kinds import kind_traits
from lamina.atom.status import ENDED, Status
from lamina.lifecycle.half_life import is_permanent
from lamina.lifecycle.heat import decay, heat, last_event_at
from lamina.lifecycle.signals import AgeingSignals, Verification, verification

ARCHIVED_THRESHOLD, STALE_THRESHOLD, HOT_THRESHOLD = 0.85, 0.65, 0.55
PROTECTED_KINDS = frozenset({"procedure"})
"""Kinds that are never labelled archived, in addition to those protected from archival itself."""


class LifecycleState(StrEnum):
    """A state of a memory: how current and used it is."""

    CANDIDATE = "candidate"
    VALIDATED = "validated"
    ACTIVE = "active"
    STALE = "stale"
    ARCHIVED = "archived"


STATE_WEIGHTS: Mapping[LifecycleState, float] = {
    LifecycleState.ACTIVE: 1.05,
    LifecycleState.VALIDATED: 1.03,
    LifecycleState.CANDIDATE: 0.99,
    LifecycleState.STALE: 0.94,
    LifecycleState.ARCHIVED: 0.92,
}
DISPUTED_WEIGHT = 0.88


def lifecycle_state(atom: Atom, signals: AgeingSignals, now: datetime) -> LifecycleState:
    """Return the label at a time: decided by the status, then the decay, then the heat at the last event."""
    if atom.status is Status.ARCHIVED:
        return LifecycleState.ARCHIVED
    if atom.status in ENDED or verification(atom, signals) is Verification.DISPUTED:
        return LifecycleState.STALE
    decayed = decay(atom, signals, now)
    if decayed >= ARCHIVED_THRESHOLD and not _is_protected(atom):
        return LifecycleState.ARCHIVED
    if decayed >= STALE_THRESHOLD:
        return LifecycleState.STALE
    return _state_by_heat(atom, signals, now)


def lifecycle_weight(atom: Atom, signals: AgeingSignals, now: datetime) -> float:
    """Return the weight by which recall multiplies the relevance."""
    if verification(atom, signals) is Verification.DISPUTED:
        return DISPUTED_WEIGHT
    return STATE_WEIGHTS[lifecycle_state(atom, signals, now)]


def _state_by_heat(atom: Atom, signals: AgeingSignals, now: datetime) -> LifecycleState:
    """Return the label by the heat at the last event: between two events heat only falls, so the label stays until it
    is stale."""
    if heat(atom, signals, min(now, last_event_at(atom, signals))) < HOT_THRESHOLD:
        return LifecycleState.CANDIDATE
    is_verified = verification(atom, signals) in (Verification.USER_CONFIRMED, Verification.SYSTEM_INFERRED)
    return LifecycleState.ACTIVE if is_verified else LifecycleState.VALIDATED


def _is_protected(atom: Atom) -> bool:
    return kind_traits(atom.kind).is_protected or atom.kind in PROTECTED_KINDS or is_permanent(atom)
