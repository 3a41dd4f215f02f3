"""Metrics of a ranking, in percent: recall, hit, all, NDCG and reciprocal rank.

`ranked` names each item once, best first; `gold` is never empty. Hit@k ≥ R@k ≥ All@k, often by ten points, so compare a
figure only with one of the same name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from math import log2
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

DEPTH = 100
"""How far down a ranking the reciprocal rank looks."""


def recall_at(k: int, ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """Return the share of the gold items among the first k."""
    return 100 * len(gold & set(ranked[:k])) / len(gold)


def hit_at(k: int, ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """Return 100 if any gold item is among the first k."""
    return 100.0 if gold & set(ranked[:k]) else 0.0


def all_at(k: int, ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """Return 100 if all gold items are among the first k."""
    return 100.0 if gold <= set(ranked[:k]) else 0.0


def ndcg_at(k: int, ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """Return the discounted gain of the first k as a share of the ideal gain."""
    gained = sum(1 / log2(rank + 1) for rank, item in enumerate(ranked[:k], 1) if item in gold)
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(k, len(gold)) + 1))
    return 100 * gained / ideal


def reciprocal_rank(ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """Return 100 divided by the rank of the first gold item; 0 beyond the first hundred."""
    return next((100 / rank for rank, item in enumerate(ranked[:DEPTH], 1) if item in gold), 0.0)


def grade_ranking(ranked: Sequence[Hashable], gold: Set[Hashable]) -> dict[str, float]:
    """Return all metrics of one question."""
    return {
        **{f"R@{k}": recall_at(k, ranked, gold) for k in (1, 5, 10, 20)},
        "NDCG@10": ndcg_at(10, ranked, gold),
        "MRR": reciprocal_rank(ranked, gold),
        **{f"Hit@{k}": hit_at(k, ranked, gold) for k in (5, 10)},
        **{f"All@{k}": all_at(k, ranked, gold) for k in (5, 10)},
    }


def average_grades(grades: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over the questions, and their number."""
    means = {name: round(sum(grade[name] for grade in grades) / len(grades), 2) for name in grades[0]}
    return {"n": len(grades), **means}


def unique_in_order(ranked: Iterable[T]) -> list[T]:
    """Return each item once, at its first position."""
    return list(dict.fromkeys(ranked))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
