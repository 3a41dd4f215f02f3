"""Compute how far a statement was verified, from its status, its origin and its confirmations. It is not stored."""

from __future__ import annotations

from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.lifecycle.signals import AgeingSignals


class Verification(StrEnum):
    """How far a statement has been verified."""

    USER_CONFIRMED = "user_confirmed"
    SYSTEM_INFERRED = "system_inferred"
    UNVERIFIED = "unverified"
    DISPUTED = "disputed"


STATED_TIERS = frozenset({"explicit", "implied"})


def verification(atom: Atom, signals: AgeingSignals) -> Verification:
    """Return disputed first; else by a person's decision or explicit statement; else by a second source or a clear
    statement."""
    if signals.is_disputed or atom.status is Status.CHALLENGED:
        return Verification.DISPUTED
    if atom.status is Status.CONSTRAINED:
        return Verification.UNVERIFIED
    if signals.reviewed_at or (atom.origin is Origin.HUMAN and atom.confidence_tier == "explicit"):
        return Verification.USER_CONFIRMED
    if signals.confirmations > 0 or (
        atom.confidence_tier in STATED_TIERS and atom.origin in (Origin.HUMAN, Origin.AGENT)
    ):
        return Verification.SYSTEM_INFERRED
    return Verification.UNVERIFIED
