"""Edges: reinforcement and decay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives import DAY, NOON

from lamina.atom.identity import AtomId
from lamina.atom.relation import Relation, RelationName
from lamina.lifecycle.relation_strength import (
    MIN_CONFIDENCE,
    decay_confidence,
    decay_relation,
    raise_confidence,
    reinforce_relation,
)

confidences = st.floats(0.0, 1.0).map(lambda each: round(each, 6))
ages = st.floats(-100.0, 3000.0)


def edge(confidence: float = 1.0, days: float | None = None) -> Relation:
    seen = None if days is None else NOON - days * DAY
    return Relation(RelationName.SUPPORTS, AtomId("1" * 26), confidence, seen)


def test_an_edge_seen_again_is_firmer_and_says_when() -> None:
    assert reinforce_relation(edge(0.5), NOON) == Relation(RelationName.SUPPORTS, AtomId("1" * 26), 0.55, NOON)
    assert raise_confidence(0.98) == 1.0


def test_a_clock_set_back_does_not_move_the_mark_back() -> None:
    assert reinforce_relation(edge(0.5, 0), NOON - 9 * DAY).last_reinforced_at == NOON


@pytest.mark.parametrize(
    ("days", "left"), [(0, 1.0), (90, 1.0), (90.01, 0.9), (180, 0.9), (181, 0.8), (270, 0.8), (271, 0.7), (5000, 0.1)]
)
def test_an_edge_loses_a_tenth_for_every_window_begun_after_its_grace(days: float, left: float) -> None:
    assert decay_relation(edge(1.0, days), NOON, NOON).confidence == left


def test_an_edge_never_seen_again_counts_from_when_it_was_made() -> None:
    assert decay_relation(edge(), NOON, NOON - 100 * DAY).confidence == 0.9
    assert decay_relation(edge(), NOON, NOON) == edge()


@given(confidences, ages, ages)
def test_two_steps_of_decay_are_one(confidence: float, one: float, other: float) -> None:
    sooner, later = (NOON + each * DAY for each in sorted((one, other)))
    at_once = decay_confidence(confidence, NOON, later)
    assert decay_confidence(*decay_confidence(confidence, NOON, sooner), later) == at_once
    assert decay_confidence(*at_once, later) == at_once


@given(confidences, ages)
def test_decay_never_raises_an_edge_nor_takes_it_below_the_floor(confidence: float, days: float) -> None:
    left, _ = decay_confidence(confidence, NOON, NOON + days * DAY)
    assert min(confidence, MIN_CONFIDENCE) <= left <= confidence


@given(confidences)
def test_reinforcement_never_lowers_an_edge_nor_takes_it_above_one(confidence: float) -> None:
    assert confidence <= raise_confidence(confidence) <= 1.0
