"""The state of the store that a question is about: what held at a time, as it was known at a journal position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.base import Filter, Store
from lamina.store.lives import Life


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The atoms as recall reads them. `at` is the time at which they must hold; `include_past`: ended statements are
    shown, flagged.

    `journal_position` is the position at which they are read, None for the latest. `is_as_of`: the question is about
    what was true at that time, so statements superseded since count as they did then.
    """

    store: Store
    scopes: tuple[Scope, ...]
    at: datetime
    past: bool = False
    seq: int | None = None
    as_of: bool = False
    _known: dict[AtomId, Atom | None] = field(default_factory=dict, repr=False, compare=False)
    _lives: dict[AtomId, Life | None] = field(default_factory=dict, repr=False, compare=False)

    def atoms(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        """Return the atoms as they were known, as far as they exist."""
        atom_ids = tuple(dict.fromkeys(ids))
        unread = tuple(atom_id for atom_id in atom_ids if atom_id not in self._known)
        if unread:
            loaded = self._read(unread)
            self._known.update({atom_id: loaded.get(atom_id) for atom_id in unread})
        return {atom_id: atom for atom_id in atom_ids if (atom := self._known[atom_id]) is not None}

    def lives(self, ids: Iterable[AtomId]) -> dict[AtomId, Life]:
        """Return the ageing state of these atoms from the last dream; empty for another time."""
        if self.as_of or self.seq is not None:
            return {}
        atom_ids = tuple(dict.fromkeys(ids))
        unread = tuple(atom_id for atom_id in atom_ids if atom_id not in self._lives)
        if unread:
            loaded = self.store.lives.of(unread)
            self._lives.update({atom_id: loaded.get(atom_id) for atom_id in unread})
        return {atom_id: ageing for atom_id in atom_ids if (ageing := self._lives[atom_id]) is not None}

    def _read(self, ids: tuple[AtomId, ...]) -> dict[AtomId, Atom]:
        if self.seq is None:
            return {atom.id: atom for atom in self.store.read(Filter(scopes=self.scopes, ids=ids))}
        return self.store.heads_at(ids, self.seq, self.scopes)

    @property
    def position(self) -> int:
        """The journal position that is read."""
        return self.store.position() if self.seq is None else self.seq
