"""Effective importance: nine factors that add up, and a base that is left alone."""

from __future__ import annotations

from dataclasses import replace
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives import DAY, NOON, atoms, past, said, signals, units, used

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer
from lamina.lifecycle.ageing import decide_ageing
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.importance import WEIGHTS, effective_importance, importance_factors
from lamina.lifecycle.signals import AgeingSignals


def test_nine_weights_add_up_to_one() -> None:
    assert len(WEIGHTS) == 9
    assert fsum(WEIGHTS.values()) == 1.0


@given(atoms(), signals())
def test_the_explanation_adds_up_to_the_score(atom: Atom, known: AgeingSignals) -> None:
    factors = importance_factors(atom, known, NOON)
    assert [factor.name for factor in factors] == list(WEIGHTS)
    assert all(0.0 <= factor.value <= 1.0 for factor in factors)
    score = effective_importance(atom, known, NOON)
    assert 0.0 <= score <= 1.0
    assert sum(factor.contribution for factor in factors) == pytest.approx(score, abs=1e-12)


def test_the_score_can_come_close_to_one() -> None:
    best = said(30, importance=1.0, valence=-1.0, layer=Layer.SEMANTIC)
    known = used(*[n / 2 for n in range(60)], confirmations=5)
    assert effective_importance(best, known, NOON) > 0.99


def test_an_ordinary_episode_used_on_five_days_becomes_important_enough_to_rise() -> None:
    assert effective_importance(said(5, importance=0.6), used(1, 2, 3, 4, 5), NOON) >= 0.7
    assert effective_importance(said(5, importance=0.6), used(1), NOON) < 0.7


@pytest.mark.parametrize(
    ("name", "atom", "known", "value"),
    [
        ("base", said(importance=0.4), AgeingSignals(), 0.4),
        ("access", said(), used(*[0.0] * 10), 1.0),
        ("access", said(), AgeingSignals(count=3), 0.5781),
        ("recency", said(30), AgeingSignals(), 0.5),
        ("recency", said(300), used(60), 0.25),
        ("emotion", said(valence=-0.6), AgeingSignals(), 0.6),
        ("stability", said(), used(1, 2, 3, 4, 5), 0.8333),
        ("layer", said(layer=Layer.WORKING), AgeingSignals(), 0.3),
        ("layer", said(), AgeingSignals(), 0.7),
        ("layer", said(layer=Layer.CODEBASE), AgeingSignals(), 0.8),
        ("layer", said(layer=Layer.PROFILE), AgeingSignals(), 1.0),
        ("trust", said(), AgeingSignals(trust=0.4), 0.4),
        ("confirmations", said(), AgeingSignals(confirmations=5), 1.0),
        ("confirmations", said(), AgeingSignals(confirmations=1), 0.3869),
        ("activation", said(), used(7), 0.5),
    ],
)
def test_each_factor_is_normalised_as_its_table_says(name: str, atom: Atom, known: AgeingSignals, value: float) -> None:
    found = {each.name: each.value for each in importance_factors(atom, known, NOON)}
    assert round(found[name], 4) == value


@given(atoms(), signals(), units, st.integers(0, 9), past)
def test_more_of_a_factor_never_makes_it_less_important(
    atom: Atom, known: AgeingSignals, more: float, further: int, later: float
) -> None:
    score = effective_importance(atom, known, NOON)
    richer = [
        (atom.with_(importance=max(atom.importance, more)), known),
        (atom.with_(valence=max(abs(atom.valence), more)), known),
        (atom.with_(layer=Layer.SEMANTIC), known),
        (atom, known.with_use(NOON)),
        (atom, replace(known, confirmations=known.confirmations + further)),
        (atom, replace(known, trust=None)),
    ]
    assert all(effective_importance(*each, NOON) >= score - 1e-12 for each in richer)
    assert effective_importance(atom, known, NOON + later * DAY) <= score + 1e-12


@given(atoms(), signals())
def test_importance_does_not_feed_on_itself(atom: Atom, known: AgeingSignals) -> None:
    first = effective_importance(atom, known, NOON)
    for _ in range(3):
        for decision in decide_ageing(atom, known, AgeingTime(NOON)):
            assert decision.apply_to(atom).importance == atom.importance
        assert effective_importance(atom, known, NOON) == first
