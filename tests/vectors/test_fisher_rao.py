from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.vectors.fisher_rao import diagonal_distance, frqad, standard_deviation
from lamina.vectors.quantisation import DISTORTION, Doubles

means = st.floats(-50, 50)
deviations = st.floats(0.01, 50)
bells = st.tuples(means, deviations)


def univariate_distance(mean: float, deviation: float, other_mean: float, other_deviation: float) -> float:
    one, other = (np.array([mean]), np.array([deviation])), (np.array([other_mean]), np.array([other_deviation]))
    return diagonal_distance(*one, *other)


def distance_between(one: tuple[float, float], other: tuple[float, float]) -> float:
    return univariate_distance(*one, *other)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ((0, 1), (0, 2), 0.9802581435),
        ((0, 1), (1, 1), 0.9802581435),
        ((0, 1), (1, 2), 1.1893809314),
        ((0.3, 0.5), (-0.2, 0.8), 1.0149027294),
    ],
)
def test_known_distances_are_reproduced(one: tuple[float, float], other: tuple[float, float], distance: float) -> None:
    assert distance_between(one, other) == pytest.approx(distance, abs=1e-10)


def test_dimensions_add_like_the_sides_of_a_right_angle() -> None:
    one, other = (np.array([0.0, 0.0]), np.ones(2)), (np.array([1.0, 0.0]), np.array([1.0, 2.0]))
    assert diagonal_distance(*one, *other) == pytest.approx(2 * math.log(2), abs=1e-12)


@given(bells, bells)
def test_the_distance_equals_the_closed_form(one: tuple[float, float], other: tuple[float, float]) -> None:
    (a, s), (b, t) = one, other
    grown = 1 + ((a - b) ** 2 + 2 * (s - t) ** 2) / (4 * s * t)
    assert distance_between(one, other) == pytest.approx(math.sqrt(2) * math.acosh(grown), rel=1e-6, abs=1e-6)


def test_the_distance_is_the_length_of_the_geodesic() -> None:
    """The way is a half circle once means are divided by √2; its length is added up step by step."""
    (a, s), (b, t) = (0.3, 0.5), (-0.2, 0.8)
    x, y = a / math.sqrt(2), b / math.sqrt(2)
    centre = (y * y + t * t - x * x - s * s) / (2 * (y - x))
    angles = np.linspace(math.atan2(s, x - centre), math.atan2(t, y - centre), 100_001)
    length = math.sqrt(2) * float(np.abs(np.diff(angles) / np.sin((angles[1:] + angles[:-1]) / 2)).sum())
    assert univariate_distance(a, s, b, t) == pytest.approx(length, abs=1e-9)


@given(means, deviations, deviations)
def test_for_equal_means_the_distance_is_the_log_ratio_of_the_deviations(mean: float, s: float, t: float) -> None:
    expected = math.sqrt(2) * abs(math.log(t / s))
    assert univariate_distance(mean, s, mean, t) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(deviations, st.floats(1e-9, 1e-4))
def test_a_small_step_is_measured_in_deviations(s: float, step: float) -> None:
    assert univariate_distance(0, s, step * s, s) == pytest.approx(step, rel=1e-6)


@given(bells, bells, bells)
def test_it_is_a_metric(one: tuple[float, float], other: tuple[float, float], third: tuple[float, float]) -> None:
    assert distance_between(one, one) == 0
    assert distance_between(one, other) == distance_between(other, one)
    assert distance_between(one, other) >= 0
    if one != other:
        assert distance_between(one, other) > 0 or one == pytest.approx(other, rel=1e-12)
    assert distance_between(one, third) <= distance_between(one, other) + distance_between(other, third) + 1e-9


@given(bells, bells, st.floats(0.01, 100), st.floats(-100, 100), st.booleans())
def test_scale_and_translation_do_not_matter(
    one: tuple[float, float], other: tuple[float, float], scale: float, shift: float, mirrored: bool
) -> None:
    sign = -1 if mirrored else 1
    moved = [(sign * scale * mean + shift, scale * deviation) for mean, deviation in (one, other)]
    assert distance_between(moved[0], moved[1]) == pytest.approx(distance_between(one, other), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_very_small_and_very_large_numbers_are_handled(scale: float) -> None:
    assert univariate_distance(0, scale, scale, 2 * scale) == pytest.approx(1.1893809314, abs=1e-9)


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf])
def test_an_invalid_deviation_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        univariate_distance(0, wrong, 0, 1)
    with pytest.raises(ValueError, match="above 0"):
        univariate_distance(0, 1, 0, wrong)


def unit(seed: int, width: int = 384) -> Doubles:
    thrown = np.random.default_rng(seed).standard_normal(width)
    return np.asarray(thrown / np.linalg.norm(thrown), dtype=np.float64)


@pytest.mark.parametrize("bits", [32, 8, 4, 2])
def test_quantisation_adds_its_variance_to_the_error(bits: int) -> None:
    vector = 3 * unit(1)
    expected = math.sqrt(0.01**2 + DISTORTION[bits] * 9 / 384)
    assert standard_deviation(vector, 0.01, bits) == pytest.approx(expected, rel=1e-12)


def test_at_full_precision_it_is_the_plain_distance() -> None:
    one, other = unit(1), unit(2)
    plain = diagonal_distance(one, np.full(384, 0.01), other, np.full(384, 0.02))
    assert frqad(one, 0.01, 32, other, 0.02, 32) == pytest.approx(plain, rel=1e-12)


def test_a_vector_moves_away_from_itself_as_it_loses_bits() -> None:
    vector = unit(3)
    steps = [frqad(vector, 0.01, 32, vector, 0.01, bits) for bits in (32, 8, 4, 2)]
    assert steps[0] == 0
    assert steps == sorted(set(steps))
    expected = math.sqrt(384) * math.sqrt(2) * math.log(standard_deviation(vector, 0.01, 2) / 0.01)
    assert steps[-1] == pytest.approx(expected, rel=1e-9)


def test_another_vector_looks_nearer_at_lower_precision() -> None:
    """Why the distance does not rank: added noise widens the bell curve until it reaches over to the question."""
    result, other = unit(1), unit(2)
    apart_by = [frqad(result, 0.01, 32, other, 0.01, bits) for bits in (32, 4, 2)]
    assert apart_by == sorted(apart_by, reverse=True)


def test_the_distance_is_symmetric() -> None:
    one, other = unit(1), 2 * unit(2)
    assert frqad(one, 0.01, 4, other, 0.03, 2) == frqad(other, 0.03, 2, one, 0.01, 4)


def test_only_vectors_of_one_width_in_known_precisions_are_compared() -> None:
    with pytest.raises(ValueError, match="same width"):
        frqad(unit(1), 0.01, 4, unit(2, 300), 0.01, 4)
    with pytest.raises(ValueError, match="32, 8, 4 or 2 bits"):
        frqad(unit(1), 0.01, 3, unit(2), 0.01, 4)
    with pytest.raises(ValueError, match="above 0"):
        frqad(unit(1), 0.0, 32, unit(2), 0.01, 4)
