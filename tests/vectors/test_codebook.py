from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from lamina.vectors.quantisation import DISTORTION, PRECISIONS, UNIT, codebook_for

LEVELS = {
    1: (0.7979,),
    2: (0.4528, 1.5104),
    3: (0.2451, 0.7560, 1.3439, 2.1519),
    4: (0.1284, 0.3880, 0.6568, 0.9423, 1.2562, 1.6180, 2.0690, 2.7326),
}
BORDERS = {2: (0.9816,), 3: (0.5005, 1.0500, 1.7479), 4: (0.2582, 0.5224, 0.7995, 1.0993, 1.4371, 1.8435, 2.4008)}
ERROR = {1: 0.363380, 2: 0.117482, 3: 0.034548, 4: 0.009501, 5: 0.002505, 6: 0.000644}
CODED = (2, 4, 8)


def density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def above(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def cells(levels: Sequence[float]) -> list[tuple[float, float]]:
    """The borders on either side of each positive level."""
    halfway = [(one + other) / 2 for one, other in pairwise(levels)]
    return list(zip([0.0, *halfway], [*halfway, math.inf], strict=True))


def centroids(levels: Sequence[float]) -> list[float]:
    return [(density(low) - density(high)) / (above(low) - above(high)) for low, high in cells(levels)]


def error(levels: Sequence[float]) -> float:
    """The mean squared error of a bell curve rounded to these levels and their mirror images."""
    total = 0.0
    for level, (low, high) in zip(levels, cells(levels), strict=True):
        share = above(low) - above(high)
        tail = 0.0 if math.isinf(high) else high * density(high)
        square = share + low * density(low) - tail
        total += square - 2 * level * (density(low) - density(high)) + level * level * share
    return 2 * total


def fixed_point(bits: int) -> list[float]:
    """The levels by Lloyd's iteration, from evenly spaced ones."""
    levels = [3 * (n + 0.5) / 2 ** (bits - 1) for n in range(2 ** (bits - 1))]
    for _ in range(20_000):
        moved = centroids(levels)
        if max(abs(one - other) for one, other in zip(levels, moved, strict=True)) < 1e-12:
            break
        levels = moved
    return levels


def positive(bits: int) -> list[float]:
    return [float(level) for level in codebook_for(bits).levels if level > 0]


@pytest.mark.parametrize("bits", LEVELS)
def test_the_fixed_point_iteration_finds_the_published_levels(bits: int) -> None:
    levels = fixed_point(bits)
    assert levels == pytest.approx(LEVELS[bits], abs=6e-5)
    assert [high for _, high in cells(levels)[:-1]] == pytest.approx(BORDERS.get(bits, ()), abs=6e-5)


@pytest.mark.parametrize("bits", ERROR)
def test_the_error_of_the_levels_is_the_published_one(bits: int) -> None:
    assert error(fixed_point(bits)) == pytest.approx(ERROR[bits], abs=6e-7)


@pytest.mark.parametrize("bits", [2, 4])
def test_the_stored_levels_are_those_of_the_iteration(bits: int) -> None:
    assert positive(bits) == pytest.approx(fixed_point(bits), abs=0.51 / UNIT)
    assert positive(bits) == pytest.approx(LEVELS[bits], abs=6e-5)
    initial = [float(border) for border in codebook_for(bits).borders if border > 0]
    assert initial == pytest.approx(BORDERS[bits], abs=6e-5)


@pytest.mark.parametrize("bits", CODED)
def test_each_level_is_the_mean_of_the_values_rounded_to_it(bits: int) -> None:
    assert positive(bits) == pytest.approx(centroids(positive(bits)), abs=1.5 / UNIT)


@pytest.mark.parametrize("bits", CODED)
def test_levels_ascend_symmetrically_with_borders_halfway(bits: int) -> None:
    book = codebook_for(bits)
    assert len(book.levels) == 2**bits
    assert (np.diff(book.levels) > 0).all()
    assert (book.levels == -book.levels[::-1]).all()
    assert (book.levels * UNIT == book.unit_levels).all()
    middle = (book.levels[1:].astype(np.float64) + book.levels[:-1]) / 2
    assert (book.borders == middle).all()


@pytest.mark.parametrize("bits", CODED)
def test_the_stated_error_is_the_error_of_the_levels(bits: int) -> None:
    assert error(positive(bits)) == pytest.approx(DISTORTION[bits], rel=1e-5)


def test_more_bits_have_less_error_and_the_vector_itself_none() -> None:
    errors = [DISTORTION[bits] for bits in PRECISIONS]
    assert errors == sorted(errors)
    assert errors[0] == 0
    assert math.sqrt(1 - DISTORTION[2]) == pytest.approx(0.9394, abs=6e-5)
    assert math.sqrt(1 - DISTORTION[4]) == pytest.approx(0.9952, abs=6e-5)
    assert math.sqrt(1 - DISTORTION[8]) == pytest.approx(0.99998, abs=6e-6)


@pytest.mark.parametrize("bits", CODED)
def test_a_coordinate_gets_the_nearest_level_and_the_lower_one_on_a_border(bits: int) -> None:
    book = codebook_for(bits)
    assert (book.encode(book.levels) == np.arange(2**bits)).all()
    assert (book.encode(book.borders) == np.arange(2**bits - 1)).all()
    assert (book.encode(np.nextafter(book.borders, np.float32(9))) == np.arange(1, 2**bits)).all()
    drawn = np.random.default_rng(1).standard_normal((50, 40)).astype(np.float32)
    nearest = np.abs(drawn[..., None].astype(np.float64) - book.levels).argmin(axis=-1)
    assert (book.encode(drawn) == nearest).all()
    assert ((book.encode(drawn) >> (bits - 1)) == (drawn > 0)).all()


def test_other_numbers_of_bits_are_refused() -> None:
    for bits in (0, 1, 3, 5, 16, 32):
        with pytest.raises(ValueError, match="8, 4 or 2 bits"):
            codebook_for(bits)
