"""Compute the status of a statement at a time, from its stored status and its valid time."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.status import Status


class Standing(StrEnum):
    """What a statement counts for at a time."""

    CURRENT = "current"
    AHEAD = "ahead"
    OVER = "over"
    WRONG = "wrong"
    TAKEN_BACK = "taken back"
    DOUBTED = "doubted"
    HELD = "held"


_BY_STATUS = {
    Status.INVALIDATED: Standing.WRONG,
    Status.TOMBSTONED: Standing.TAKEN_BACK,
    Status.CHALLENGED: Standing.DOUBTED,
    Status.CONSTRAINED: Standing.HELD,
}


def begins(atom: Atom) -> datetime:
    """Return the start of a statement's valid time: as it says, or else when it was observed."""
    return atom.valid_from or atom.observed_at


def standing(atom: Atom, at: datetime) -> Standing:
    """Return the effective status of a statement at a time; a superseded one was current until it was superseded."""
    if atom.status in _BY_STATUS:
        return _BY_STATUS[atom.status]
    if at < begins(atom):
        return Standing.AHEAD
    is_replaced = atom.status in (Status.SUPERSEDED, Status.MERGED) and atom.valid_until is None
    if is_replaced or (atom.valid_until is not None and atom.valid_until <= at):
        return Standing.OVER
    return Standing.CURRENT
