"""What was kept for a while only: guesses nobody confirmed, promises that were kept, and what says so itself.

It is tombstoned: out of recall, its text kept, and undone like any other step.
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
    """Whether an atom's time is over."""
    if atom.pinned:
        return keep("pinned")
    if atom.status not in RECALL_WEIGHT:
        return keep(f"{atom.status}: a person or a successor decides")
    due = due_at(atom, signals)
    if due is None:
        return keep("kept without a term")
    at, why = due
    if moment.lived < at:
        return keep(f"{why}, but not before {at:%Y-%m-%d}")
    return Decision(action=Action.EXPIRE, why=why, status=Status.TOMBSTONED)


def due_at(atom: Atom, signals: Signals) -> tuple[datetime, str] | None:
    """When an atom's time is over, and why it has a term at all."""
    terms = [each for each in (_guess(atom, signals), _kept_promise(atom, signals), _own_term(atom, signals)) if each]
    return min(terms, default=None)


def is_unconfirmed_guess(atom: Atom, signals: Signals) -> bool:
    """Whether it is a guess that neither a person nor a second source has confirmed."""
    return atom.confidence_tier == "speculative" and signals.confirmations <= 0 and signals.reviewed_at is None


def _guess(atom: Atom, signals: Signals) -> tuple[datetime, str] | None:
    if not is_unconfirmed_guess(atom, signals):
        return None
    return atom.expires_at or recorded(atom) + SPECULATIVE, "a guess nobody confirmed"


def _kept_promise(atom: Atom, signals: Signals) -> tuple[datetime, str] | None:
    if atom.kind != "commitment" or not atom.resolved:
        return None
    touched = max(changed(atom, signals), last_touch(atom, signals))
    return max(touched, signals.reviewed_at or touched) + RESOLVED, "a commitment long resolved"


def _own_term(atom: Atom, signals: Signals) -> tuple[datetime, str] | None:
    """What it says itself; the term of a guess went with its confirmation, and one a person kept longer is over."""
    if atom.expires_at is None or atom.confidence_tier == "speculative":
        return None
    if signals.reviewed_at is not None and signals.reviewed_at >= atom.expires_at:
        return None
    return atom.expires_at, "of no use any more, as it says itself"
