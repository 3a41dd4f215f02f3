"""Timestamps of chat programs: their format is inferred from all of them together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

_AM_PM = r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\.?)?"
_CLOCK = rf"\d{{1,2}}:\d{{2}}(?::\d{{2}})?{_AM_PM}"
_DOTTED = rf"\d{{1,2}}[:.]\d{{2}}(?:[:.]\d{{2}})?{_AM_PM}"
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
DATED_TIMESTAMP = (
    rf"(?:\d{{4}}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_DATE},?[ T]{{1,2}}{_DOTTED})"
)
"""A timestamp with a date. Only next to a date may the clock have a dot: 1.10 alone is a number."""
TIMESTAMP = rf"(?:{DATED_TIMESTAMP}|{_CLOCK})"

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\S+")
_PARTS = re.compile(
    r"(?:(?P<one>\d{1,4})(?P<sign>[-/.])(?P<two>\d{1,2})[-/.](?P<three>\d{1,4}),?[ T]{1,2})?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?[ \u202f\u00a0]?(?P<half>[AaPp])?\.?[Mm]?\.?"
)


@dataclass(frozen=True, slots=True)
class _ParsedTimestamp:
    """A timestamp as parsed: the numbers of its date, its clock time, and how they are written."""

    numbers: tuple[int, int, int] | None
    has_dots: bool
    clock: time
    has_am_pm: bool


def has_day(timestamp: str) -> bool:
    """Return whether a timestamp contains a date."""
    return bool(_ISO.fullmatch(timestamp)) or bool((parts := _PARTS.fullmatch(timestamp)) and parts["one"])


def resolve_timestamps(timestamps: Sequence[str | None], day: date | None) -> list[datetime | None]:
    """Return the moment of each timestamp in UTC; None if it is missing or has no date and no `day` is given.

    Whether the month or the day comes first is inferred: from a number above 12, else from the order in which time runs
    forwards, else from AM and PM. Clock times without a date continue from `day`.
    """
    parsed = [_parse_timestamp(stamp) if stamp else None for stamp in timestamps]
    month_first = _is_month_first([item for item in parsed if isinstance(item, _ParsedTimestamp)])
    result: list[datetime | None] = []
    latest = datetime.combine(day, time.min, UTC) if day else None
    for item in parsed:
        if isinstance(item, _ParsedTimestamp):
            moment = _combine_date(item, month_first) if item.numbers else _next_time(item.clock, latest)
        else:
            moment = item
        latest = moment or latest
        result.append(moment)
    return result


def _parse_timestamp(timestamp: str) -> _ParsedTimestamp | datetime | None:
    if _ISO.fullmatch(timestamp):
        try:
            moment = datetime.fromisoformat(timestamp)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    parts = _PARTS.fullmatch(timestamp)
    clock = _parse_clock(parts) if parts else None
    if parts is None or clock is None:
        return None
    numbers = (int(parts["one"]), int(parts["two"]), int(parts["three"])) if parts["one"] else None
    return _ParsedTimestamp(numbers, parts["sign"] == ".", clock, parts["half"] is not None)


def _parse_clock(parts: re.Match[str]) -> time | None:
    hour, half = int(parts["hour"]), (parts["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return time(hour, int(parts["minute"]), int(parts["second"] or 0))
    except ValueError:
        return None


def _is_month_first(timestamps: Sequence[_ParsedTimestamp]) -> bool:
    dated = [item for item in timestamps if item.numbers and item.numbers[0] < 100]
    if any(day.has_dots or (day.numbers and day.numbers[0] > 12) for day in dated):
        return False
    if any(day.numbers and day.numbers[1] > 12 for day in dated):
        return True
    forwards = {first: _runs_forwards([_combine_date(day, first) for day in dated]) for first in (True, False)}
    if forwards[True] != forwards[False]:
        return forwards[True]
    return any(day.has_am_pm for day in dated)


def _runs_forwards(moments: Sequence[datetime | None]) -> bool:
    dated = [moment for moment in moments if moment is not None]
    return all(earlier <= later for earlier, later in pairwise(dated))


def _combine_date(timestamp: _ParsedTimestamp, is_month_first: bool) -> datetime | None:
    """Return the moment of a timestamp with a date; None if there is no such day."""
    assert timestamp.numbers is not None
    first, second, third = timestamp.numbers
    if first > 99:
        year, month, day = first, second, third
    else:
        month, day = (first, second) if is_month_first else (second, first)
        year = third if third > 99 else 2000 + third
    try:
        return datetime.combine(date(year, month, day), timestamp.clock, UTC)
    except ValueError:
        return None


def _next_time(clock: time, last: datetime | None) -> datetime | None:
    """Return the next moment at which the clock shows this time.

    A step back of a few hours is disorder, a longer one means midnight has passed.
    """
    if last is None:
        return None
    moment = datetime.combine(last.date(), clock, UTC)
    back = last - moment
    return moment + timedelta(days=1) if back > timedelta(hours=6) and last.date() < date.max else moment
