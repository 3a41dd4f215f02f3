"""ACT-R base level: exact, standard and the hybrid of ten uses."""

from __future__ import annotations

from math import inf, log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_atoms import DAY, NOON, ages_in_days, make_event, make_signals

from lamina.lifecycle.importance import activation, base_level, exact_base_level, hybrid_base_level, recall_probability
from lamina.lifecycle.signals import AgeingSignals

ages = st.lists(st.floats(0.01, 2000.0), min_size=1, max_size=40)


def test_base_levels_of_four_uses() -> None:
    assert round(exact_base_level([1, 4, 9, 16]), 6) == 0.733969
    assert round(hybrid_base_level([1], 4, 16), 6) == 0.788457
    assert round(hybrid_base_level([], 4, 16), 6) == round(log(2), 6) == 0.693147


@given(ages)
def test_the_hybrid_with_every_use_known_is_exact(days: list[float]) -> None:
    assert hybrid_base_level(days, len(days), max(days)) == pytest.approx(exact_base_level(days), abs=1e-12)


@given(ages.flatmap(lambda days: st.tuples(st.just(days), st.permutations(days))))
def test_the_order_of_uses_does_not_matter(result: tuple[list[float], list[float]]) -> None:
    assert exact_base_level(result[0]) == pytest.approx(exact_base_level(result[1]), abs=1e-12)


@given(ages, st.floats(0.01, 2000.0))
def test_every_use_raises_the_level(days: list[float], another: float) -> None:
    assert exact_base_level([*days, another]) > exact_base_level(days)


@given(ages, st.floats(0.01, 100.0))
def test_the_level_falls_between_uses(days: list[float], later: float) -> None:
    assert exact_base_level([day + later for day in days]) < exact_base_level(days)


@given(st.lists(ages_in_days, min_size=1, max_size=40))
def test_the_level_of_an_atom_falls_strictly_while_it_is_unused(days: list[float]) -> None:
    signals = make_signals(*days)
    assert base_level(make_event(2000), signals, NOON + 9 * DAY) > base_level(
        make_event(2000), signals, NOON + 10 * DAY
    )


def test_ten_uses_approximate_all_of_them_where_use_is_steady() -> None:
    days = [1.0 + 3 * n for n in range(60)]
    assert base_level(make_event(2000), make_signals(*days), NOON) == pytest.approx(exact_base_level(days), abs=0.084)
    assert abs(hybrid_base_level([], 60, max(days)) - exact_base_level(days)) > abs(
        hybrid_base_level(days[:10], 60, max(days)) - exact_base_level(days)
    )


@given(st.floats(0.01, 100.0), st.integers(2, 50))
def test_simultaneous_uses_are_counted_at_their_moment(day: float, many: int) -> None:
    assert hybrid_base_level([day], many, day) == pytest.approx(exact_base_level([day] * many), abs=1e-9)


def test_the_spread_term_converges_to_the_case_without_spread() -> None:
    assert hybrid_base_level([5.0], 9, 5.0 + 1e-6) == pytest.approx(hybrid_base_level([5.0], 9, 5.0), abs=1e-6)


def test_a_use_at_this_moment_counts_as_a_second_ago() -> None:
    assert exact_base_level([0.0]) == exact_base_level([1 / 86_400])


def test_one_use_a_week_ago_gives_one_half_and_no_use_zero() -> None:
    assert activation(make_event(30), make_signals(7), NOON) == pytest.approx(0.5, abs=1e-12)
    assert base_level(make_event(30), AgeingSignals(), NOON) == -inf
    assert activation(make_event(30), AgeingSignals(), NOON) == 0.0


@given(st.floats(-50, 50), st.floats(-50, 50))
def test_a_higher_level_is_never_less_likely_recalled(one: float, other: float) -> None:
    assume(one != other)
    assert 0.0 <= recall_probability(min(one, other)) <= recall_probability(max(one, other)) <= 1.0
