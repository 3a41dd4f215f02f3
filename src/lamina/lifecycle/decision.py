"""What maintenance would do with one atom, and why. Who applies it goes through the status table and the journal."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.atom.status import Status


class Action(StrEnum):
    """What may happen to an atom as it ages."""

    KEEP = "keep"
    PROMOTE = "promote"
    DEMOTE = "demote"
    ARCHIVE = "archive"
    REVIVE = "revive"
    EXPIRE = "expire"
    COOL = "cool"
    WARM = "warm"


class StorageTier(StrEnum):
    """Whether an atom is kept at hand."""

    HOT = "hot"
    COLD = "cold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One step and its reason; only the field that it changes is set."""

    action: Action
    why: str
    status: Status | None = None
    layer: Layer | None = None
    tier: StorageTier | None = None

    def applied(self, atom: Atom) -> Atom:
        """The atom after the step."""
        return atom.with_(status=self.status or atom.status, layer=self.layer or atom.layer)

    def __bool__(self) -> bool:
        """Whether anything is to be done."""
        return self.action is not Action.KEEP


def keep(why: str) -> Decision:
    """Leave it as it is."""
    return Decision(action=Action.KEEP, why=why)
