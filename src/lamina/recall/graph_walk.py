"""The graph channel: facts that are linked to the best candidates by a relation, a subject, an entity or a session."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lamina.atom.identity import AtomId, is_atom_id
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.candidate import Candidate
from lamina.recall.pagerank import pagerank
from lamina.store.base import Edge, Store

MAX_SEEDS, MAX_HOPS, MAX_LINKS, MAX_ADDED = 10, 2, 50, 20
"""How many candidates the walk starts from, how many hops it makes, how many links a node may have to be walked
through, and how many atoms it may add."""
EVIDENCE = "evidence"
"""A link that the walk does not follow: statements are shown with their source passages anyway, and through it
everything said in a session would seem to be related."""


@dataclass(frozen=True, slots=True)
class GraphWalk:
    """How near atoms are to the start of the walk, 1 being as near as a start, and the links that were found."""

    nearness: dict[AtomId, float]
    links: tuple[Edge, ...]

    def select_new(self, known: Collection[AtomId]) -> list[AtomId]:
        """Return the atoms that only links led to, nearest first."""
        added = [atom_id for atom_id in self.nearness if atom_id not in known]
        return sorted(added, key=lambda atom_id: (-self.nearness[atom_id], atom_id))[:MAX_ADDED]

    def links_of(self, atom_id: AtomId) -> tuple[Edge, ...]:
        """Return the links of one atom."""
        return tuple(link for link in self.links if atom_id in (link.source, link.target))


def walk_graph(
    candidates: Sequence[Candidate], scopes: Sequence[Scope], statuses: Collection[Status], store: Store
) -> GraphWalk:
    """Walk the links around the best candidates, among atoms with these statuses."""
    seeds: dict[str, float] = {}
    for candidate in sorted(candidates, key=lambda candidate: (-candidate.near.score, candidate.key))[:MAX_SEEDS]:
        seeds[candidate.key[0]] = max(seeds.get(candidate.key[0], 0.0), candidate.near.score)
    links, visited, nodes = set[Edge](), set[str](), sorted(seeds)
    for _ in range(MAX_HOPS):
        visited |= set(nodes)
        followed = _drop_hubs([edge for edge in store.edges(nodes, scopes, statuses) if edge.name != EVIDENCE], nodes)
        links |= set(followed)
        nodes = sorted({end for edge in followed for end in (edge.source, edge.target)} - visited)
        if not nodes:
            break
    mass = pagerank([step for edge in links for step in _both_ways(edge)], seeds) if links else {}
    largest = max((mass.get(seed, 0.0) for seed in seeds), default=0.0) or 1.0
    return GraphWalk(
        {
            AtomId(node): min(1.0, share / largest)
            for node, share in mass.items()
            if is_atom_id(node) and node not in seeds
        },
        tuple(sorted(links, key=lambda edge: (edge.source, edge.name, edge.target))),
    )


def _drop_hubs(edges: Sequence[Edge], nodes: Sequence[str]) -> list[Edge]:
    """Drop the links of nodes that have too many: a subject of a thousand facts relates no two of them."""
    link_counts = dict.fromkeys(nodes, 0)
    for edge in edges:
        for end in (edge.source, edge.target):
            if end in link_counts:
                link_counts[end] += 1
    return [
        edge for edge in edges if max(link_counts.get(edge.source, 0), link_counts.get(edge.target, 0)) <= MAX_LINKS
    ]


def _both_ways(edge: Edge) -> tuple[tuple[str, str, float], tuple[str, str, float]]:
    return (edge.source, edge.target, edge.confidence), (edge.target, edge.source, edge.confidence)
