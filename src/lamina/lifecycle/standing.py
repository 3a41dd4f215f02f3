"""Compute the standing of a memory: how far it is verified and protected, how current it is, and where it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.kinds import Durability, kind_traits
from lamina.lifecycle.ageing import is_unconfirmed_guess
from lamina.lifecycle.ageing_decision import StorageTier
from lamina.lifecycle.heat import decay, heat
from lamina.lifecycle.lifecycle_state import PROTECTED_KINDS, LifecycleState, lifecycle_state
from lamina.lifecycle.signals import AgeingSignals, Verification, verification


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
