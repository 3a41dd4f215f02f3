"""Edges: decay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_atoms import DAY, NOON

from lamina.atom.atom import AtomId, Relation, RelationName
from lamina.lifecycle.relation_strength import MIN_CONFIDENCE, decay_confidence, decay_relation

confidences = st.floats(0.0, 1.0).map(lambda item: round(item, 6))
ages = st.floats(-100.0, 3000.0)


def edge(confidence: float = 1.0, days: float | None = None) -> Relation:
    result = None if days is None else NOON - days * DAY
    return Relation(RelationName.SUPPORTS, AtomId("1" * 26), confidence, result)


@pytest.mark.parametrize(
    ("days", "number"), [(0, 1.0), (90, 1.0), (90.01, 0.9), (180, 0.9), (181, 0.8), (270, 0.8), (271, 0.7), (5000, 0.1)]
)
def test_an_edge_loses_a_tenth_for_every_window_begun_after_its_grace(days: float, number: float) -> None:
    assert decay_relation(edge(1.0, days), NOON, NOON).confidence == number


def test_an_edge_never_reinforced_counts_from_its_creation() -> None:
    assert decay_relation(edge(), NOON, NOON - 100 * DAY).confidence == 0.9
    assert decay_relation(edge(), NOON, NOON) == edge()


@given(confidences, ages, ages)
def test_decay_composes_over_two_steps(confidence: float, one: float, other: float) -> None:
    sooner, later = (NOON + item * DAY for item in sorted((one, other)))
    at_once = decay_confidence(confidence, NOON, later)
    assert decay_confidence(*decay_confidence(confidence, NOON, sooner), later) == at_once
    assert decay_confidence(*at_once, later) == at_once


@given(confidences, ages)
def test_decay_never_raises_an_edge_nor_lowers_it_below_the_floor(confidence: float, days: float) -> None:
    remaining, _ = decay_confidence(confidence, NOON, NOON + days * DAY)
    assert min(confidence, MIN_CONFIDENCE) <= remaining <= confidence
