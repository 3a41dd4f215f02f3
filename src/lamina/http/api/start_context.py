"""The context for an agent at the start of a session: core memories, profile, and recent statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lamina.atom.kinds import Layer
from lamina.atom.passage import passages_of
from lamina.recall.context_packing import ContextItem, pack_context
from lamina.recall.hit import bundled_token_counter

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory

MAX_SCANNED, MAX_RECENT, MAX_ABOUT, MAX_CORE = 200, 12, 6, 40
"""The newest atoms to scan, and the maximum of recent, related and core ones."""


@dataclass(frozen=True, slots=True)
class StartContext:
    """The fenced text, and the ids of the atoms in it."""

    text: str
    ids: tuple[str, ...]

    @property
    def is_known(self) -> bool:
        """Whether the context contains any atom."""
        return bool(self.ids)


def build_start_context(memory: Memory, budget: int, about: str | None) -> StartContext:
    """Return core memories first, then what is known about the topic, the profile and the newest statements."""
    core = memory.top(MAX_CORE)
    core_ids = {atom.id for atom in core}
    listed = memory.list(limit=MAX_SCANNED)
    newest = [atom for atom in listed if atom.is_searched and not atom.is_segment and atom.id not in core_ids]
    profile = [atom for atom in newest if atom.layer is Layer.PROFILE]
    recent = [atom for atom in newest if atom.layer is not Layer.PROFILE][:MAX_RECENT]
    hits = memory.recall(about, MAX_ABOUT, fast=True).relevant if about else ()
    related = [ContextItem(hit.atom, hit.passage, hit.text, hit.notes) for hit in hits if hit.atom.id not in core_ids]
    items = [*related, *_atom_items([*profile, *recent])]
    text = pack_context(items, budget, core=[*_atom_items(core)], count=bundled_token_counter())
    ids = dict.fromkeys([*(atom.id for atom in core), *(item.atom.id for item in items)])
    return StartContext(text, tuple(atom_id for atom_id in ids if atom_id in text))


def _atom_items(atoms: Iterable[Atom]) -> Iterable[ContextItem]:
    return (ContextItem(atom, passages_of(atom)[0]) for atom in atoms)
