"""Counters of use, which many processes increment, and the ageing state of each atom, as maintenance last computed it.

Neither is history: what is lost of an ageing state costs one longer dream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from lamina.atom.atom import AtomId, Signals
from lamina.atom.provenance import Scope
from lamina.atom.status import Status
from lamina.lifecycle.signals import add_feedback

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


@dataclass(frozen=True, slots=True)
class SignalIncrement:
    """Amounts to add to the signals of one atom.

    `used_at`: when it was used, None if it was not. A use with a change of quality above 0 is a success, one below 0 a
    failure.
    """

    quality_change: float = 0.0
    used_at: datetime | None = None

    def apply_to(self, signals: Signals) -> Signals:
        """Return the signals after the increment."""
        return add_feedback(signals, self.quality_change, self.used_at)


class AtomUse(NamedTuple):
    """The signals and the ageing states of several atoms, without those that have none."""

    signals: dict[AtomId, Signals]
    ageing: dict[AtomId, AgeingState]


class SignalCounters(Protocol):
    """Signals and ageing states of atoms. They take part in transactions, and no change of them waits for the disk."""

    def get(self, ids: Iterable[AtomId]) -> AtomUse:
        """Return what is stored of several atoms."""

    def add(self, increments: Mapping[AtomId, SignalIncrement]) -> None:
        """Add the increments, all in one step; increments of other processes are never lost."""

    def put(self, atom_id: AtomId, signals: Signals) -> None:
        """Replace the signals of an atom by those of an imported file."""

    def edit(self, atom_id: AtomId, values: Mapping[str, Any]) -> None:
        """Set those counters of an atom that a person changed in its file; the others keep their values."""

    def last_activity(self, scope: Scope) -> datetime | None:
        """Return when a user was last active in a scope: wrote, used or reviewed. Background commits do not count."""

    def find_due(self, scope: Scope, by: datetime, limit: int | None = None) -> list[AtomId]:
        """Return the ageing atoms of a scope to check by a moment, the oldest record first, then by id.

        Those never checked, those written or used since, and those whose time for the next check has come.
        """

    def put_ageing(self, states: Mapping[AtomId, AgeingState]) -> None:
        """Store the states of atoms that were checked; one that was written since then stays due."""

    def count_tiers(self, scopes: Sequence[Scope]) -> dict[str, int]:
        """Return how many ageing atoms of each layer are in each tier: `{"episodic hot": 3}`."""

    def unapplied_bits(self, scope: Scope) -> dict[AtomId, int]:
        """Return the wanted bits of atoms that were not applied to the index yet, or not since their last write."""

    def mark_bits_applied(self, bits: Mapping[AtomId, int]) -> None:
        """Store that these bits were applied to the index; an atom whose bits changed since stays unapplied."""
