"""The channels of links: facts whose subject or entity is named in the question, and facts that are linked to the best
candidates by a relation, a subject, an entity or a session.

Personalised PageRank scores how near each atom is to the best candidates, over the relations between atoms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lamina.atom.atom import AtomId, is_atom_id
from lamina.atom.provenance import Scope
from lamina.atom.status import Status
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.scoring_profiles import NAMED_ENTITY, NAMED_SUBJECT
from lamina.store.base import Edge, Store
from lamina.store.graph import LISTS
from lamina.text.normal_form import normal_form

MIN_EDGE_WEIGHT = 0.2
"""Edges weaker than this are ignored."""
MOST_NODES = 2000
_ROUNDING = 1e-9

EdgeWeights: TypeAlias = dict[str, dict[str, float]]


def pagerank(
    edges: Sequence[tuple[str, str, float]],
    seeds: Mapping[str, float],
    *,
    alpha: float = 0.5,
    tolerance: float = 1e-6,
    most_steps: int = 100,
    most_nodes: int = MOST_NODES,
) -> dict[str, float]:
    """Return the share of a random walker's time at each reachable node; the shares add up to 1.

    With probability `alpha` the walker follows an edge (source, target, weight × confidence), in proportion to its
    strength, and else returns to a seed, in proportion to the seed's weight; from a node without edges it always
    returns: `p ← (1−α)·v + α·(Wᵀp + dangling·v)`, starting at `v`. An edge that is walked both ways is given twice;
    parallel edges add up. The iteration ends when the shares are off by at most `tolerance` in total, after about 20
    steps at .5 and 90 at .85. Beyond `most_nodes` the nearest nodes are kept: by hops, then by the strongest edge that
    leads there, then by id. The result does not depend on the order of the input, to the last bit.
    """
    seed_weights = {node: float(weight) for node, weight in seeds.items() if weight > 0}
    graph = _build_graph(edges)
    nodes = sorted(_find_reachable(graph, seed_weights, most_nodes))
    if not nodes:
        return {}
    index = {node: n for n, node in enumerate(nodes)}
    restart = np.array([seed_weights.get(node, 0.0) for node in nodes])
    restart /= math.fsum(restart)
    source, target, share = _transition_shares(graph, index)
    stranded = np.bincount(source, minlength=len(nodes)) == 0
    mass = restart
    for _ in range(most_steps):
        carried = np.bincount(target, weights=share * mass[source], minlength=len(nodes))
        moved = (1 - alpha) * restart + alpha * (carried + math.fsum(mass[stranded]) * restart)
        change = math.fsum(np.abs(moved - mass))
        mass = moved
        if alpha * change <= (1 - alpha) * tolerance:
            break
    return dict(zip(nodes, mass.tolist(), strict=True))


def _build_graph(edges: Iterable[tuple[str, str, float]]) -> EdgeWeights:
    """Return the edges by source and target, with sums that do not depend on the order of the input."""
    strengths: dict[tuple[str, str], list[float]] = {}
    for source, target, strength in edges:
        # After eight decay windows a confidence is 1 − .1 × 8, which is a little less than .2 in floating point.
        if strength >= MIN_EDGE_WEIGHT - _ROUNDING:
            strengths.setdefault((source, target), []).append(strength)
    graph: EdgeWeights = {}
    for (source, target), parallel in strengths.items():
        graph.setdefault(source, {})[target] = math.fsum(parallel)
    return graph


def _find_reachable(graph: EdgeWeights, seeds: Mapping[str, float], limit: int) -> set[str]:
    """Return the seeds and what can be reached from them, nearest first, up to the limit."""
    reached: set[str] = set()
    ring = dict(seeds)
    while ring and len(reached) < limit:
        nearest = sorted(ring, key=lambda node: (-ring[node], node))[: limit - len(reached)]
        reached.update(nearest)
        ring = {}
        for node in nearest:
            for target, strength in graph.get(node, {}).items():
                if target not in reached:
                    ring[target] = max(strength, ring.get(target, 0.0))
    return reached


def _transition_shares(
    graph: EdgeWeights, index: Mapping[str, int]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return every edge between the nodes, ordered by source, with its share of what leaves the source."""
    source: list[int] = []
    target: list[int] = []
    share: list[float] = []
    for node, row in index.items():
        outgoing = [
            (index[neighbour], strength) for neighbour, strength in graph.get(node, {}).items() if neighbour in index
        ]
        total = math.fsum(strength for _, strength in outgoing)
        source += [row] * len(outgoing)
        target += [neighbour for neighbour, _ in outgoing]
        share += [strength / total for _, strength in outgoing]
    return np.array(source, dtype=np.intp), np.array(target, dtype=np.intp), np.array(share, dtype=np.float64)


