"""Arithmetic that a chat model may request instead of doing it itself: days, months and years between dates, sums,
counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal, localcontext
from enum import StrEnum

from lamina.errors import InvalidInput

_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_UNITS = re.compile(r"^[^\d+\-.]{0,4}|[^\d.]{0,12}$")
_MAX_ARGUMENT_LENGTH = 40
_SUM_DIGITS = 3 * _MAX_ARGUMENT_LENGTH


class ArithmeticTool(StrEnum):
    """A computation that a model can request."""

    DAYS_BETWEEN = "days_between"
    MONTHS_BETWEEN = "months_between"
    YEARS_BETWEEN = "years_between"
    DAYS_AFTER = "days_after"
    SUM = "sum"
    COUNT = "count"


def run_tool(tool: ArithmeticTool, arguments: Sequence[str]) -> str:
    """Return the result of a tool for its arguments. Raises InvalidInput if it cannot take them."""
    match tool:
        case ArithmeticTool.DAYS_BETWEEN:
            first, last = _parse_two_days(arguments)
            return str((last - first).days)
        case ArithmeticTool.MONTHS_BETWEEN:
            return str(months_between(*_parse_two_days(arguments)))
        case ArithmeticTool.YEARS_BETWEEN:
            return str(int(months_between(*_parse_two_days(arguments)) / 12))
        case ArithmeticTool.DAYS_AFTER:
            return _compute_days_after(arguments).isoformat()
        case ArithmeticTool.SUM:
            return format_sum([parse_number(argument) for argument in _require_arguments(arguments)])
        case ArithmeticTool.COUNT:
            return str(
                len(dict.fromkeys(" ".join(argument.casefold().split()) for argument in _require_arguments(arguments)))
            )


def months_between(first: date, last: date) -> int:
    """Return the number of whole months between two days; negative if the second day is earlier."""
    if last < first:
        return -months_between(last, first)
    months = (last.year - first.year) * 12 + last.month - first.month
    return months - (last.day < first.day and not _is_month_end(last))


def parse_number(text: str) -> Decimal:
    """Return the number that a text stands for, without a currency sign or unit. Raises InvalidInput if it is no
    number."""
    digits = _UNITS.sub("", text.strip()) if len(text) <= _MAX_ARGUMENT_LENGTH else ""
    if not digits.isascii() or not _NUMBER.fullmatch(digits):
        raise InvalidInput(f"{text[:_MAX_ARGUMENT_LENGTH]!r} is not a number")
    return Decimal(digits.replace(",", ""))


def format_sum(numbers: Sequence[Decimal]) -> str:
    """Return the exact sum as a decimal text."""
    with localcontext(prec=_SUM_DIGITS):
        return f"{sum(numbers, Decimal(0)):f}"


def parse_day(text: str) -> date:
    """Return the day that a text names as YYYY-MM-DD. Raises InvalidInput if it is no date."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInput(f"{text[:_MAX_ARGUMENT_LENGTH]!r} is not a date such as 2026-03-14") from error


def _parse_two_days(arguments: Sequence[str]) -> tuple[date, date]:
    if len(arguments) != 2:
        raise InvalidInput(f"two dates are needed, {len(arguments)} given")
    return parse_day(arguments[0]), parse_day(arguments[1])


def _compute_days_after(arguments: Sequence[str]) -> date:
    if len(arguments) != 2:
        raise InvalidInput(f"a date and a number of days are needed, {len(arguments)} given")
    try:
        return parse_day(arguments[0]) + timedelta(days=int(parse_number(arguments[1])))
    except OverflowError as error:
        raise InvalidInput("that day lies outside the years 1 to 9999") from error


def _require_arguments(arguments: Sequence[str]) -> Sequence[str]:
    if not arguments:
        raise InvalidInput("at least one argument is needed, none given")
    return arguments


def _is_month_end(day: date) -> bool:
    return day == date.max or (day + timedelta(days=1)).day == 1
