from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.vectors.integer_vectors import Floats
from lamina.vectors.rotation import BATCH_ROWS, padded_width, rotation_for

WIDTHS = (1, 2, 7, 63, 64, 65, 100, 256, 300, 384, 768, 1000, 1024, 1536)

widths = st.sampled_from(WIDTHS)
seeds = st.integers(0, 2**32 - 1)


def random_rows(rows: int, width: int, seed: int) -> Floats:
    return np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)


@pytest.mark.parametrize(
    ("width", "padded"),
    [
        (1, 64),
        (63, 64),
        (64, 64),
        (65, 128),
        (100, 128),
        (300, 320),
        (384, 384),
        (768, 768),
        (1000, 1024),
        (1536, 1536),
    ],
)
def test_only_widths_without_a_large_power_of_two_are_padded(width: int, padded: int) -> None:
    assert padded_width(width) == padded
    assert rotation_for(width).padded == padded
    assert rotation_for(width).apply(random_rows(2, width, 1)).shape == (2, padded)


def test_blocks_are_the_largest_possible_power_of_two() -> None:
    assert [rotation_for(width).block for width in (64, 300, 384, 768, 1024, 1536)] == [64, 64, 128, 256, 1024, 512]


@pytest.mark.parametrize("width", [64, 128, 320, 384])
def test_the_rotation_is_orthogonal(width: int) -> None:
    turned = rotation_for(width).apply(np.eye(width, dtype=np.float32)).astype(np.float64)
    assert np.abs(turned @ turned.T - np.eye(width)).max() < 1e-6


@settings(deadline=None, max_examples=40)
@given(widths, st.integers(0, 5), seeds)
def test_lengths_and_angles_are_preserved_and_the_inverse_restores_the_vector(
    width: int, count: int, seed: int
) -> None:
    rows, turn = random_rows(count, width, seed), rotation_for(width)
    turned = turn.apply(rows)
    products = rows.astype(np.float64) @ rows.astype(np.float64).T
    scale = max(1.0, float(np.abs(products).max(initial=0)))
    assert np.abs(turned.astype(np.float64) @ turned.astype(np.float64).T - products).max(initial=0) < 1e-5 * scale
    assert np.abs(turn.invert(turned) - rows).max(initial=0) < 1e-5 * np.sqrt(scale)


@settings(deadline=None, max_examples=30)
@given(widths, st.integers(1, 2 * BATCH_ROWS + 3), seeds)
def test_a_row_rotates_the_same_in_any_batch(width: int, count: int, seed: int) -> None:
    rows, turn = random_rows(count, width, seed), rotation_for(width)
    order = np.random.default_rng(seed).permutation(count)
    assert turn.apply(rows[order]).tobytes() == turn.apply(rows)[order].tobytes()
    assert turn.apply(rows[order[:1]]).tobytes() == turn.apply(rows)[order[:1]].tobytes()


def test_a_single_large_dimension_is_spread_over_all_of_them() -> None:
    for width in (300, 384, 768, 1024):
        turned = rotation_for(width).apply(np.eye(width, dtype=np.float32))
        assert np.abs(turned).max() * np.sqrt(turned.shape[1]) < 6


def test_the_rotation_of_a_width_is_the_same_on_every_machine() -> None:
    for width, digest in (
        (384, "3ba6923e16cc83a61b02a36c7611a4c48029dac3e3ec610a6c3a99bb683ce41b"),
        (300, "fe55c3dc1a6b4615a6d4a68d1050c86f576c5c51cfccb746905043150c2fd86e"),
    ):
        turn = rotation_for(width)
        text = b"".join(order.astype("<i8").tobytes() for order in turn.orders)
        text += b"".join(sign.astype("<f4").tobytes() for sign in turn.signs)
        whole = (np.arange(2 * width).reshape(2, width) * 37 % 101 - 50).astype(np.float32)
        text += turn.apply(whole).astype("<f4").tobytes()
        assert hashlib.sha256(text).hexdigest() == digest


def test_an_empty_vector_cannot_be_rotated() -> None:
    with pytest.raises(ValueError, match="at least one dimension"):
        rotation_for(0)
