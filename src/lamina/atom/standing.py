"""Where a statement stands at a moment: its status and its time, taken together."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.status import Status


class Standing(StrEnum):
    """What a statement is worth at a moment."""

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
    """From when a statement holds: from when it says, or from when it was said."""
    return atom.valid_from or atom.observed_at


def standing(atom: Atom, at: datetime) -> Standing:
    """Where a statement stands at a moment; one that was replaced stood until then."""
    if atom.status in _BY_STATUS:
        return _BY_STATUS[atom.status]
    if at < begins(atom):
        return Standing.AHEAD
    ended = atom.status in (Status.SUPERSEDED, Status.MERGED) and atom.valid_until is None
    if ended or (atom.valid_until is not None and atom.valid_until <= at):
        return Standing.OVER
    return Standing.CURRENT
