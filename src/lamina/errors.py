"""Everything lamina raises, in one tree. Expected outcomes (duplicate, superseded, quarantined) are return values.

LaminaError
├── InvalidInput        the caller's words or arguments cannot be used as they are
│   └── InvalidScope    a scope that is missing, malformed or not permitted here
├── NotFound            no atom, commit or vault of that name
│   └── Erased          a person had it erased; nothing of it is left
├── Refused             the store's rules forbid the change
│   ├── TransitionRefused   the status table has no such arrow
│   ├── ClaimTaken          another active value holds the claim at that time
│   ├── StaleRevision       somebody else changed the atom first
│   └── UndoRefused         later commits changed what the commit had set
├── ModelError          a model is missing, damaged or out of reach (lamina.models.errors)
└── StoreError          the disk or the database failed
    ├── StoreBusy           another process held the lock for too long
    └── StoreTooNew         written by a later version of lamina
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime


class LaminaError(Exception):
    """The base of every error lamina raises on purpose."""


class InvalidInput(LaminaError):
    """The caller's words or arguments cannot be used as they are."""


class InvalidScope(InvalidInput):
    """A scope that is missing, malformed or not permitted here."""


class NotFound(LaminaError):
    """No atom, commit or vault of that name."""


class Erased(NotFound):
    """A person had it erased; nothing of it is left."""

    def __init__(self, atom_id: str, at: datetime, actor: str, reason: str) -> None:
        self.atom_id, self.at, self.actor, self.reason = atom_id, at, actor, reason
        super().__init__(
            f"{atom_id} was erased on {at:%Y-%m-%d %H:%M} UTC by {actor} ({reason}); erased text is gone and nothing "
            "that touched it can be undone"
        )


class Refused(LaminaError):
    """The store's rules forbid the change."""


class TransitionRefused(Refused):
    """The status table has no such arrow."""

    def __init__(self, old: str, new: str, allowed: Sequence[str]) -> None:
        self.old, self.new, self.allowed = old, new, tuple(allowed)
        ways = ", ".join(self.allowed) or "nothing (only undo or restore bring it back)"
        super().__init__(f"{old} → {new} is not allowed; from {old} it may become: {ways}")


class ClaimTaken(Refused):
    """Another active value holds the claim at that time."""

    def __init__(self, claim: str, holder: str) -> None:
        self.claim, self.holder = claim, holder
        super().__init__(
            f"claim {claim!r} is held by {holder} at that time; supersede it or give the new one other valid times"
        )


class StaleRevision(Refused):
    """Somebody else changed the atom first."""

    def __init__(self, atom_id: str, expected: int, actual: int) -> None:
        self.atom_id, self.expected, self.actual = atom_id, expected, actual
        super().__init__(
            f"{atom_id} is at revision {actual}, the change was made on {expected}; read it again and retry"
        )


class UndoRefused(Refused):
    """Later commits changed what the commit had set."""

    def __init__(self, commit: str, later: Sequence[str]) -> None:
        self.commit, self.later = commit, tuple(later)
        super().__init__(
            f"{commit} cannot be undone alone, later commits build on it: {', '.join(self.later)}; "
            "undo those first or use cascade"
        )


class StoreError(LaminaError):
    """The disk or the database failed."""


class StoreBusy(StoreError):
    """Another process held the lock for too long."""


class StoreTooNew(StoreError):
    """Written by a later version of lamina."""
