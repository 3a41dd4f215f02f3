"""The state a question is asked of: what held at a moment, as the store believed it at a journal position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.base import Filter, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Through which recall reads atoms. `at` is the moment they must hold; `past`: what is over is shown, flagged."""

    store: Store
    scopes: tuple[Scope, ...]
    at: datetime
    past: bool = False

    def atoms(self, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        """The atoms as they are believed to be, so far as they are there."""
        found = self.store.read(Filter(scopes=self.scopes, ids=tuple(dict.fromkeys(ids))))
        return {atom.id: atom for atom in found}
