from __future__ import annotations

from math import log2

import pytest

from benchmarks.ranking_metrics import (
    all_at,
    average_grades,
    grade_ranking,
    hit_at,
    ndcg_at,
    quantile,
    recall_at,
    reciprocal_rank,
    unique_in_order,
)

RANKED = ["a", "b", "c", "d", "e", "f"]


def test_recall_is_the_share_of_gold_in_the_top_k() -> None:
    gold = {"b", "d", "z"}
    assert recall_at(1, RANKED, gold) == 0
    assert recall_at(2, RANKED, gold) == pytest.approx(100 / 3)
    assert recall_at(5, RANKED, gold) == pytest.approx(200 / 3)


def test_hit_needs_one_and_all_needs_every_gold_item() -> None:
    gold = {"b", "f"}
    assert [hit_at(k, RANKED, gold) for k in (1, 2, 6)] == [0, 100, 100]
    assert [all_at(k, RANKED, gold) for k in (1, 2, 6)] == [0, 0, 100]


def test_ndcg_discounts_by_rank_relative_to_the_best_order() -> None:
    gold = {"b", "d"}
    gained = 1 / log2(3) + 1 / log2(5)
    assert ndcg_at(10, RANKED, gold) == pytest.approx(100 * gained / (1 + 1 / log2(3)))
    assert ndcg_at(10, ["d", "b", "a"], gold) == pytest.approx(100)
    assert ndcg_at(2, RANKED, {"c"}) == 0


def test_the_ideal_of_ndcg_is_cut_at_k() -> None:
    many = {str(n) for n in range(20)}
    assert ndcg_at(10, [str(n) for n in range(10)], many) == pytest.approx(100)


def test_reciprocal_rank_is_of_the_first_gold_item_in_the_top_hundred() -> None:
    assert reciprocal_rank(RANKED, {"d", "e"}) == 25
    assert reciprocal_rank([str(n) for n in range(200)], {"99"}) == 1
    assert reciprocal_rank([str(n) for n in range(200)], {"100"}) == 0


def test_a_question_has_every_metric() -> None:
    gained = 100 * (1 + 1 / log2(7)) / (1 + 1 / log2(3))
    assert grade_ranking(RANKED, {"a", "f"}) == {
        "R@1": 50,
        "R@5": 50,
        "R@10": 100,
        "R@20": 100,
        "NDCG@10": pytest.approx(gained),
        "MRR": 100,
        "Hit@5": 100,
        "Hit@10": 100,
        "All@5": 0,
        "All@10": 100,
    }


def test_the_mean_is_over_questions_and_reports_their_number() -> None:
    assert average_grades([{"R@5": 100.0}, {"R@5": 50.0}, {"R@5": 0.0}]) == {"n": 3, "R@5": 50.0}


def test_a_repeated_item_counts_at_its_first_rank() -> None:
    assert unique_in_order(["b", "a", "b", "c", "a"]) == ["b", "a", "c"]


def test_a_quantile_is_one_of_the_values() -> None:
    assert quantile([5.0, 1.0, 3.0], 0.5) == 3.0
    assert quantile([5.0], 0.95) == 5.0
