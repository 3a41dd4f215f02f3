"""`lamina bench year`: what the generator promises, and that a short year is lived to its end."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from benchmarks.year_benchmark import BARS, STATEMENT_TYPES, UsageHabits, judge_bars, make_statements, make_words
from command_result import Cli


def test_generated_words_are_distinct_and_repeat_for_a_seed() -> None:
    assert len(set(make_words(Random(1), 500))) == 500
    assert make_words(Random(1), 50) == make_words(Random(1), 50) != make_words(Random(2), 50)


def test_a_generated_year_repeats_for_a_seed_and_is_spread_over_its_days() -> None:
    year = make_statements(2000, 50, 3)
    assert year == make_statements(2000, 50, 3) != make_statements(2000, 50, 4)
    assert {len(today) for today in year} == {40}
    result = [item for today in year for item in today]
    assert len({item.content for item in result}) == len({item.question for item in result}) == len(result)
    kinds = Counter(item.sort for item in result)
    assert all(abs(kinds[sort] / 2000 - sort.share) < 0.05 for sort in STATEMENT_TYPES)
    assert sum(sort.share for sort in STATEMENT_TYPES) == pytest.approx(1.0)


def test_recent_and_favourite_atoms_are_used_most_and_none_before_it_is_written() -> None:
    habits, used = UsageHabits(Random(1), 50), Counter[int]()
    for day in range(1, 60):
        today = habits.used_on_day(day * 20, 20)
        assert not today or max(today) < day * 20
        used.update(today)
    assert habits.used_on_day(0, 0) == []
    top = sum(many for _, many in used.most_common(10))
    assert top > 0.15 * used.total() and len(used) > 300


def test_a_missing_figure_fails_its_threshold() -> None:
    result = judge_bars({"hot episodic": 31.0, "used, of control": 99.0})
    assert result.keys() == BARS.keys()
    assert (
        result["used, of control"]["holds"]
        and not result["hot episodic"]["holds"]
        and not result["old and unused"]["holds"]
    )


def test_a_short_year_runs_to_its_end(cli: Cli) -> None:
    data = cli("bench", "year", "--atoms", "120", "--days", "120", "--json").data
    assert set(data) == {"bench", "commit", "data_sha256", "settings", "overall", "categories", "speed"}
    assert data["bench"] == "year" and data["settings"]["atoms"] == 120
    assert len(data["categories"]) == 5 and "day 120" in data["categories"]
    figures = data["overall"]["figures"]
    assert figures["used, of control"] >= 99 and figures["archive by dreams"] > 0 and figures["demote by hand"] > 0
    assert data["speed"]["dreaming_s"] > 0 and data["speed"]["dreaming_cpu_s"] > 0
    assert set(data["overall"]["bars"]) == set(BARS)
