"""Load the standings of atoms: what is computed about them from their fields, their use and the time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, Signals
from lamina.lifecycle.ageing_decision import StorageTier
from lamina.lifecycle.standing import Standing, compute_standing
from lamina.review.ageing_signals import add_history, current_signals
from lamina.store.base import Store


def load_standings(atoms: Sequence[Atom], store: Store, now: datetime) -> dict[AtomId, Standing]:
    """Return the standing of each of these atoms; the tier of one that no dream has seen is hot."""
    counters, ageing_states = store.signals.get_with_ageing([atom.id for atom in atoms])
    standings: dict[AtomId, Standing] = {}
    for atom in atoms:
        signals = current_signals(atom, counters.get(atom.id, Signals()), store)
        if atom.revision > 1:
            signals = add_history(signals, store.journal.versions(atom.id))
        ageing_state = ageing_states.get(atom.id)
        tier = StorageTier(ageing_state.tier) if ageing_state else StorageTier.HOT
        standings[atom.id] = compute_standing(atom, signals, tier, now)
    return standings
