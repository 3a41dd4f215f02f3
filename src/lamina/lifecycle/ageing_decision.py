"""Define what maintenance decides for one atom, and why; a run that would change many atoms waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.atom.status import Status


class AgeingAction(StrEnum):
    """An action on an atom as it ages."""

    KEEP = "keep"
    PROMOTE = "promote"
    DEMOTE = "demote"
    ARCHIVE = "archive"
    REVIVE = "revive"
    EXPIRE = "expire"
    COOL = "cool"
    WARM = "warm"


class StorageTier(StrEnum):
    """A storage tier: fast or slow."""

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


MAX_CHANGE_DIVISOR = 20
"""An automatic run may change at most one atom in this many."""
SMALL_CHANGE = 20
"""The number of changes that is always allowed: in a small store everything is more than a twentieth."""


def reason_to_hold(changed: int, total: int) -> str | None:
    """Return why a run is held: it would change more than a twentieth of the store. None if it may proceed."""
    if changed <= SMALL_CHANGE or changed * MAX_CHANGE_DIVISOR <= total:
        return None
    share = f"{1 / MAX_CHANGE_DIVISOR:.0%}"
    return f"{changed:,} of {total:,} memories would change in one run, more than {share}; a person decides"
