"""`lamina bench year`: what the generator promises, and that a short year is lived to its end."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from lamina.bench.year_benchmark import BARS, STATEMENT_TYPES, UsageHabits, judge_bars, make_statements, make_words
from terminal import Cli


def test_made_up_words_are_all_different_and_the_same_for_a_seed() -> None:
    assert len(set(make_words(Random(1), 500))) == 500
    assert make_words(Random(1), 50) == make_words(Random(1), 50) != make_words(Random(2), 50)


def test_a_year_is_the_same_for_a_seed_and_spread_over_its_days() -> None:
    year = make_statements(2000, 50, 3)
    assert year == make_statements(2000, 50, 3) != make_statements(2000, 50, 4)
    assert {len(today) for today in year} == {40}
    told = [each for today in year for each in today]
    assert len({each.content for each in told}) == len({each.question for each in told}) == len(told)
    kinds = Counter(each.sort for each in told)
    assert all(abs(kinds[sort] / 2000 - sort.share) < 0.05 for sort in STATEMENT_TYPES)
    assert sum(sort.share for sort in STATEMENT_TYPES) == pytest.approx(1.0)


def test_the_young_and_the_favourites_are_used_most_and_nothing_before_it_is_written() -> None:
    habits, used = UsageHabits(Random(1), 50), Counter[int]()
    for day in range(1, 60):
        today = habits.used_on_day(day * 20, 20)
        assert not today or max(today) < day * 20
        used.update(today)
    assert habits.used_on_day(0, 0) == []
    top = sum(many for _, many in used.most_common(10))
    assert top > 0.15 * used.total() and len(used) > 300


def test_a_bar_without_a_figure_that_must_be_reached_does_not_hold() -> None:
    told = judge_bars({"hot episodic": 31.0, "used, of control": 99.0})
    assert told.keys() == BARS.keys()
    assert (
        told["used, of control"]["holds"] and not told["hot episodic"]["holds"] and not told["old and unused"]["holds"]
    )


def test_a_short_year_is_lived_to_its_end(cli: Cli) -> None:
    told = cli("bench", "year", "--atoms", "120", "--days", "120", "--json").data
    assert set(told) == {"bench", "commit", "data_sha256", "settings", "overall", "categories", "speed"}
    assert told["bench"] == "year" and told["settings"]["atoms"] == 120
    assert len(told["categories"]) == 5 and "day 120" in told["categories"]
    figures = told["overall"]["figures"]
    assert figures["used, of control"] >= 99 and figures["archive by dreams"] > 0 and figures["demote by hand"] > 0
    assert told["speed"]["dreaming_s"] > 0 and told["speed"]["dreaming_cpu_s"] > 0
    assert set(told["overall"]["bars"]) == set(BARS)
