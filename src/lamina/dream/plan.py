"""What a step wants done: atoms as they shall be, each move told in a line, and why a part of it waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.page import is_page


@dataclass(frozen=True, slots=True)
class Move:
    """One thing that happens to an atom, in words a person reads: `archive`, `the words`, `why`."""

    action: str
    atom_id: AtomId
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes of one step, to be committed together or not at all.

    `changes` are atoms as they shall be (revision 0 makes a new one); `after` sets counters once the changes stand, or
    where there are none; `in_trial`: nothing of that lies outside the store's trial, so a dry run may take it as well;
    `notes` tell what was seen and left alone.
    """

    changes: tuple[Atom, ...] = ()
    moves: tuple[Move, ...] = ()
    notes: tuple[str, ...] = ()
    after: Callable[[], None] = field(default=lambda: None)
    in_trial: bool = False

    @property
    def touched(self) -> int:
        """How many atoms that were there before would change; pages, which only list others, are not counted."""
        return sum(1 for change in self.changes if change.revision and not is_page(change.content))
