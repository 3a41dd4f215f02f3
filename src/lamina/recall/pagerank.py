"""Personalised PageRank: how near each atom stands to those a question found first, over the relations between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

WEAKEST = 0.2
"""An edge below this strength is not walked."""
MOST_NODES = 2000
_ROUNDING = 1e-9

Graph: TypeAlias = dict[str, dict[str, float]]


class Walk(TypedDict):
    """How far the mass is carried."""

    alpha: float
    tolerance: float
    most_steps: int


EIGHT_STEPS: Walk = {"alpha": 0.85, "tolerance": 0.0, "most_steps": 8}
"""The refinement some systems use: eight steps at .85, which is not converged (the error may still be .545)."""


def pagerank(
    edges: Sequence[tuple[str, str, float]],
    seeds: Mapping[str, float],
    *,
    alpha: float = 0.5,
    tolerance: float = 1e-6,
    most_steps: int = 100,
    most_nodes: int = MOST_NODES,
) -> dict[str, float]:
    """The share of a walker's time at each node within reach; the shares add up to 1, and who is not named has none.

    With probability `alpha` the walker goes on along an edge (source, target, weight × confidence), in proportion to
    its strength, and else back to a seed, in proportion to the seed's weight; from a node without edges always back to
    a seed: `p ← (1−α)·v + α·(Wᵀp + dangling·v)`, from `v` on. An edge that is walked both ways is given twice; edges
    between the same two nodes add up. It ends when the shares are off by no more than `tolerance` in total, after about
    20 steps at .5 and 90 at .85. Beyond `most_nodes` the nearest are kept: by hops, then by the strongest edge that
    leads there, then by id. The order of the input does not matter, to the last bit.
    """
    wanted = {node: float(weight) for node, weight in seeds.items() if weight > 0}
    graph = _graph(edges)
    nodes = sorted(_reached(graph, wanted, most_nodes))
    if not nodes:
        return {}
    place = {node: n for n, node in enumerate(nodes)}
    home = np.array([wanted.get(node, 0.0) for node in nodes])
    home /= math.fsum(home)
    source, target, share = _steps(graph, place)
    stranded = np.bincount(source, minlength=len(nodes)) == 0
    mass = home
    for _ in range(most_steps):
        carried = np.bincount(target, weights=share * mass[source], minlength=len(nodes))
        moved = (1 - alpha) * home + alpha * (carried + math.fsum(mass[stranded]) * home)
        change = math.fsum(np.abs(moved - mass))
        mass = moved
        if alpha * change <= (1 - alpha) * tolerance:
            break
    return dict(zip(nodes, mass.tolist(), strict=True))


def _graph(edges: Iterable[tuple[str, str, float]]) -> Graph:
    """What leads where and how strongly, with sums that do not hang on the order of the edges."""
    strengths: dict[tuple[str, str], list[float]] = {}
    for source, target, strength in edges:
        # A confidence that eight windows of decay brought to .2 is 1 − .1 × 8, which is a little less.
        if strength >= WEAKEST - _ROUNDING:
            strengths.setdefault((source, target), []).append(strength)
    graph: Graph = {}
    for (source, target), parallel in strengths.items():
        graph.setdefault(source, {})[target] = math.fsum(parallel)
    return graph


def _reached(graph: Graph, seeds: Mapping[str, float], most: int) -> set[str]:
    """The seeds and what can be reached from them, nearest first, as many as there is room for."""
    reached: set[str] = set()
    ring = dict(seeds)
    while ring and len(reached) < most:
        nearest = sorted(ring, key=lambda node: (-ring[node], node))[: most - len(reached)]
        reached.update(nearest)
        ring = {}
        for node in nearest:
            for target, strength in graph.get(node, {}).items():
                if target not in reached:
                    ring[target] = max(strength, ring.get(target, 0.0))
    return reached


def _steps(graph: Graph, place: Mapping[str, int]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Every edge between the nodes, in the order of its source, with its share of what leaves there."""
    source: list[int] = []
    target: list[int] = []
    share: list[float] = []
    for node, at in place.items():
        ways = [(place[to], strength) for to, strength in graph.get(node, {}).items() if to in place]
        leaving = math.fsum(strength for _, strength in ways)
        source += [at] * len(ways)
        target += [to for to, _ in ways]
        share += [strength / leaving for _, strength in ways]
    return np.array(source, dtype=np.intp), np.array(target, dtype=np.intp), np.array(share, dtype=np.float64)
