"""Define every exception of lamina in one tree. Expected outcomes (duplicate, superseded, …) are return values.

LaminaError
├── InvalidInput        a text or an argument of the caller cannot be used as it is
│   └── InvalidScope    a scope is missing, malformed or not permitted
├── NotFound            no atom, commit or vault of that name
│   └── Erased          the atom was erased; nothing of its text is left
├── Refused             a rule of the store forbids the change
│   ├── TransitionRefused   the status table does not allow the change of status
│   ├── ClaimTaken          another active value has the claim at that time
│   ├── StaleRevision       another writer changed the atom first
│   ├── StalePosition       another commit was appended first
│   └── UndoRefused         later commits changed what the commit had set
├── ModelError          a model is missing, damaged or unreachable (lamina.models.errors)
└── StoreError          the disk or the database failed
    ├── StoreBusy           another process held the lock for too long
    └── StoreTooNew         written by a later version of lamina
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime


class LaminaError(Exception):
    """The base class of every error that lamina raises on purpose."""


class InvalidInput(LaminaError):
    """Raised if a text or an argument of the caller cannot be used as it is."""


class InvalidScope(InvalidInput):
    """Raised if a scope is missing, malformed or not permitted."""


class NotFound(LaminaError):
    """Raised if there is no atom, commit or vault of that name."""


class Erased(NotFound):
    """Raised if the atom was erased; nothing of its text is left."""

    def __init__(self, atom_id: str, at: datetime, actor: str, reason: str) -> None:
        self.atom_id, self.at, self.actor, self.reason = atom_id, at, actor, reason
        super().__init__(
            f"{atom_id} was erased on {at:%Y-%m-%d %H:%M} UTC by {actor} ({reason}); erased text is gone and nothing "
            "that touched it can be undone"
        )


class Refused(LaminaError):
    """Raised if a rule of the store forbids the change."""


class TransitionRefused(Refused):
    """Raised if the status table does not allow the change of status."""

    def __init__(self, old: str, new: str, allowed: Sequence[str]) -> None:
        self.old, self.new, self.allowed = old, new, tuple(allowed)
        targets = ", ".join(self.allowed) or "nothing (only undo or restore can bring it back)"
        super().__init__(f"{old} → {new} is not allowed; from {old} it may become: {targets}")


class ClaimTaken(Refused):
    """Raised if another active value has the claim at that time."""

    def __init__(self, claim: str, holder: str) -> None:
        self.claim, self.holder = claim, holder
        super().__init__(
            f"claim {claim!r} is held by {holder} at that time; supersede it or give the new one other valid times"
        )


class StaleRevision(Refused):
    """Raised if the atom was changed by another writer first."""

    def __init__(self, atom_id: str, expected: int, actual: int) -> None:
        self.atom_id, self.expected, self.actual = atom_id, expected, actual
        super().__init__(
            f"{atom_id} is at revision {actual}, the change was made on {expected}; read it again and retry"
        )


class StalePosition(Refused):
    """Raised if another commit was appended since the position that a commit was planned at."""

    def __init__(self, expected: int, actual: int) -> None:
        self.expected, self.actual = expected, actual
        super().__init__(f"the journal is at position {actual}, the commit was planned at {expected}; read it again")


class UndoRefused(Refused):
    """Raised if later commits changed what the commit had set."""

    def __init__(self, commit: str, later: Sequence[str]) -> None:
        self.commit, self.later = commit, tuple(later)
        super().__init__(
            f"{commit} cannot be undone alone, later commits build on it: {', '.join(self.later)}; "
            "undo those first or use cascade"
        )


class StoreError(LaminaError):
    """Raised if the disk or the database failed."""


class StoreBusy(StoreError):
    """Raised if another process held the lock for too long."""


class StoreTooNew(StoreError):
    """Raised if the store was written by a later version of lamina."""
