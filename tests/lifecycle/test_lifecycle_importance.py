"""Effective importance: nine factors that add up, and a base that is left alone."""

from __future__ import annotations

from dataclasses import replace
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_atoms import DAY, NOON, ages_in_days, atoms, make_event, make_signals, signals, units

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.lifecycle.ageing import decide_ageing
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.importance import WEIGHTS, effective_importance, importance_factors
from lamina.lifecycle.signals import AgeingSignals


def test_the_nine_weights_sum_to_one() -> None:
    assert len(WEIGHTS) == 9
    assert fsum(WEIGHTS.values()) == 1.0


@given(atoms(), signals())
def test_the_explanation_sums_to_the_score(atom: Atom, usage: AgeingSignals) -> None:
    factors = importance_factors(atom, usage, NOON)
    assert [factor.name for factor in factors] == list(WEIGHTS)
    assert all(0.0 <= factor.value <= 1.0 for factor in factors)
    score = effective_importance(atom, usage, NOON)
    assert 0.0 <= score <= 1.0
    assert sum(factor.contribution for factor in factors) == pytest.approx(score, abs=1e-12)


def test_the_score_can_approach_one() -> None:
    best = make_event(30, importance=1.0, valence=-1.0, layer=Layer.SEMANTIC)
    known_value = make_signals(*[n / 2 for n in range(60)], confirmations=5)
    assert effective_importance(best, known_value, NOON) > 0.99


def test_an_episode_used_on_five_days_becomes_important_enough_for_promotion() -> None:
    assert effective_importance(make_event(5, importance=0.6), make_signals(1, 2, 3, 4, 5), NOON) >= 0.7
    assert effective_importance(make_event(5, importance=0.6), make_signals(1), NOON) < 0.7


@pytest.mark.parametrize(
    ("name", "atom", "known_value", "value"),
    [
        ("base", make_event(importance=0.4), AgeingSignals(), 0.4),
        ("access", make_event(), make_signals(*[0.0] * 10), 1.0),
        ("access", make_event(), AgeingSignals(count=3), 0.5781),
        ("recency", make_event(30), AgeingSignals(), 0.5),
        ("recency", make_event(300), make_signals(60), 0.25),
        ("emotion", make_event(valence=-0.6), AgeingSignals(), 0.6),
        ("stability", make_event(), make_signals(1, 2, 3, 4, 5), 0.8333),
        ("layer", make_event(layer=Layer.WORKING), AgeingSignals(), 0.3),
        ("layer", make_event(), AgeingSignals(), 0.7),
        ("layer", make_event(layer=Layer.CODEBASE), AgeingSignals(), 0.8),
        ("layer", make_event(layer=Layer.PROFILE), AgeingSignals(), 1.0),
        ("trust", make_event(), AgeingSignals(trust=0.4), 0.4),
        ("confirmations", make_event(), AgeingSignals(confirmations=5), 1.0),
        ("confirmations", make_event(), AgeingSignals(confirmations=1), 0.3869),
        ("activation", make_event(), make_signals(7), 0.5),
    ],
)
def test_each_factor_is_normalised_as_its_table_says(
    name: str, atom: Atom, known_value: AgeingSignals, value: float
) -> None:
    result = {factor.name: factor.value for factor in importance_factors(atom, known_value, NOON)}
    assert round(result[name], 4) == value


@given(atoms(), signals(), units, st.integers(0, 9), ages_in_days)
def test_a_larger_factor_never_lowers_importance(
    atom: Atom, usage: AgeingSignals, more: float, further: int, later: float
) -> None:
    score = effective_importance(atom, usage, NOON)
    richer = [
        (atom.with_(importance=max(atom.importance, more)), usage),
        (atom.with_(valence=max(abs(atom.valence), more)), usage),
        (atom.with_(layer=Layer.SEMANTIC), usage),
        (atom, usage.with_use(NOON)),
        (atom, replace(usage, confirmations=usage.confirmations + further)),
        (atom, replace(usage, trust=None)),
    ]
    assert all(effective_importance(*item, NOON) >= score - 1e-12 for item in richer)
    assert effective_importance(atom, usage, NOON + later * DAY) <= score + 1e-12


@given(atoms(), signals())
def test_importance_does_not_feed_back_into_itself(atom: Atom, usage: AgeingSignals) -> None:
    first = effective_importance(atom, usage, NOON)
    for _ in range(3):
        for decision in decide_ageing(atom, usage, AgeingTime(NOON)):
            assert decision.apply_to(atom).importance == atom.importance
        assert effective_importance(atom, usage, NOON) == first
