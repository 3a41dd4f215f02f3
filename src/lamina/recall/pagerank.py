"""Personalised PageRank: how near each atom is to the best candidates of a question, over the relations between
them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

MIN_EDGE_WEIGHT = 0.2
"""Edges weaker than this are ignored."""
MOST_NODES = 2000
_ROUNDING = 1e-9

EdgeWeights: TypeAlias = dict[str, dict[str, float]]


class PageRankOptions(TypedDict):
    """How far the mass is carried."""

    alpha: float
    tolerance: float
    most_steps: int


EIGHT_STEPS: PageRankOptions = {"alpha": 0.85, "tolerance": 0.0, "most_steps": 8}
"""The variant that some systems use: eight steps at .85, which has not converged (the error may still be .545)."""


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
