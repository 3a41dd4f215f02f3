"""The state a question is asked of: what held at a moment, as the store believed it at a journal position."""

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
    """Through which recall reads atoms. `at` is the moment they must hold; `past`: what is over is shown, flagged.

    `seq` is the journal position they are believed at, None the last one. `as_of`: somebody asks what was true at that
    moment, so what was replaced since counts as it stood.
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
        """The atoms as they are believed to be, so far as they are there."""
        wanted = tuple(dict.fromkeys(ids))
        unread = tuple(each for each in wanted if each not in self._known)
        if unread:
            found = self._read(unread)
            self._known.update({each: found.get(each) for each in unread})
        return {each: atom for each in wanted if (atom := self._known[each]) is not None}

    def lives(self, ids: Iterable[AtomId]) -> dict[AtomId, Life]:
        """What the last dream saw of these; nothing of another time, which was none of its business."""
        if self.as_of or self.seq is not None:
            return {}
        wanted = tuple(dict.fromkeys(ids))
        unread = tuple(each for each in wanted if each not in self._lives)
        if unread:
            found = self.store.lives.of(unread)
            self._lives.update({each: found.get(each) for each in unread})
        return {each: life for each in wanted if (life := self._lives[each]) is not None}

    def _read(self, ids: tuple[AtomId, ...]) -> dict[AtomId, Atom]:
        if self.seq is None:
            return {atom.id: atom for atom in self.store.read(Filter(scopes=self.scopes, ids=ids))}
        return self.store.heads_at(ids, self.seq, self.scopes)

    @property
    def position(self) -> int:
        """The journal position that is looked at."""
        return self.store.position() if self.seq is None else self.seq
