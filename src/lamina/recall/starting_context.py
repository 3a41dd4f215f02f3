"""The contexts that no question leads to: at the start of a session (core memories, the user's profile and recent
statements) and for a plan (a few memories of each layer that a planner needs)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom, AtomId
from lamina.atom.kinds import Layer
from lamina.atom.passage import passages_of
from lamina.recall.context_packing import ContextItem, TokenCounter, pack_context
from lamina.recall.recall_result import Hit, Recall, bundled_token_counter

if TYPE_CHECKING:
    from lamina.working.block import Block

NEWEST_READ, MAX_RECENT, MAX_TOPIC_HITS, MAX_CORE = 200, 12, 6, 40
"""How many of the newest atoms are read, and how many recent statements, hits about the topic and core memories are
included at most."""


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The fenced text and the ids of the atoms in it; no ids means that nothing is known."""

    text: str
    ids: tuple[AtomId, ...]


def build_session_context(
    core: Sequence[ContextItem], newest: Iterable[Atom], topic: Recall | None, budget: int, blocks: Sequence[Block] = ()
) -> SessionContext:
    """Pack the context: core memories and the notes of blocks first, then the hits about the topic, the profile and the
    newest statements."""
    core_ids = {item.atom.id for item in core}
    topic_items = [
        ContextItem(hit.atom, hit.passage, hit.text, hit.notes)
        for hit in (topic.relevant if topic else ())
        if hit.atom.id not in core_ids
    ]
    items = [*topic_items, *_as_items(select_session_atoms(core, newest))]
    related = [memory.context_item for memory in topic.related()] if topic else []
    text = pack_context(
        items,
        budget,
        core=core[:MAX_CORE],
        workstreams=[(block.workstream, block.lines) for block in blocks],
        related=related,
        count=bundled_token_counter(),
    )
    ids = dict.fromkeys(item.atom.id for item in (*core, *items, *related))
    return SessionContext(text, tuple(atom_id for atom_id in ids if atom_id in text))


def select_session_atoms(core: Sequence[ContextItem], newest: Iterable[Atom]) -> list[Atom]:
    """Return the newest atoms to show beside the core: all of the profile, and the latest statements."""
    core_ids = {item.atom.id for item in core}
    searchable = [atom for atom in newest if atom.is_searched and not atom.is_segment and atom.id not in core_ids]
    profile = [candidate for candidate in searchable if candidate.layer is Layer.PROFILE]
    return [*profile, *[candidate for candidate in searchable if candidate.layer is not Layer.PROFILE][:MAX_RECENT]]


def _as_items(atoms: Iterable[Atom]) -> Iterable[ContextItem]:
    """Return atoms as context items, each with its first passage."""
    return (ContextItem(atom, passages_of(atom)[0]) for atom in atoms)


HITS_PER_LAYER = 3
PLAN_LAYERS = (Layer.PROFILE, Layer.PROCEDURAL, Layer.SEMANTIC)


@dataclass(frozen=True, slots=True)
class PlanContext:
    """Memories about the user, about how such tasks are done, and about the facts; at most three hits of each."""

    goal: str
    profile: tuple[Hit, ...]
    procedural: tuple[Hit, ...]
    semantic: tuple[Hit, ...]

    def text(self, budget: int = 2000, *, count: TokenCounter | None = None) -> str:
        """Return all of it as fenced text in sections for an agent."""
        hits = (*self.profile, *self.procedural, *self.semantic)
        return pack_context(
            [ContextItem(hit.atom, hit.passage, hit.text, hit.notes) for hit in hits],
            budget,
            count=count or bundled_token_counter(),
        )


def build_plan_context(goal: str, hits: Sequence[Hit]) -> PlanContext:
    """Return the best hits of each layer."""
    return PlanContext(goal, *(_best_of_layer(hits, layer) for layer in PLAN_LAYERS))


def _best_of_layer(hits: Sequence[Hit], layer: Layer) -> tuple[Hit, ...]:
    return tuple(hit for hit in hits if hit.atom.layer is layer and not hit.atom.is_segment)[:HITS_PER_LAYER]
