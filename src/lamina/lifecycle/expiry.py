"""Expire memories with a limited term: unconfirmed guesses, resolved commitments, and atoms with an expiry date.

They are tombstoned: removed from recall with their text kept, and undone like any other step.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.decision import AgeingAction, AgeingDecision, keep_unchanged
from lamina.lifecycle.signals import AgeingSignals, changed_at, last_touched_at, recorded_at

SPECULATIVE_TERM = timedelta(days=30)
RESOLVED_TERM = timedelta(days=90)


def decide_expiry(atom: Atom, signals: AgeingSignals, moment: AgeingTime) -> AgeingDecision:
    """Decide whether an atom has expired."""
    if atom.pinned:
        return keep_unchanged("pinned")
    if atom.status not in RECALL_WEIGHT:
        return keep_unchanged(f"{atom.status}: a person or a successor decides")
    due = expiry_due(atom, signals)
    if due is None:
        return keep_unchanged("has no expiry date")
    expires_at, reason = due
    if moment.active_now < expires_at:
        return keep_unchanged(f"{reason}, but not before {expires_at:%Y-%m-%d}")
    return AgeingDecision(action=AgeingAction.EXPIRE, reason=reason, status=Status.TOMBSTONED)


def expiry_due(atom: Atom, signals: AgeingSignals) -> tuple[datetime, str] | None:
    """Return when an atom expires, and why; None if it has no term."""
    terms = [
        term
        for term in (
            _guess_term(atom, signals),
            _resolved_commitment_term(atom, signals),
            _explicit_term(atom, signals),
        )
        if term
    ]
    return min(terms, default=None)


def is_unconfirmed_guess(atom: Atom, signals: AgeingSignals) -> bool:
    """Return whether it is a guess that neither a person nor a second source has confirmed."""
    return atom.confidence_tier == "speculative" and signals.confirmations <= 0 and signals.reviewed_at is None


def _guess_term(atom: Atom, signals: AgeingSignals) -> tuple[datetime, str] | None:
    if not is_unconfirmed_guess(atom, signals):
        return None
    return atom.expires_at or recorded_at(atom) + SPECULATIVE_TERM, "an unconfirmed guess"


def _resolved_commitment_term(atom: Atom, signals: AgeingSignals) -> tuple[datetime, str] | None:
    if atom.kind != "commitment" or not atom.resolved:
        return None
    touched_at = max(changed_at(atom, signals), last_touched_at(atom, signals))
    return max(touched_at, signals.reviewed_at or touched_at) + RESOLVED_TERM, "a commitment resolved long ago"


def _explicit_term(atom: Atom, signals: AgeingSignals) -> tuple[datetime, str] | None:
    """Return the atom's expiry date; not for a confirmed guess, or if a person reviewed the atom after that date."""
    if atom.expires_at is None or atom.confidence_tier == "speculative":
        return None
    if signals.reviewed_at is not None and signals.reviewed_at >= atom.expires_at:
        return None
    return atom.expires_at, "by its expiry date"
