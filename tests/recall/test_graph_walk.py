"""Personalised PageRank against closed forms, the dense solution and networkx."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import networkx  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.recall.graph_walk import MIN_EDGE_WEIGHT, pagerank

Edges = list[tuple[str, str, float]]

ORACLE: Edges = [("a", "b", 1.0), ("a", "c", 0.5), ("b", "c", 0.2), ("c", "a", 1.0)]
NODES = st.sampled_from([f"n{n:02}" for n in range(12)])
EDGES = st.lists(st.tuples(NODES, NODES, st.floats(MIN_EDGE_WEIGHT, 1.0)), max_size=40)
SEEDS = st.dictionaries(NODES, st.floats(0.01, 5.0), min_size=1, max_size=5)
ALPHAS = st.sampled_from([0.0, 0.3, 0.5, 0.85])


def exact(edges: Edges, seeds: dict[str, float], **chosen: Any) -> dict[str, float]:
    return pagerank(edges, seeds, **{"tolerance": 1e-13, "most_steps": 1000, **chosen})


def dense(edges: Edges, seeds: dict[str, float], alpha: float) -> dict[str, float]:
    """(1−α)(I−αM)⁻¹v, where a node without edges leads to the seeds."""
    nodes = sorted({node for edge in edges for node in edge[:2]} | set(seeds))
    home = np.array([seeds.get(node, 0.0) for node in nodes]) / sum(seeds.values())
    steps = np.zeros((len(nodes), len(nodes)))
    for source, target, strength in edges:
        steps[nodes.index(source), nodes.index(target)] += strength
    for row in steps:
        row[:] = row / row.sum() if row.sum() else home
    solved = (1 - alpha) * np.linalg.solve(np.eye(len(nodes)) - alpha * steps.T, home)
    return dict(zip(nodes, solved.tolist(), strict=True))


def by_networkx(edges: Edges, seeds: dict[str, float], alpha: float) -> dict[str, float]:
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(sorted(seeds))
    graph.add_weighted_edges_from(edges)
    shares: dict[str, float] = networkx.pagerank(graph, alpha, personalization=seeds, tol=1e-15, max_iter=2000)
    return shares


def assert_same(one: dict[str, float], other: dict[str, float], within: float = 1e-8) -> None:
    for node in one.keys() | other.keys():
        assert one.get(node, 0.0) == pytest.approx(other.get(node, 0.0), abs=within), node


def test_closed_form_cases_are_reproduced() -> None:
    assert_same(exact(ORACLE, {"a": 1.0}), {"a": 0.6, "b": 0.2, "c": 0.2}, 1e-12)
    assert_same(exact(ORACLE, {"a": 1.0}, alpha=0.85), {"a": 0.428878, "b": 0.243031, "c": 0.328091}, 1e-6)


@settings(deadline=None)
@given(EDGES, SEEDS, ALPHAS)
def test_shares_equal_networkx_and_the_dense_solution(edges: Edges, seeds: dict[str, float], alpha: float) -> None:
    result = exact(edges, seeds, alpha=alpha)
    assert_same(result, dense(edges, seeds, alpha))
    assert_same(result, by_networkx(edges, seeds, alpha))


@settings(deadline=None)
@given(EDGES, SEEDS, ALPHAS)
def test_the_shares_sum_to_one_within_the_tolerance(edges: Edges, seeds: dict[str, float], alpha: float) -> None:
    shares = pagerank(edges, seeds, alpha=alpha)
    assert math.fsum(shares.values()) == pytest.approx(1.0, abs=1e-12)
    assert min(shares.values()) >= 0.0
    true = dense(edges, seeds, alpha)
    assert sum(abs(shares.get(node, 0.0) - share) for node, share in true.items()) <= 1e-6 + 1e-12


@settings(deadline=None)
@given(EDGES, SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_change_a_bit(edges: Edges, seeds: dict[str, float], random: Random) -> None:
    shuffled = random.sample(edges, len(edges))
    turned = dict(random.sample(sorted(seeds.items()), len(seeds)))
    one, other = pagerank(edges, seeds, most_nodes=7), pagerank(shuffled, turned, most_nodes=7)
    assert list(one.items()) == list(other.items())


@settings(deadline=None)
@given(EDGES, SEEDS, st.permutations([f"n{n:02}" for n in range(12)]))
def test_renamed_nodes_get_the_same_shares(edges: Edges, seeds: dict[str, float], names: list[str]) -> None:
    new = dict(zip([f"n{n:02}" for n in range(12)], names, strict=True))
    renamed = exact([(new[a], new[b], w) for a, b, w in edges], {new[node]: w for node, w in seeds.items()})
    assert_same({new[node]: share for node, share in exact(edges, seeds).items()}, renamed, 1e-12)


def test_unreachable_nodes_get_nothing_and_an_isolated_seed_keeps_its_return() -> None:
    shares = pagerank([("a", "b", 1.0), ("far", "a", 1.0), ("x", "y", 1.0)], {"a": 3.0, "lonely": 1.0})
    assert set(shares) == {"a", "b", "lonely"}
    assert shares["a"] == pytest.approx(3 * shares["lonely"])
    assert pagerank([], {"a": 2.0, "b": 2.0}) == {"a": 0.5, "b": 0.5}
    assert pagerank(ORACLE, {"b": 1.0}, alpha=0.0) == {"a": 0.0, "b": 1.0, "c": 0.0}


def test_without_seeds_the_result_is_empty() -> None:
    assert pagerank(ORACLE, {}) == pagerank(ORACLE, {"a": 0.0}) == {}


def test_a_weak_edge_is_ignored_and_rounding_does_not_decide() -> None:
    decayed = 1 - 0.1 * 8
    assert decayed < 0.2
    assert set(pagerank([("a", "b", 0.1999), ("a", "c", 0.2), ("a", "d", decayed)], {"a": 1.0})) == {"a", "c", "d"}
    # Two weak edges between the same nodes do not make a strong one.
    assert set(pagerank([("a", "b", 0.15), ("a", "b", 0.15)], {"a": 1.0})) == {"a"}


def test_a_stronger_edge_gives_a_larger_share() -> None:
    shares = [exact([("a", "b", w), ("a", "c", 0.5)], {"a": 1.0})["b"] for w in (0.2, 0.4, 0.7, 1.0)]
    assert shares == sorted(shares)
    assert len(set(shares)) == 4


def test_eight_steps_at_85_percent_are_exact() -> None:
    shares = pagerank(ORACLE, {"a": 1.0}, alpha=0.85, tolerance=0.0, most_steps=8)
    mass = {"a": 1.0, "b": 0.0, "c": 0.0}
    for _ in range(8):
        mass = {
            "a": 0.15 + 0.85 * mass["c"],
            "b": 0.85 * mass["a"] * 1 / 1.5,
            "c": 0.85 * (mass["a"] * 0.5 / 1.5 + mass["b"]),
        }
    assert_same(shares, mass, 1e-12)
    assert sum(abs(shares[node] - exact(ORACLE, {"a": 1.0}, alpha=0.85)[node]) for node in "abc") > 1e-3


def test_it_converges_within_the_theoretical_number_of_steps() -> None:
    for alpha, steps in ((0.5, 21), (0.85, 100)):
        assert pagerank(ORACLE, {"a": 1.0}, alpha=alpha, most_steps=steps) == pagerank(
            ORACLE, {"a": 1.0}, alpha=alpha, most_steps=10_000
        )


def test_beyond_the_limit_the_nearest_nodes_are_kept() -> None:
    edges = [("s", "b", 0.5), ("s", "a", 0.5), ("s", "c", 0.9), ("c", "z", 1.0), ("a", "y", 1.0)]
    seeds = {"s": 1.0}
    assert set(pagerank(edges, seeds, most_nodes=3)) == {"s", "c", "a"}
    assert set(pagerank(edges, seeds, most_nodes=5)) == {"s", "a", "b", "c", "y"}
    assert set(pagerank(edges, {"s": 1.0, "t": 2.0, "u": 0.5}, most_nodes=2)) == {"t", "s"}
    assert math.fsum(pagerank(edges, seeds, most_nodes=3).values()) == pytest.approx(1.0)


@settings(deadline=None, max_examples=3)
@given(st.integers(0, 2**32))
def test_a_large_graph_stays_bounded_and_sums_to_one(seed: int) -> None:
    random = Random(seed)
    edges = [(f"{random.randrange(5000)}", f"{random.randrange(5000)}", random.uniform(0.2, 1)) for _ in range(20_000)]
    shares = pagerank(edges, {edges[0][0]: 1.0, edges[1][0]: 2.0})
    assert 2 <= len(shares) <= 2000
    assert math.fsum(shares.values()) == pytest.approx(1.0)
