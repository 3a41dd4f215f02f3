"""Arithmetic done for a model."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.errors import InvalidInput
from lamina.recall.answer_tools import Tool, months_between, number, total, work_out

DAYS = st.dates(date(1600, 1, 1), date(2400, 1, 1))


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        (Tool.DAYS_BETWEEN, ["2023-05-07", "2023-06-01"], "25"),
        (Tool.DAYS_BETWEEN, ["2024-02-28", "2024-03-01"], "2"),
        (Tool.DAYS_BETWEEN, ["2023-06-01", "2023-05-07"], "-25"),
        (Tool.MONTHS_BETWEEN, ["2023-01-31", "2023-02-28"], "1"),
        (Tool.MONTHS_BETWEEN, ["2023-01-15", "2023-03-14"], "1"),
        (Tool.YEARS_BETWEEN, ["1990-06-15", "2026-06-14"], "35"),
        (Tool.YEARS_BETWEEN, ["1990-06-15", "2026-06-15"], "36"),
        (Tool.YEARS_BETWEEN, ["2026-06-15", "1990-06-16"], "-35"),
        (Tool.DAYS_AFTER, ["2023-12-31", "1"], "2024-01-01"),
        (Tool.DAYS_AFTER, ["2024-03-01", "-1 day"], "2024-02-29"),
        (Tool.SUM, ["$1,200.50", "3 km", "-0.5", "€10"], "1213.00"),
        (Tool.SUM, ["0.1", "0.2"], "0.3"),
        (Tool.COUNT, ["tea", "Tea ", "coffee"], "2"),
    ],
)
def test_things_are_worked_out(tool: Tool, arguments: list[str], result: str) -> None:
    assert work_out(tool, arguments) == result


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (Tool.DAYS_BETWEEN, ["2023-05-07"]),
        (Tool.DAYS_BETWEEN, ["2023-05-07", "yesterday"]),
        (Tool.DAYS_BETWEEN, ["2023-02-30", "2023-03-01"]),
        (Tool.DAYS_AFTER, ["9999-12-31", "1"]),
        (Tool.DAYS_AFTER, ["2023-01-01", "9" * 30]),
        (Tool.DAYS_AFTER, ["2023-01-01"]),
        (Tool.SUM, []),
        (Tool.SUM, ["many"]),
        (Tool.SUM, ["1e9"]),
        (Tool.SUM, ["3 of 4"]),
        (Tool.SUM, ["٣"]),
        (Tool.SUM, ["9" * 41]),
        (Tool.COUNT, []),
    ],
)
def test_what_cannot_be_worked_out_is_refused(tool: Tool, arguments: list[str]) -> None:
    with pytest.raises(InvalidInput):
        work_out(tool, arguments)


@given(DAYS, DAYS)
def test_days_between_and_days_after_are_inverse(first: date, last: date) -> None:
    days = work_out(Tool.DAYS_BETWEEN, [first.isoformat(), last.isoformat()])
    assert work_out(Tool.DAYS_AFTER, [first.isoformat(), days]) == last.isoformat()


@given(DAYS, DAYS)
def test_whole_months_fit_between_two_days(first: date, last: date) -> None:
    months = months_between(first, last)
    assert months == -months_between(last, first)
    assert abs(abs(months) * 30.44 - abs((last - first).days)) <= 32


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=20), st.integers(0, 4))
def test_sums_are_exact(numbers: list[int], places: int) -> None:
    told = [f"{Decimal(each).scaleb(-places):f}" for each in numbers]
    assert Decimal(work_out(Tool.SUM, told)) == Decimal(sum(numbers)).scaleb(-places)


@given(st.sampled_from(Tool), st.lists(st.text(max_size=50), max_size=5))
def test_no_arguments_break_a_tool(tool: Tool, arguments: list[str]) -> None:
    try:
        assert work_out(tool, arguments)
    except InvalidInput:
        return


def test_a_number_is_read_beside_its_unit() -> None:
    assert number("USD 12") == number("12 dollars") == Decimal(12)
    assert total([]) == "0"
    assert work_out(Tool.DAYS_AFTER, [(date(2024, 1, 1) + timedelta(1)).isoformat(), "0"]) == "2024-01-02"
