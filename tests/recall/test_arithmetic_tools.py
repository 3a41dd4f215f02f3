"""Arithmetic done for a model."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.errors import InvalidInput
from lamina.recall.cited_answer import ArithmeticTool, format_sum, months_between, parse_number, run_tool

DAYS = st.dates(date(1600, 1, 1), date(2400, 1, 1))


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        (ArithmeticTool.DAYS_BETWEEN, ["2023-05-07", "2023-06-01"], "25"),
        (ArithmeticTool.DAYS_BETWEEN, ["2024-02-28", "2024-03-01"], "2"),
        (ArithmeticTool.DAYS_BETWEEN, ["2023-06-01", "2023-05-07"], "-25"),
        (ArithmeticTool.MONTHS_BETWEEN, ["2023-01-31", "2023-02-28"], "1"),
        (ArithmeticTool.MONTHS_BETWEEN, ["2023-01-15", "2023-03-14"], "1"),
        (ArithmeticTool.YEARS_BETWEEN, ["1990-06-15", "2026-06-14"], "35"),
        (ArithmeticTool.YEARS_BETWEEN, ["1990-06-15", "2026-06-15"], "36"),
        (ArithmeticTool.YEARS_BETWEEN, ["2026-06-15", "1990-06-16"], "-35"),
        (ArithmeticTool.DAYS_AFTER, ["2023-12-31", "1"], "2024-01-01"),
        (ArithmeticTool.DAYS_AFTER, ["2024-03-01", "-1 day"], "2024-02-29"),
        (ArithmeticTool.SUM, ["$1,200.50", "3 km", "-0.5", "€10"], "1213.00"),
        (ArithmeticTool.SUM, ["0.1", "0.2"], "0.3"),
        (ArithmeticTool.COUNT, ["tea", "Tea ", "coffee"], "2"),
    ],
)
def test_arithmetic_is_computed(tool: ArithmeticTool, arguments: list[str], result: str) -> None:
    assert run_tool(tool, arguments) == result


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (ArithmeticTool.DAYS_BETWEEN, ["2023-05-07"]),
        (ArithmeticTool.DAYS_BETWEEN, ["2023-05-07", "yesterday"]),
        (ArithmeticTool.DAYS_BETWEEN, ["2023-02-30", "2023-03-01"]),
        (ArithmeticTool.DAYS_AFTER, ["9999-12-31", "1"]),
        (ArithmeticTool.DAYS_AFTER, ["2023-01-01", "9" * 30]),
        (ArithmeticTool.DAYS_AFTER, ["2023-01-01"]),
        (ArithmeticTool.SUM, []),
        (ArithmeticTool.SUM, ["many"]),
        (ArithmeticTool.SUM, ["1e9"]),
        (ArithmeticTool.SUM, ["3 of 4"]),
        (ArithmeticTool.SUM, ["٣"]),
        (ArithmeticTool.SUM, ["9" * 41]),
        (ArithmeticTool.COUNT, []),
    ],
)
def test_impossible_arithmetic_is_refused(tool: ArithmeticTool, arguments: list[str]) -> None:
    with pytest.raises(InvalidInput):
        run_tool(tool, arguments)


@given(DAYS, DAYS)
def test_days_between_and_days_after_are_inverse(first: date, last: date) -> None:
    days = run_tool(ArithmeticTool.DAYS_BETWEEN, [first.isoformat(), last.isoformat()])
    assert run_tool(ArithmeticTool.DAYS_AFTER, [first.isoformat(), days]) == last.isoformat()


@given(DAYS, DAYS)
def test_whole_months_fit_between_two_days(first: date, last: date) -> None:
    months = months_between(first, last)
    assert months == -months_between(last, first)
    assert abs(abs(months) * 30.44 - abs((last - first).days)) <= 32


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=20), st.integers(0, 4))
def test_sums_are_exact(numbers: list[int], places: int) -> None:
    result = [f"{Decimal(count).scaleb(-places):f}" for count in numbers]
    assert Decimal(run_tool(ArithmeticTool.SUM, result)) == Decimal(sum(numbers)).scaleb(-places)


@given(st.sampled_from(ArithmeticTool), st.lists(st.text(max_size=50), max_size=5))
def test_no_arguments_break_a_tool(tool: ArithmeticTool, arguments: list[str]) -> None:
    try:
        assert run_tool(tool, arguments)
    except InvalidInput:
        return


def test_a_number_is_parsed_beside_its_unit() -> None:
    assert parse_number("USD 12") == parse_number("12 dollars") == Decimal(12)
    assert format_sum([]) == "0"
    assert run_tool(ArithmeticTool.DAYS_AFTER, [(date(2024, 1, 1) + timedelta(1)).isoformat(), "0"]) == "2024-01-02"
