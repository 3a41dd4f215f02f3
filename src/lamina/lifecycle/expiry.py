"""Expire memories with a limited term: unconfirmed guesses, resolved commitments, and atoms with an expiry date.

They are tombstoned: removed from recall with their text kept, and undone like any other step.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.lifecycle.decision import Action, Decision, keep
from lamina.lifecycle.moment import Moment
from lamina.lifecycle.signals import Signals, changed, last_touch, recorded

SPECULATIVE = timedelta(days=30)
RESOLVED = timedelta(days=90)


def expiry(atom: Atom, signals: Signals, moment: Moment) -> Decision:
    """Decide whether an atom has expired."""
    if atom.pinned:
        return keep("pinned")
    if atom.status not in RECALL_WEIGHT:
        return keep(f"{atom.status}: a person or a successor decides")
    due = due_at(atom, signals)
    if due is None:
        return keep("has no expiry date")
    expires_at, reason = due
    if moment.lived < expires_at:
        return keep(f"{reason}, but not before {expires_at:%Y-%m-%d}")
    return Decision(action=Action.EXPIRE, why=reason, status=Status.TOMBSTONED)


def due_at(atom: Atom, signals: Signals) -> tuple[datetime, str] | None:
    """Return when an atom expires, and why; None if it has no term."""
    terms = [term for term in (_guess(atom, signals), _kept_promise(atom, signals), _own_term(atom, signals)) if term]
    return min(terms, default=None)


def is_unconfirmed_guess(atom: Atom, signals: Signals) -> bool:
    """Return whether it is a guess that neither a person nor a second source has confirmed."""
    return atom.confidence_tier == "speculative" and signals.confirmations <= 0 and signals.reviewed_at is None


def _guess(atom: Atom, signals: Signals) -> tuple[datetime, str] | None:
    if not is_unconfirmed_guess(atom, signals):
        return None
    return atom.expires_at or recorded(atom) + SPECULATIVE, "an unconfirmed guess"


def _kept_promise(atom: Atom, signals: Signals) -> tuple[datetime, str] | None:
    if atom.kind != "commitment" or not atom.resolved:
        return None
    touched_at = max(changed(atom, signals), last_touch(atom, signals))
    return max(touched_at, signals.reviewed_at or touched_at) + RESOLVED, "a commitment resolved long ago"


def _own_term(atom: Atom, signals: Signals) -> tuple[datetime, str] | None:
    """Return the atom's expiry date; not for a confirmed guess, or if a person reviewed the atom after that date."""
    if atom.expires_at is None or atom.confidence_tier == "speculative":
        return None
    if signals.reviewed_at is not None and signals.reviewed_at >= atom.expires_at:
        return None
    return atom.expires_at, "by its expiry date"
