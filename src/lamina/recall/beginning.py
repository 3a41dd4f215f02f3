"""What an agent is told when it begins, before anybody has asked: the core, whom it is for, and what is recent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.passage import passages_of
from lamina.recall.hit import Hit, bundled_count
from lamina.recall.pack import Item, pack

LOOKED_AT, RECENT, ABOUT, CORE = 200, 12, 6, 40
"""How many of the newest atoms are looked at, and how many of each sort there is room for."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The fenced text, and the atoms that it tells of; none means that nothing is known."""

    text: str
    ids: tuple[AtomId, ...]


def beginning(core: Sequence[Atom], newest: Iterable[Atom], found: Sequence[Hit], budget: int) -> Beginning:
    """The core first; then what was found of the matter at hand, the profile and the youngest statements."""
    told = {atom.id for atom in core}
    matter = [Item(hit.atom, hit.passage, hit.text, hit.told) for hit in found if hit.atom.id not in told]
    items = [*matter, *_whole(told_of(core, newest))]
    text = pack(items, budget, core=[*_whole(core[:CORE])], count=bundled_count())
    ids = dict.fromkeys([*(atom.id for atom in core), *(item.atom.id for item in items)])
    return Beginning(text, tuple(atom_id for atom_id in ids if atom_id in text))


def told_of(core: Sequence[Atom], newest: Iterable[Atom]) -> list[Atom]:
    """Those of the newest that are told beside the core: the profile, and the youngest statements."""
    told = {atom.id for atom in core}
    others = [atom for atom in newest if atom.is_searched and not atom.is_segment and atom.id not in told]
    profile = [other for other in others if other.layer is Layer.PROFILE]
    return [*profile, *[other for other in others if other.layer is not Layer.PROFILE][:RECENT]]


def _whole(atoms: Iterable[Atom]) -> Iterable[Item]:
    return (Item(atom, passages_of(atom)[0]) for atom in atoms)
