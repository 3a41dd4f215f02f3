"""Compute the status of a statement at a time, from its stored status and its valid time."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.status import Status


class EffectiveStatus(StrEnum):
    """The status that a statement has at a time."""

    CURRENT = "current"
    FUTURE = "ahead"
    ENDED = "over"
    WRONG = "wrong"
    WITHDRAWN = "taken back"
    DISPUTED = "doubted"
    PENDING = "held"


_BY_STATUS = {
    Status.INVALIDATED: EffectiveStatus.WRONG,
    Status.TOMBSTONED: EffectiveStatus.WITHDRAWN,
    Status.CHALLENGED: EffectiveStatus.DISPUTED,
    Status.CONSTRAINED: EffectiveStatus.PENDING,
}


def effective_from(atom: Atom) -> datetime:
    """Return the start of a statement's valid time: as it says, or else when it was observed."""
    return atom.valid_from or atom.observed_at


def effective_status_at(atom: Atom, at: datetime) -> EffectiveStatus:
    """Return the effective status of a statement at a time; a superseded one was current until it was superseded."""
    if atom.status in _BY_STATUS:
        return _BY_STATUS[atom.status]
    if at < effective_from(atom):
        return EffectiveStatus.FUTURE
    is_replaced = atom.status in (Status.SUPERSEDED, Status.MERGED) and atom.valid_until is None
    if is_replaced or (atom.valid_until is not None and atom.valid_until <= at):
        return EffectiveStatus.ENDED
    return EffectiveStatus.CURRENT
