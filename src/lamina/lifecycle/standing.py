"""Compute the standing of a memory: how far it is verified and protected, how current it is, and where it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, kind_traits
from lamina.atom.status import ENDED, Status
from lamina.lifecycle.ageing import is_unconfirmed_guess
from lamina.lifecycle.ageing_decision import StorageTier
from lamina.lifecycle.heat import decay, heat, last_event_at
from lamina.lifecycle.retention import is_permanent
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


def _state_by_heat(atom: Atom, signals: AgeingSignals, now: datetime) -> LifecycleState:
    """Return the label by the heat at the last event: between two events heat only falls, so the label stays until it
    is stale."""
    if heat(atom, signals, min(now, last_event_at(atom, signals))) < HOT_THRESHOLD:
        return LifecycleState.CANDIDATE
    is_verified = verification(atom, signals) in (Verification.USER_CONFIRMED, Verification.SYSTEM_INFERRED)
    return LifecycleState.ACTIVE if is_verified else LifecycleState.VALIDATED


def _is_protected(atom: Atom) -> bool:
    return kind_traits(atom.kind).is_protected or atom.kind in PROTECTED_KINDS or is_permanent(atom)


class PolicyClass(StrEnum):
    """A class of how long a memory is meant to last."""

    EPHEMERAL = "ephemeral"
    DURABLE = "durable"
    PROTECTED = "protected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The values computed from the fields of a memory, its use and the time; they are not stored in the file."""

    confidence_tier: str
    verification: Verification
    policy_class: PolicyClass
    lifecycle_state: LifecycleState
    tier: StorageTier
    heat: float
    decay: float


def policy_class(atom: Atom, signals: AgeingSignals) -> PolicyClass:
    """Return protected for what maintenance never discards, ephemeral for what expires or fades fast, else durable."""
    if atom.pinned or atom.durability is Durability.CORE:
        return PolicyClass.PROTECTED
    if kind_traits(atom.kind).is_protected or atom.kind in PROTECTED_KINDS:
        return PolicyClass.PROTECTED
    is_temporary = atom.durability is Durability.EPHEMERAL or atom.expires_at is not None
    return PolicyClass.EPHEMERAL if is_temporary or is_unconfirmed_guess(atom, signals) else PolicyClass.DURABLE


def compute_standing(atom: Atom, signals: AgeingSignals, tier: StorageTier, now: datetime) -> Standing:
    """Return the standing of an atom at a time; `tier` is where the last dream put it."""
    return Standing(
        confidence_tier=atom.confidence_tier,
        verification=verification(atom, signals),
        policy_class=policy_class(atom, signals),
        lifecycle_state=lifecycle_state(atom, signals, now),
        tier=tier,
        heat=round(heat(atom, signals, now), 4),
        decay=round(decay(atom, signals, now), 4),
    )
