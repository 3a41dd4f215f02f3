"""Related memories: what the hits of a recall depend on, are part of, implement, are caused by, support or contradict.

They are no answers and change no rank. The context shows them under a heading of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom, AtomId, RelationName, is_atom_id
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.lifecycle.relation_strength import TRAVERSAL_THRESHOLD
from lamina.recall.candidate_scoring import AGENT_TERM
from lamina.recall.context_packing import ContextItem
from lamina.recall.marks import HitMark
from lamina.recall.recall_view import RecallView, is_admitted
from lamina.recall.result_passages import render_atoms
from lamina.store.base import Edge, Store

if TYPE_CHECKING:
    from lamina.recall.recall_result import Hit

EXPANDING_RELATIONS = frozenset(
    {
        RelationName.DEPENDS_ON,
        RelationName.PART_OF,
        RelationName.IMPLEMENTS,
        RelationName.CAUSED_BY,
        RelationName.SUPPORTS,
        RelationName.CONTRADICTS,
    }
)
"""The relations that lead to related memories, in both directions. A hit's successor is shown in its place anyway."""
GRAPH_TERM = "graph"
"""The name of the term of hits that links lead to."""
MAX_RELATED = 8
"""The most related memories of one recall."""


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A statement that a relation links to a hit or to a statement extracted from it, `hit_id`.

    `is_source`: the relation leads from the atom to the hit. `text` and `marks` are what is shown of it.
    """

    atom: Atom
    hit_id: AtomId
    name: RelationName
    is_source: bool
    confidence: float
    text: str = ""
    marks: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """The relation as text, such as `01hit… depends_on this`, with its confidence if it is not certain."""
        ends = ("this", self.hit_id) if self.is_source else (self.hit_id, "this")
        confidence = "" if self.confidence >= 1 else f", confidence {self.confidence:.2g}"
        return f"{ends[0]} {self.name} {ends[1]}{confidence}"

    @property
    def context_item(self) -> ContextItem:
        """The item of a context."""
        passage = passages_of(self.atom)[0]
        return ContextItem(self.atom, passage, self.text, (self.description, *self.marks), section="related")


RelatedFinder = Callable[[Sequence["Hit"]], tuple[RelatedMemory, ...]]
"""Finds the memories related to hits when they are needed."""


def find_none_related(hits: Sequence[Hit]) -> tuple[RelatedMemory, ...]:
    """Return no related memories."""
    return ()


def find_related(
    hits: Sequence[Hit], store: Store, scopes: tuple[Scope, ...], now: datetime
) -> tuple[RelatedMemory, ...]:
    """Return the memories related to hits, those that better hits are linked to more confidently first.

    A hit is among them if a hit that is better by its own words leads to it. An ended memory is represented by its
    successor. Links that have become too weak are not followed.
    """
    by_own_score = sorted(hits, key=_own_score, reverse=True)
    ranks: dict[AtomId, int] = {}
    for rank, hit in enumerate(by_own_score):
        for atom_id in (hit.atom.id, *(statement.id for statement in hit.statements)):
            ranks.setdefault(atom_id, rank)
    links = list(_find_links(store.graph.edges(ranks, scopes, frozenset(RECALL_WEIGHT)), ranks)) if ranks else []
    if not links:
        return ()
    successors = store.graph.find_successors({other for _, other, _ in links}, scopes)
    view = RecallView(store=store, scopes=scopes, at=now)
    atoms = view.atoms({successor for ids in successors.values() for successor in ids})
    strongest: dict[AtomId, tuple[float, RelatedMemory]] = {}
    for hit_id, other, edge in links:
        strength = _own_score(by_own_score[ranks[hit_id]]) * edge.confidence
        name, is_source = RelationName(edge.name), edge.source == other
        for atom in (atoms[atom_id] for atom_id in successors.get(other, ()) if atom_id in atoms):
            is_new = atom.id not in strongest or strength > strongest[atom.id][0]
            if is_new and ranks.get(atom.id, len(hits)) > ranks[hit_id] and _may_be_shown(atom, view):
                strongest[atom.id] = strength, RelatedMemory(atom, hit_id, name, is_source, edge.confidence)
    best = sorted(strongest.values(), key=lambda entry: (-entry[0], entry[1].atom.id))[:MAX_RELATED]
    return tuple(_render([related for _, related in best], view))


def _own_score(hit: Hit) -> float:
    """Return what the score of a hit would be if it did not matter what leads to it and who learnt it."""
    others = sum(amount for name, amount in hit.terms if name in (GRAPH_TERM, AGENT_TERM))
    return hit.score * max(0.0, 1.0 - others / hit.relevance) if hit.relevance else 0.0


def _find_links(edges: Sequence[Edge], ranks: Mapping[AtomId, int]) -> Iterator[tuple[AtomId, AtomId, Edge]]:
    """Yield each link of a hit: the hit or its statement, the atom at the other end, and the edge."""
    for edge in edges:
        if edge.name in EXPANDING_RELATIONS and edge.confidence >= TRAVERSAL_THRESHOLD and is_atom_id(edge.target):
            target = AtomId(edge.target)
            if edge.source in ranks:
                yield edge.source, target, edge
            if target in ranks:
                yield target, edge.source, edge


def _may_be_shown(atom: Atom, view: RecallView) -> bool:
    return atom.is_searched and not atom.is_segment and is_admitted(view, atom, RECALL_WEIGHT)


def _render(related: Sequence[RelatedMemory], view: RecallView) -> Iterator[RelatedMemory]:
    """Yield the memories as they are shown: without sentences that no longer hold, and with their marks.

    What is probably outdated is left out: a guessed contradiction leads from the older statement to the newer one only.
    """
    for memory, rendered in zip(related, render_atoms([memory.atom for memory in related], view), strict=True):
        if rendered.has_text_left and HitMark.OUTDATED not in rendered.marks:
            yield replace(memory, text=rendered.text, marks=rendered.marks)
