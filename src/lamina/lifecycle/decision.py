"""Define what maintenance decides for one atom, and why. It is applied through the status table and the journal."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.atom.status import Status


class AgeingAction(StrEnum):
    """What can happen to an atom as it ages."""

    KEEP = "keep"
    PROMOTE = "promote"
    DEMOTE = "demote"
    ARCHIVE = "archive"
    REVIVE = "revive"
    EXPIRE = "expire"
    COOL = "cool"
    WARM = "warm"


class StorageTier(StrEnum):
    """Whether an atom is kept in fast storage."""

    HOT = "hot"
    COLD = "cold"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeingDecision:
    """One decision and its reason; only the field that it changes is set."""

    action: AgeingAction
    reason: str
    status: Status | None = None
    layer: Layer | None = None
    tier: StorageTier | None = None

    def apply_to(self, atom: Atom) -> Atom:
        """Return the atom after the decision."""
        return atom.with_(status=self.status or atom.status, layer=self.layer or atom.layer)

    def __bool__(self) -> bool:
        """Return whether anything changes."""
        return self.action is not AgeingAction.KEEP


def keep_unchanged(reason: str) -> AgeingDecision:
    """Return the decision to change nothing."""
    return AgeingDecision(action=AgeingAction.KEEP, reason=reason)
