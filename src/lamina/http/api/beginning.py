"""What an agent is told when it begins, before anybody has asked: the core, whom it is for, and what is recent."""

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
"""How many of the newest atoms are looked at, and how many of each sort there is room for."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The fenced text, and the atoms that it may tell of."""

    text: str
    ids: tuple[str, ...]

    @property
    def known(self) -> bool:
        return bool(self.ids)


def beginning(memory: Memory, budget: int, about: str | None) -> Beginning:
    """The core first; then what is known of the matter at hand, the profile and the youngest statements."""
    core = memory.top(CORE)
    told = {each.id for each in core}
    listed = memory.list(limit=LOOKED_AT)
    newest = [each for each in listed if each.is_searched and not each.is_segment and each.id not in told]
    profile = [each for each in newest if each.layer is Layer.PROFILE]
    recent = [each for each in newest if each.layer is not Layer.PROFILE][:RECENT]
    found = memory.recall(about, ABOUT, fast=True).relevant if about else ()
    matter = [Item(hit.atom, hit.passage, hit.text, hit.told) for hit in found if hit.atom.id not in told]
    items = [*matter, *_whole([*profile, *recent])]
    text = pack(items, budget, core=[*_whole(core)], count=bundled_count())
    ids = dict.fromkeys([*(each.id for each in core), *(item.atom.id for item in items)])
    return Beginning(text, tuple(atom_id for atom_id in ids if atom_id in text))


def _whole(atoms: Iterable[Atom]) -> Iterable[Item]:
    return (Item(atom, passages_of(atom)[0]) for atom in atoms)
