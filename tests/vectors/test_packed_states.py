"""Token states in few bits: what is left of them, and that the coarse can be read from the fine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lamina.vectors.integer_vectors import Floats
from lamina.vectors.stored_vectors import level_step, nibbles_to_signs, to_nibbles, to_signs
from unit_vectors import packed_levels, unit_vectors

WIDTH = 16
floats = st.floats(-1, 1, width=32)


@pytest.mark.parametrize("width", [64, 384])
def test_a_state_takes_a_bit_or_half_a_byte_a_dimension(width: int) -> None:
    states = unit_vectors(7, width, 1)
    assert len(to_signs(states)) == 7 * width // 8
    assert len(to_nibbles(states)) == 7 * width // 2
    assert to_signs(states[:0]) == to_nibbles(states[:0]) == nibbles_to_signs(b"", width) == b""


@settings(deadline=None)
@given(arrays(np.float32, (3, WIDTH), elements=floats))
def test_signs_read_from_levels_are_the_signs_of_the_states(states: Floats) -> None:
    assert nibbles_to_signs(to_nibbles(states), WIDTH) == to_signs(states)


@settings(deadline=None)
@given(arrays(np.float32, (3, WIDTH), elements=floats))
def test_every_dimension_is_at_its_nearest_level(states: Floats) -> None:
    size = level_step(WIDTH)
    result = packed_levels(to_nibbles(states), WIDTH)
    assert set(np.unique(np.abs(result))) <= set(range(1, 16, 2))
    inside = np.abs(states) <= 8 * size
    assert (np.abs(states - result * size / 2)[inside] <= size / 2 * 1.0001).all()
    assert (result[~inside] == np.where(states[~inside] > 0, 15, -15)).all()


def test_four_bits_keep_a_state_and_one_bit_its_direction() -> None:
    states = unit_vectors(200, 384, 5)
    fine = packed_levels(to_nibbles(states), 384) * level_step(384) / 2
    coarse = np.where(states > 0, 1, -1) / np.sqrt(384)
    assert ((states * fine).sum(axis=1) / np.linalg.norm(fine, axis=1)).min() > 0.98
    assert 0.7 < (states * coarse).sum(axis=1).mean() < 0.85


def test_a_state_is_packed_the_same_in_any_batch() -> None:
    states = unit_vectors(9, 384, 6)
    for pack in (to_signs, to_nibbles):
        assert b"".join(pack(states[n : n + 1]) for n in range(9)) == pack(states)
