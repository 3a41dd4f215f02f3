"""The context that an agent gets when a session starts, before any question: core memories, the user's profile and
recent statements."""

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
"""How many of the newest atoms are read, and how many recent statements, hits about the topic and core memories are
included at most."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The fenced text and the ids of the atoms in it; no ids means that nothing is known."""

    text: str
    ids: tuple[AtomId, ...]


def beginning(core: Sequence[Atom], newest: Iterable[Atom], found: Sequence[Hit], budget: int) -> Beginning:
    """Pack the context: core memories first, then the hits about the topic, the profile and the newest statements."""
    core_ids = {atom.id for atom in core}
    topic_items = [Item(hit.atom, hit.passage, hit.text, hit.told) for hit in found if hit.atom.id not in core_ids]
    items = [*topic_items, *_whole(told_of(core, newest))]
    text = pack(items, budget, core=[*_whole(core[:CORE])], count=bundled_count())
    ids = dict.fromkeys([*(atom.id for atom in core), *(item.atom.id for item in items)])
    return Beginning(text, tuple(atom_id for atom_id in ids if atom_id in text))


def told_of(core: Sequence[Atom], newest: Iterable[Atom]) -> list[Atom]:
    """Return the newest atoms to show beside the core: all of the profile, and the latest statements."""
    core_ids = {atom.id for atom in core}
    searchable = [atom for atom in newest if atom.is_searched and not atom.is_segment and atom.id not in core_ids]
    profile = [candidate for candidate in searchable if candidate.layer is Layer.PROFILE]
    return [*profile, *[candidate for candidate in searchable if candidate.layer is not Layer.PROFILE][:RECENT]]


def _whole(atoms: Iterable[Atom]) -> Iterable[Item]:
    """Return atoms as context items, each with its first passage."""
    return (Item(atom, passages_of(atom)[0]) for atom in atoms)
