"""In how many bits the vectors of a memory are kept, by what is left of it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.dream.age_step import HYSTERESIS, choose_bits
from lamina.vectors.quantisation import PRECISIONS

retentions = st.floats(0.0, 1.0)
precisions = st.sampled_from(PRECISIONS)


@pytest.mark.parametrize(
    ("retention", "bits"), [(1.0, 32), (0.86, 32), (0.74, 8), (0.56, 8), (0.44, 4), (0.26, 4), (0.14, 2), (0.0, 2)]
)
def test_away_from_the_thresholds_retention_alone_decides(retention: float, bits: int) -> None:
    assert {choose_bits(retention, current) for current in PRECISIONS} == {bits}


@pytest.mark.parametrize(("border", "above", "below"), [(0.8, 32, 8), (0.5, 8, 4), (0.2, 4, 2)])
def test_at_a_threshold_the_precision_stays(border: float, above: int, below: int) -> None:
    for near in (border - 0.049, border, border + 0.05):
        assert (choose_bits(near, above), choose_bits(near, below)) == (above, below)
    assert choose_bits(border - 0.051, above) == below
    assert choose_bits(border + 0.051, below) == above


@given(retentions, retentions, precisions)
def test_higher_retention_never_gives_fewer_bits(one: float, other: float, current: int) -> None:
    assert choose_bits(min(one, other), current) <= choose_bits(max(one, other), current)


@given(retentions, precisions, precisions)
def test_more_bits_before_never_give_fewer_after(retention: float, one: int, other: int) -> None:
    assert choose_bits(retention, min(one, other)) <= choose_bits(retention, max(one, other))


@given(retentions, precisions)
def test_the_decision_is_idempotent(retention: float, current: int) -> None:
    once = choose_bits(retention, current)
    assert once in PRECISIONS and choose_bits(retention, once) == once


@given(st.floats(0.0, 1.0 - HYSTERESIS), st.lists(st.floats(0.0, HYSTERESIS), max_size=20), precisions)
def test_small_changes_never_cause_oscillation(low: float, steps: list[float], current: int) -> None:
    result = [choose_bits(low, current)]
    for step in steps:
        result.append(choose_bits(low + step, result[-1]))
    turns = {(one > other) - (one < other) for one, other in pairwise(result)} - {0}
    assert len(turns) <= 1


def test_every_vector_begins_at_full_precision() -> None:
    assert (choose_bits(1.0), choose_bits(0.8), choose_bits(0.6)) == (32, 32, 8)
