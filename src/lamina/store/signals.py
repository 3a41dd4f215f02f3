"""Counters of use, which many processes increment, and the `Signals` port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from lamina.atom.atom import AtomId, Signals
from lamina.lifecycle.signals import add_feedback
from lamina.store.ageing_state import AgeingState, AgeingStates


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


class SignalCounters(Protocol):
    """Signals of atoms. They are not history, and no increment waits for the disk."""

    @property
    def ageing(self) -> AgeingStates:
        """Return what maintenance knows of each atom."""

    def get(self, ids: Iterable[AtomId]) -> dict[AtomId, Signals]:
        """Return the signals of several atoms, without those that have none."""

    def get_with_ageing(self, ids: Iterable[AtomId]) -> tuple[dict[AtomId, Signals], dict[AtomId, AgeingState]]:
        """Return the signals and the ageing states of several atoms, without those that have none."""

    def add(self, increments: Mapping[AtomId, SignalIncrement]) -> None:
        """Add the increments, all in one step; increments of other processes are never lost."""

    def put(self, atom_id: AtomId, signals: Signals) -> None:
        """Replace the signals of an atom by those of an imported file."""

    def edit(self, atom_id: AtomId, values: Mapping[str, Any]) -> None:
        """Set those counters of an atom that a person changed in its file; the others keep their values."""
