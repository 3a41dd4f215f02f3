"""Define the statuses, the transitions between them, and what each means for recall."""

from __future__ import annotations

from enum import StrEnum

from lamina.errors import TransitionRefused


class Status(StrEnum):
    """The field that decides whether an atom counts."""

    ACTIVE = "active"
    CONSTRAINED = "constrained"
    CHALLENGED = "challenged"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    MERGED = "merged"
    ARCHIVED = "archived"
    TOMBSTONED = "tombstoned"


class TransitionCause(StrEnum):
    """A cause of a change of status; some transitions are open to some causes only."""

    ORDINARY = "ordinary"
    RESTORE = "restore"
    ROLLBACK = "rollback"
    QUARANTINE = "quarantine"
    UNDO = "undo"
    ADOPT = "adopt"
    UPKEEP = "upkeep"


_S = Status

TRANSITIONS: dict[Status, tuple[Status, ...]] = {
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
"""Statuses that only undo or a restore with a reason can leave."""

_LIVE = frozenset({_S.ACTIVE, _S.CHALLENGED, _S.ARCHIVED})

REPLACED = frozenset({_S.SUPERSEDED, _S.MERGED})
"""Statuses of statements that were true until another took their place."""

RECALL_WEIGHT: dict[Status, float] = {_S.ACTIVE: 1.0, _S.ARCHIVED: 0.92}
"""The statuses that normal recall searches, and the weight of each."""

INCLUDE_OPTIONS: dict[str, frozenset[Status]] = {
    "history": ENDED,
    "challenged": frozenset({_S.CHALLENGED}),
    "constrained": frozenset({_S.CONSTRAINED}),
}
"""The statuses that each value of `recall(include=…)` adds to the search."""


def check_transition(old: Status, new: Status, cause: TransitionCause) -> None:
    """Raise TransitionRefused unless the table allows the transition for this cause."""
    if old == new or cause in (TransitionCause.UNDO, TransitionCause.ADOPT) or new in TRANSITIONS[old]:
        return
    if cause is TransitionCause.RESTORE and old in ENDED and new is Status.ACTIVE:
        return
    if cause in (TransitionCause.ROLLBACK, TransitionCause.QUARANTINE) and old in ENDED and new in _LIVE:
        return  # what ended them is reversed, so they get their earlier status back
    if cause is TransitionCause.QUARANTINE and new is Status.CONSTRAINED and old is not Status.TOMBSTONED:
        return
    raise TransitionRefused(old, new, TRANSITIONS[old])
