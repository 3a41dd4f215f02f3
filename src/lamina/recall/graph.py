"""The graph channel: facts that hang together with what was found first, by relation, subject, entity or session."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lamina.atom.identity import AtomId, is_atom_id
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.candidate import Candidate
from lamina.recall.pagerank import pagerank
from lamina.store.base import Edge, Store

SEEDS, HOPS, WIDEST, BROUGHT = 10, 2, 50, 20
"""How many candidates the walk starts from, how far it goes, how many links one thing may have to be walked through,
and how many atoms it may bring."""
EVIDENCE = "evidence"
"""A link the walk does not take: words are found by what they say, and the statements made of them come along. It leads
to a whole session, so that everything said there would seem to hang together."""


@dataclass(frozen=True, slots=True)
class Walked:
    """How near atoms stand to where the walk began, 1 being as near as a start, and the links that were there."""

    nearness: dict[AtomId, float]
    links: tuple[Edge, ...]

    def brought(self, known: Collection[AtomId]) -> list[AtomId]:
        """Facts that only the links led to, nearest first."""
        found = [atom_id for atom_id in self.nearness if atom_id not in known]
        return sorted(found, key=lambda each: (-self.nearness[each], each))[:BROUGHT]

    def of(self, atom_id: AtomId) -> tuple[Edge, ...]:
        """The links of one atom."""
        return tuple(link for link in self.links if atom_id in (link.source, link.target))


def walk(
    candidates: Sequence[Candidate], scopes: Sequence[Scope], statuses: Collection[Status], store: Store
) -> Walked:
    """Walk the links around the best candidates, of atoms that stand so; without links it ends where it began."""
    seeds: dict[str, float] = {}
    for candidate in sorted(candidates, key=lambda each: (-each.near.score, each.key))[:SEEDS]:
        seeds[candidate.key[0]] = max(seeds.get(candidate.key[0], 0.0), candidate.near.score)
    links, seen, front = set[Edge](), set[str](), sorted(seeds)
    for _ in range(HOPS):
        seen |= set(front)
        found = _narrow([each for each in store.edges(front, scopes, statuses) if each.name != EVIDENCE], front)
        links |= set(found)
        front = sorted({end for edge in found for end in (edge.source, edge.target)} - seen)
        if not front:
            break
    mass = pagerank([step for edge in links for step in _both_ways(edge)], seeds) if links else {}
    most = max((mass.get(seed, 0.0) for seed in seeds), default=0.0) or 1.0
    return Walked(
        {
            AtomId(node): min(1.0, share / most)
            for node, share in mass.items()
            if is_atom_id(node) and node not in seeds
        },
        tuple(sorted(links, key=lambda edge: (edge.source, edge.name, edge.target))),
    )


def _narrow(edges: Sequence[Edge], front: Sequence[str]) -> list[Edge]:
    """Without what everything hangs on: a subject of a thousand facts says nothing about any two of them."""
    count = dict.fromkeys(front, 0)
    for edge in edges:
        for end in (edge.source, edge.target):
            if end in count:
                count[end] += 1
    return [edge for edge in edges if max(count.get(edge.source, 0), count.get(edge.target, 0)) <= WIDEST]


def _both_ways(edge: Edge) -> tuple[tuple[str, str, float], tuple[str, str, float]]:
    return (edge.source, edge.target, edge.confidence), (edge.target, edge.source, edge.confidence)
