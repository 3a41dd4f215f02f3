"""Statuses, the arrows between them, and what each means for recall."""

from __future__ import annotations

from enum import StrEnum

from lamina.errors import TransitionRefused


class Status(StrEnum):
    """The one field that says whether an atom counts; obeyed by everything."""

    ACTIVE = "active"
    CONSTRAINED = "constrained"
    CHALLENGED = "challenged"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    MERGED = "merged"
    ARCHIVED = "archived"
    TOMBSTONED = "tombstoned"


class Way(StrEnum):
    """How a change of status comes about; some arrows stand open to some ways only."""

    ORDINARY = "ordinary"
    RESTORE = "restore"
    ROLLBACK = "rollback"
    QUARANTINE = "quarantine"
    UNDO = "undo"
    ADOPT = "adopt"
    UPKEEP = "upkeep"


_S = Status

ARROWS: dict[Status, tuple[Status, ...]] = {
    _S.CONSTRAINED: (_S.ACTIVE, _S.TOMBSTONED),
    _S.ACTIVE: (_S.CHALLENGED, _S.SUPERSEDED, _S.INVALIDATED, _S.MERGED, _S.ARCHIVED, _S.TOMBSTONED),
    _S.CHALLENGED: (_S.ACTIVE, _S.SUPERSEDED, _S.INVALIDATED, _S.TOMBSTONED, _S.ARCHIVED),
    _S.ARCHIVED: (_S.ACTIVE, _S.TOMBSTONED),
    _S.SUPERSEDED: (),
    _S.INVALIDATED: (),
    _S.MERGED: (),
    _S.TOMBSTONED: (),
}

ENDED = frozenset({_S.SUPERSEDED, _S.INVALIDATED, _S.MERGED, _S.TOMBSTONED})
"""Left only by undo or by a reasoned restore."""

_LIVE = frozenset({_S.ACTIVE, _S.CHALLENGED, _S.ARCHIVED})

REPLACED = frozenset({_S.SUPERSEDED, _S.MERGED})
"""True while it held, and over since something else took its place."""

RECALL_WEIGHT: dict[Status, float] = {_S.ACTIVE: 1.0, _S.ARCHIVED: 0.92}
"""What normal recall searches, and how much each counts."""

INCLUDE: dict[str, frozenset[Status]] = {
    "history": ENDED,
    "challenged": frozenset({_S.CHALLENGED}),
    "constrained": frozenset({_S.CONSTRAINED}),
}
"""What `recall(include=…)` adds to what is searched."""


def check_transition(old: Status, new: Status, way: Way) -> None:
    """Raise TransitionRefused unless the table has the arrow for this way of changing."""
    if old == new or way in (Way.UNDO, Way.ADOPT) or new in ARROWS[old]:
        return
    if way is Way.RESTORE and old in ENDED and new is Status.ACTIVE:
        return
    if way in (Way.ROLLBACK, Way.QUARANTINE) and old in ENDED and new in _LIVE:
        return  # what had ended them is taken back, so they are what they were
    if way is Way.QUARANTINE and new is Status.CONSTRAINED and old is not Status.TOMBSTONED:
        return
    raise TransitionRefused(old, new, ARROWS[old])