MAX_SEEDS, MAX_HOPS, MAX_LINKS, MAX_ADDED = 10, 2, 50, 20
"""How many candidates the walk starts from, how many hops it makes, how many links a node may have to be walked
through (a subject of a thousand facts relates no two of them), and how many atoms it may add."""
LEFT_OUT = frozenset({"evidence", LISTS})
"""Links that the walk does not follow: statements are shown with their source passages anyway, and through them
everything said in a session or listed in a box would seem to be related."""


@dataclass(frozen=True, slots=True)
class GraphWalk:
    """The nearness of atoms to the start of a walk, 1 being as near as a start, and the links that were found."""

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
    for candidate in sorted(candidates, key=lambda candidate: (-candidate.first_score, candidate.key))[:MAX_SEEDS]:
        seeds[candidate.key[0]] = max(seeds.get(candidate.key[0], 0.0), candidate.first_score)
    links = store.graph.neighbourhood(seeds, scopes, statuses, MAX_HOPS, MAX_LINKS, LEFT_OUT) if seeds else []
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


def _both_ways(edge: Edge) -> tuple[tuple[str, str, float], tuple[str, str, float]]:
    return (edge.source, edge.target, edge.confidence), (edge.target, edge.source, edge.confidence)


MAX_NAME_WORDS, MAX_QUESTION_WORDS, MAX_FACTS_PER_NAME = 4, 128, 50
"""The most words of a name, the most words of a question that are looked at, and the most facts that may share a name:
a name that everything shares distinguishes nothing."""
MAX_MISSPELT_WORDS, MISSPELT_LENGTHS, CORRECT_PREFIX = 3, range(4, 25), 2
"""How many words may be misspelt names, how many letters such a word has, and how many of its first letters must be
right."""


def find_named_atoms(
    question: str,
    scopes: Sequence[Scope],
    statuses: Collection[Status],
    store: Store,
    unmatched_words: Collection[str] = (),
) -> dict[AtomId, tuple[str, float]]:
    """Return the atoms whose subject or entity a question names, with the name and amount of the term; a subject counts
    more.

    Words that no passage contains (`unmatched_words`) and that are no known name are also tried with one typing error
    corrected.
    """
    words = normal_form(question).split()[:MAX_QUESTION_WORDS]
    names = {
        " ".join(words[start : start + length])
        for length in range(1, MAX_NAME_WORDS + 1)
        for start in range(len(words) - length + 1)
    }
    edges = _find_edges(names, scopes, statuses, store)
    known_words = {word for edge in edges for word in edge.target.partition(":")[2].split()}
    misspelt = [
        word for word in map(normal_form, unmatched_words) if len(word) in MISSPELT_LENGTHS and word not in known_words
    ]
    edges += _find_edges(
        {variant for word in misspelt[:MAX_MISSPELT_WORDS] for variant in spelling_variants(word)},
        scopes,
        statuses,
        store,
    )
    fact_counts = Counter(edge.target for edge in edges)
    terms: dict[AtomId, tuple[str, float]] = {}
    for edge in edges:
        if (
            fact_counts[edge.target] <= MAX_FACTS_PER_NAME
            and edge.name in _TERMS
            and terms.get(edge.source, ("", 0.0))[0] != "exact"
        ):
            terms[edge.source] = _TERMS[edge.name]
    return terms


def _find_edges(
    names: Collection[str], scopes: Sequence[Scope], statuses: Collection[Status], store: Store
) -> list[Edge]:
    """Return the links to these names as subjects or entities."""
    shared = sorted(f"{sort}:{name}" for sort in ("subject", "entity") for name in names)
    return store.graph.edges(shared, scopes, statuses) if shared else []


def spelling_variants(word: str) -> Iterator[str]:
    """Yield the words that a misspelt one may stand for: a letter more, less or different, or two letters
    swapped."""
    for at in range(CORRECT_PREFIX, len(word) + 1):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in ascii_lowercase)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in ascii_lowercase)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


_TERMS = {"subject": ("exact", NAMED_SUBJECT), "entity": ("entity", NAMED_ENTITY)}
