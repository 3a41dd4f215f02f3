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
_LONGEST = 40
_DIGITS = 3 * _LONGEST


class Tool(StrEnum):
    """A computation that a model can request."""

    DAYS_BETWEEN = "days_between"
    MONTHS_BETWEEN = "months_between"
    YEARS_BETWEEN = "years_between"
    DAYS_AFTER = "days_after"
    SUM = "sum"
    COUNT = "count"


def work_out(tool: Tool, arguments: Sequence[str]) -> str:
    """Return the result of a tool for its arguments. Raises InvalidInput if it cannot take them."""
    match tool:
        case Tool.DAYS_BETWEEN:
            first, last = _two_days(arguments)
            return str((last - first).days)
        case Tool.MONTHS_BETWEEN:
            return str(months_between(*_two_days(arguments)))
        case Tool.YEARS_BETWEEN:
            return str(int(months_between(*_two_days(arguments)) / 12))
        case Tool.DAYS_AFTER:
            return _days_after(arguments).isoformat()
        case Tool.SUM:
            return total([number(argument) for argument in _some(arguments)])
        case Tool.COUNT:
            return str(len(dict.fromkeys(" ".join(argument.casefold().split()) for argument in _some(arguments))))


def months_between(first: date, last: date) -> int:
    """Return the number of whole months between two days; negative if the second day is earlier."""
    if last < first:
        return -months_between(last, first)
    months = (last.year - first.year) * 12 + last.month - first.month
    return months - (last.day < first.day and not _is_month_end(last))


def number(text: str) -> Decimal:
    """Return the number that a text stands for, without a currency sign or unit. Raises InvalidInput if it is no
    number."""
    digits = _UNITS.sub("", text.strip()) if len(text) <= _LONGEST else ""
    if not digits.isascii() or not _NUMBER.fullmatch(digits):
        raise InvalidInput(f"{text[:_LONGEST]!r} is not a number")
    return Decimal(digits.replace(",", ""))


def total(numbers: Sequence[Decimal]) -> str:
    """Return the exact sum as a decimal text."""
    with localcontext(prec=_DIGITS):
        return f"{sum(numbers, Decimal(0)):f}"


def day(text: str) -> date:
    """Return the day that a text names as YYYY-MM-DD. Raises InvalidInput if it is no date."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInput(f"{text[:_LONGEST]!r} is not a date such as 2026-03-14") from error


def _two_days(arguments: Sequence[str]) -> tuple[date, date]:
    if len(arguments) != 2:
        raise InvalidInput(f"two dates are needed, {len(arguments)} given")
    return day(arguments[0]), day(arguments[1])


def _days_after(arguments: Sequence[str]) -> date:
    if len(arguments) != 2:
        raise InvalidInput(f"a date and a number of days are needed, {len(arguments)} given")
    try:
        return day(arguments[0]) + timedelta(days=int(number(arguments[1])))
    except OverflowError as error:
        raise InvalidInput("that day lies outside the years 1 to 9999") from error


def _some(arguments: Sequence[str]) -> Sequence[str]:
    if not arguments:
        raise InvalidInput("at least one argument is needed, none given")
    return arguments


def _is_month_end(it: date) -> bool:
    return it == date.max or (it + timedelta(days=1)).day == 1
