"""What a ranking is worth: recall, hit, all, NDCG and reciprocal rank, in percent.

`ranked` names each thing once, best first; `gold` is never empty. Hit@k ≥ R@k ≥ All@k, often by ten points: a figure is
only ever compared with one of the same name.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from math import log2
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

DEPTH = 100
"""How far down a ranking the reciprocal rank looks."""


def recall_at(k: int, ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """The share of the gold among the first k."""
    return 100 * len(gold & set(ranked[:k])) / len(gold)


def hit_at(k: int, ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """100 if any gold is among the first k."""
    return 100.0 if gold & set(ranked[:k]) else 0.0


def all_at(k: int, ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """100 if all gold is among the first k."""
    return 100.0 if gold <= set(ranked[:k]) else 0.0


def ndcg_at(k: int, ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """Discounted gain of the first k, as a share of what the best order would gain."""
    gained = sum(1 / log2(place + 1) for place, each in enumerate(ranked[:k], 1) if each in gold)
    ideal = sum(1 / log2(place + 1) for place in range(1, min(k, len(gold)) + 1))
    return 100 * gained / ideal


def reciprocal_rank(ranked: Sequence[Hashable], gold: Set[Hashable]) -> float:
    """100 over the place of the first gold, 0 beyond the first hundred."""
    return next((100 / place for place, each in enumerate(ranked[:DEPTH], 1) if each in gold), 0.0)


def graded(ranked: Sequence[Hashable], gold: Set[Hashable]) -> dict[str, float]:
    """Every figure of one question."""
    return {
        **{f"R@{k}": recall_at(k, ranked, gold) for k in (1, 5, 10, 20)},
        "NDCG@10": ndcg_at(10, ranked, gold),
        "MRR": reciprocal_rank(ranked, gold),
        **{f"Hit@{k}": hit_at(k, ranked, gold) for k in (5, 10)},
        **{f"All@{k}": all_at(k, ranked, gold) for k in (5, 10)},
    }


def averaged(grades: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure over the questions, and how many those were."""
    means = {name: round(sum(grade[name] for grade in grades) / len(grades), 2) for name in grades[0]}
    return {"n": len(grades), **means}


def distinct(ranked: Iterable[T]) -> list[T]:
    """Each thing once, where it stood first."""
    return list(dict.fromkeys(ranked))


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
