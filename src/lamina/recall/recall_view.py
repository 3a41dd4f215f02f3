"""The state of the store that a question is about: what held at a time, as it was known at a journal position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.ageing_state import AgeingState
from lamina.store.base import AtomFilter, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallView:
    """The atoms as recall reads them. `at` is the time at which they must hold; `include_past`: ended statements are
    shown, flagged.

    `journal_position` is the position at which they are read, None for the latest. `is_as_of`: the question is about
    what was true at that time, so statements superseded since count as they did then.
    """

    store: Store
    scopes: tuple[Scope, ...]
    at: datetime
    include_past: bool = False
    journal_position: int | None = None
    is_as_of: bool = False
    _atoms: dict[AtomId, Atom | None] = field(default_factory=dict, repr=False, compare=False)
    _ageing_states: dict[AtomId, AgeingState | None] = field(default_factory=dict, repr=False, compare=False)

    def atoms(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        """Return the atoms as they were known, as far as they exist."""
        atom_ids = tuple(dict.fromkeys(ids))
        unread = tuple(atom_id for atom_id in atom_ids if atom_id not in self._atoms)
        if unread:
            loaded = self._read(unread)
            self._atoms.update({atom_id: loaded.get(atom_id) for atom_id in unread})
        return {atom_id: atom for atom_id in atom_ids if (atom := self._atoms[atom_id]) is not None}

    def ageing_states(self, ids: Iterable[AtomId]) -> dict[AtomId, AgeingState]:
        """Return the ageing state of these atoms from the last dream; empty for another time."""
        if self.is_as_of or self.journal_position is not None:
            return {}
        atom_ids = tuple(dict.fromkeys(ids))
        unread = tuple(atom_id for atom_id in atom_ids if atom_id not in self._ageing_states)
        if unread:
            loaded = self.store.ageing_states.get(unread)
            self._ageing_states.update({atom_id: loaded.get(atom_id) for atom_id in unread})
        return {atom_id: ageing for atom_id in atom_ids if (ageing := self._ageing_states[atom_id]) is not None}

    def _read(self, ids: tuple[AtomId, ...]) -> dict[AtomId, Atom]:
        if self.journal_position is None:
            return {atom.id: atom for atom in self.store.read(AtomFilter(scopes=self.scopes, ids=ids))}
        return self.store.heads_at(ids, self.journal_position, self.scopes)

    @property
    def position(self) -> int:
        """The journal position that is read."""
        return self.store.position() if self.journal_position is None else self.journal_position
