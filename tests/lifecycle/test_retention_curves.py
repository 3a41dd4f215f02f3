"""Forgetting curves against their published tables, and what holds of every one of them."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.lifecycle.retention import add_use_bonus, elastic, elastic_blend, elastic_rate, huber, l2, power

Curve = Callable[[float], float]
CURVES: list[Curve] = [l2, huber, elastic, elastic_blend, power]
ages = st.floats(0.0, 1e4)


@pytest.mark.parametrize(
    ("t", "plain", "half", "one", "blend"),
    [
        (0.25, 0.8409, 0.8409, 0.8409, 0.8511),
        (0.5, 0.7071, 0.7071, 0.7071, 0.7200),
        (1, 0.5000, 0.4620, 0.5000, 0.5000),
        (1.5, 0.3536, 0.2170, 0.3267, 0.3225),
        (2, 0.2500, 0.0, 0.1534, 0.1750),
        (3, 0.1250, 0.0, 0.0, 0.0875),
    ],
)
def test_the_curves_agree_with_their_table(t: float, plain: float, half: float, one: float, blend: float) -> None:
    assert round(l2(t), 4) == plain
    assert round(huber(t, 0.5), 4) == half
    assert round(huber(t), 4) == one
    assert round(elastic_blend(t), 4) == blend


@pytest.mark.parametrize(
    ("curve", "crossings"),
    [
        (l2, (0.322, 1, 2.322, 2.737)),
        (lambda t: huber(t, 0.5), (0.322, 0.923, 1.535, 1.637)),
        (huber, (0.322, 1, 1.866, 2.010)),
        (elastic_blend, (0.344, 1, 1.909, 2.222)),
    ],
)
def test_the_curves_cross_the_tiers_where_the_table_says(curve: Curve, crossings: tuple[float, ...]) -> None:
    result = [_crossing(curve, level) for level in (0.8, 0.5, 0.2, 0.15)]
    assert [round(item, 3) for item in result] == list(crossings)


def _crossing(curve: Curve, level: float) -> float:
    low, high = 0.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > level else (low, middle)
    return low


@pytest.mark.parametrize("curve", CURVES)
def test_retention_is_one_at_zero_and_half_after_one_half_life(curve: Curve) -> None:
    assert curve(0.0) == 1.0
    assert curve(1.0) == pytest.approx(0.5, abs=1e-12)
    assert l2(1.0) == 0.5


@pytest.mark.parametrize("curve", CURVES)
@given(one=ages, other=ages)
def test_retention_is_between_zero_and_one_and_never_grows(curve: Curve, one: float, other: float) -> None:
    sooner, later = sorted((one, other))
    assert 0.0 <= curve(later) <= curve(sooner) <= 1.0


@pytest.mark.parametrize("curve", CURVES)
@given(t=st.floats(0.0, 50.0))
def test_every_curve_is_continuous(curve: Curve, t: float) -> None:
    assert curve(t) == pytest.approx(curve(t + 1e-7), abs=1e-6)


@given(st.floats(0.0, 200.0), st.floats(0.0, 200.0))
def test_l2_composes_over_consecutive_intervals(a: float, b: float) -> None:
    assert l2(a + b) == pytest.approx(l2(a) * l2(b), rel=1e-12)


@given(t=ages, delta=st.floats(0.1, 3.0))
def test_huber_is_l2_before_its_joint_and_never_above_it(t: float, delta: float) -> None:
    assert huber(t, delta) <= l2(t)
    if t <= delta:
        assert huber(t, delta) == l2(t)


@pytest.mark.parametrize("delta", [0.5, 1.0, 2.0])
def test_huber_is_smooth_at_its_joint_and_straight_after_it(delta: float) -> None:
    step = 1e-6
    path = (huber(delta, delta) - huber(delta - step, delta)) / step
    right = (huber(delta + step, delta) - huber(delta, delta)) / step
    assert path == pytest.approx(-log(2) * l2(delta), abs=1e-6)
    assert right == pytest.approx(path, abs=1e-6)
    past = [huber(delta + n * 0.1, delta) for n in (1, 2, 3)]
    assert past[2] - 2 * past[1] + past[0] == pytest.approx(0.0, abs=1e-15)
    assert huber(delta + 1 / log(2) + 1e-9, delta) == 0.0
    assert huber(delta + 1 / log(2) - 1e-3, delta) > 0.0


def test_after_two_half_lives_l2_retains_more_than_huber() -> None:
    assert l2(2.0) == 0.25
    assert huber(2.0, 0.5) == 0.0
    assert power(4.0) > l2(4.0) > huber(4.0)


@pytest.mark.parametrize(("a", "rate", "end"), [(0.25, 0.5108, 3.151), (0.5, 0.4055, 2.710)])
def test_elastic_is_calibrated_and_sparse(a: float, rate: float, end: float) -> None:
    assert round(elastic_rate(a), 4) == rate
    assert elastic(end + 1e-3, 1.0, a) == 0.0
    assert elastic(end - 1e-3, 1.0, a) > 0.0


def test_elastic_after_two_half_lives_and_without_its_fixed_part() -> None:
    assert round(elastic(2.0), 3) == 0.200
    assert elastic(1.7, 1.0, 1e-9) == pytest.approx(l2(1.7), abs=1e-6)
    assert elastic(1.7, 1.0, 0.0) == l2(1.7)


def test_the_blend_stays_positive_where_elastic_reaches_zero() -> None:
    assert elastic_blend(30.0) > 0.0 == elastic(30.0)


@pytest.mark.parametrize("strength", [0.5, 1.0, 1.5])
def test_soft_thresholding_in_small_steps_converges_to_the_flow(strength: float) -> None:
    many, rate = 200_000, elastic_rate()
    remaining, step = strength, 1.3 / many
    for _ in range(many):
        remaining = max(0.0, remaining * (1 - rate * step) - 0.25 * rate * step)
    assert remaining == pytest.approx(elastic(1.3, strength), abs=1e-5)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.7, 1.0])
def test_the_blend_is_one_half_after_one_half_life_for_every_mix(rho: float) -> None:
    assert elastic_blend(1.0, rho) == 0.5
    assert elastic_blend(1.7, 0.0) == l2(1.7)
    assert elastic_blend(2.0, 1.0) == elastic_blend(7.0, 1.0) == 0.0


def test_power_agrees_with_its_table_and_with_l2_in_the_limit() -> None:
    result = [power(t) for t in (0.25, 0.5, 1, 2, 4, 10)]
    assert [round(item, 4) for item in result] == [0.7559, 0.6325, 0.5, 0.378, 0.2774, 0.1796]
    for t in (0.5, 1.0, 2.0, 4.0):
        assert power(t, 1e4) == pytest.approx(l2(t), abs=1e-4)
        assert power(1.0, t) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(("uses", "lift"), [(0, 0.0), (1, 0.0347), (20, 0.1522), (403, 0.3), (10_000, 0.3)])
def test_use_raises_retention(uses: int, lift: float) -> None:
    assert round(add_use_bonus(0.0, uses), 4) == lift
    assert add_use_bonus(0.9, 10_000) == 1.0


def test_the_use_bonus_is_full_at_the_403rd_use() -> None:
    assert add_use_bonus(0.0, 402) < 0.3 == add_use_bonus(0.0, 403)


@given(st.floats(0.0, 1.0), st.integers(0, 1000))
def test_one_more_use_never_lowers_retention(number: float, uses: int) -> None:
    assert number <= add_use_bonus(number, uses) <= add_use_bonus(number, uses + 1) <= 1.0
