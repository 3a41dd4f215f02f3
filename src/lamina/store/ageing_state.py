"""The ageing state of each atom, as maintenance last computed it. Not history: a loss costs one longer dream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.atom.status import Status

AGEING_STATUSES = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.CHALLENGED})
"""Statuses that age: active, archived or challenged. The others are pending review or have ended."""
BACKGROUND_VERBS = frozenset({"box", "entity", "inbox", "settle", "dream"})
"""Verbs of commits that no user requested: they are no sign of activity."""


@dataclass(frozen=True, slots=True)
class AgeingState:
    """The result of maintenance for an atom at a revision, and when to check it again.

    `tier`: whether it is in the hot or the cold tier; `next_check_at`: None if nothing will change by itself; `state`:
    its lifecycle state; `bits`: the precision of its vectors. Retention, importance and recency (relative to its kind)
    are between 0 and 1.
    """

    revision: int
    tier: str = "hot"
    next_check_at: datetime | None = None
    retention: float = 1.0
    importance: float = 0.5
    recency: float = 1.0
    state: str = "candidate"
    bits: int = 32


class AgeingStates(Protocol):
    """Ageing states. They take part in transactions."""

    def find_due(self, scope: Scope, by: datetime, limit: int | None = None) -> list[AtomId]:
        """Return the ageing atoms of a scope to check by a moment, the oldest record first, then by id.

        Those never checked, those written or used since, and those whose time for the next check has come.
        """

    def put(self, states: Mapping[AtomId, AgeingState]) -> None:
        """Store the states of atoms that were checked; one that was written since then stays due."""

    def last_activity(self, scope: Scope) -> datetime | None:
        """Return when a user was last active in a scope: wrote, used or reviewed. Background commits do not count."""

    def count_tiers(self, scopes: Sequence[Scope]) -> dict[str, int]:
        """Return how many ageing atoms of each layer are in each tier: `{"episodic hot": 3}`."""

    def retentions(self, scopes: Sequence[Scope]) -> list[float]:
        """Return the retention of each ageing atom when last checked, the lowest first."""

    def unapplied_bits(self, scope: Scope) -> dict[AtomId, int]:
        """Return the wanted bits of atoms that were not applied to the index yet, or not since their last write."""

    def mark_bits_applied(self, bits: Mapping[AtomId, int]) -> None:
        """Store that these bits were applied to the index; an atom whose bits changed since stays unapplied."""
