"""The context for an agent at the start of a session: core memories, profile, and recent statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lamina.atom.kinds import Layer
from lamina.atom.passage import passages_of
from lamina.recall.hit import bundled_count
from lamina.recall.pack import Item, pack

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory

LOOKED_AT, RECENT, ABOUT, CORE = 200, 12, 6, 40
"""The newest atoms to scan, and the maximum of recent, related and core ones."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The fenced text, and the ids of the atoms in it."""

    text: str
    ids: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Whether the context contains any atom."""
        return bool(self.ids)


def beginning(memory: Memory, budget: int, about: str | None) -> Beginning:
    """Return core memories first, then what is known about the topic, the profile and the newest statements."""
    core = memory.top(CORE)
    core_ids = {atom.id for atom in core}
    listed = memory.list(limit=LOOKED_AT)
    newest = [atom for atom in listed if atom.is_searched and not atom.is_segment and atom.id not in core_ids]
    profile = [atom for atom in newest if atom.layer is Layer.PROFILE]
    recent = [atom for atom in newest if atom.layer is not Layer.PROFILE][:RECENT]
    hits = memory.recall(about, ABOUT, fast=True).relevant if about else ()
    related = [Item(hit.atom, hit.passage, hit.text, hit.told) for hit in hits if hit.atom.id not in core_ids]
    items = [*related, *_whole([*profile, *recent])]
    text = pack(items, budget, core=[*_whole(core)], count=bundled_count())
    ids = dict.fromkeys([*(atom.id for atom in core), *(item.atom.id for item in items)])
    return Beginning(text, tuple(atom_id for atom_id in ids if atom_id in text))


def _whole(atoms: Iterable[Atom]) -> Iterable[Item]:
    return (Item(atom, passages_of(atom)[0]) for atom in atoms)
