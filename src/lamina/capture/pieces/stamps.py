"""Timestamps of chat programs: their format is inferred from all of them together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

_HALF = r"(?:[ \u202f\u00a0]?[AaPp]\.?[Mm]\.?)?"
_CLOCK = rf"\d{{1,2}}:\d{{2}}(?::\d{{2}})?{_HALF}"
_DOTTED = rf"\d{{1,2}}[:.]\d{{2}}(?:[:.]\d{{2}})?{_HALF}"
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
DATED = (
    rf"(?:\d{{4}}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_DATE},?[ T]{{1,2}}{_DOTTED})"
)
"""A timestamp with a date. Only next to a date may the clock have a dot: 1.10 alone is a number."""
STAMP = rf"(?:{DATED}|{_CLOCK})"

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\S+")
_PARTS = re.compile(
    r"(?:(?P<one>\d{1,4})(?P<sign>[-/.])(?P<two>\d{1,2})[-/.](?P<three>\d{1,4}),?[ T]{1,2})?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?[ \u202f\u00a0]?(?P<half>[AaPp])?\.?[Mm]?\.?"
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A timestamp as parsed: the numbers of its date, its clock time, and how they are written."""

    numbers: tuple[int, int, int] | None
    dotted: bool
    clock: time
    halves: bool


def has_day(stamp: str) -> bool:
    """Return whether a timestamp contains a date."""
    return bool(_ISO.fullmatch(stamp)) or bool((parts := _PARTS.fullmatch(stamp)) and parts["one"])


def moments(stamps: Sequence[str | None], on: date | None) -> list[datetime | None]:
    """Return the moment of each timestamp in UTC; None if it is missing or has no date and no `day` is given.

    Whether the month or the day comes first is inferred: from a number above 12, else from the order in which time runs
    forwards, else from AM and PM. Clock times without a date continue from `day`.
    """
    parsed = [_read(stamp) if stamp else None for stamp in stamps]
    month_first = _month_first([item for item in parsed if isinstance(item, _Read)])
    result: list[datetime | None] = []
    latest = datetime.combine(on, time.min, UTC) if on else None
    for item in parsed:
        if isinstance(item, _Read):
            moment = _dated(item, month_first) if item.numbers else _running(item.clock, latest)
        else:
            moment = item
        latest = moment or latest
        result.append(moment)
    return result


def _read(stamp: str) -> _Read | datetime | None:
    if _ISO.fullmatch(stamp):
        try:
            moment = datetime.fromisoformat(stamp)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    parts = _PARTS.fullmatch(stamp)
    clock = _clock(parts) if parts else None
    if parts is None or clock is None:
        return None
    numbers = (int(parts["one"]), int(parts["two"]), int(parts["three"])) if parts["one"] else None
    return _Read(numbers, parts["sign"] == ".", clock, parts["half"] is not None)


def _clock(parts: re.Match[str]) -> time | None:
    hour, half = int(parts["hour"]), (parts["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return time(hour, int(parts["minute"]), int(parts["second"] or 0))
    except ValueError:
        return None


def _month_first(read: Sequence[_Read]) -> bool:
    dated = [item for item in read if item.numbers and item.numbers[0] < 100]
    if any(day.dotted or (day.numbers and day.numbers[0] > 12) for day in dated):
        return False
    if any(day.numbers and day.numbers[1] > 12 for day in dated):
        return True
    forwards = {first: _runs_forwards([_dated(day, first) for day in dated]) for first in (True, False)}
    if forwards[True] != forwards[False]:
        return forwards[True]
    return any(day.halves for day in dated)


def _runs_forwards(found: Sequence[datetime | None]) -> bool:
    dated = [moment for moment in found if moment is not None]
    return all(earlier <= later for earlier, later in pairwise(dated))


def _dated(read: _Read, month_first: bool) -> datetime | None:
    """Return the moment of a timestamp with a date; None if there is no such day."""
    assert read.numbers is not None
    first, second, third = read.numbers
    if first > 99:
        year, month, day = first, second, third
    else:
        month, day = (first, second) if month_first else (second, first)
        year = third if third > 99 else 2000 + third
    try:
        return datetime.combine(date(year, month, day), read.clock, UTC)
    except ValueError:
        return None


def _running(clock: time, last: datetime | None) -> datetime | None:
    """Return the next moment at which the clock shows this time.

    A step back of a few hours is disorder, a longer one means midnight has passed.
    """
    if last is None:
        return None
    moment = datetime.combine(last.date(), clock, UTC)
    back = last - moment
    return moment + timedelta(days=1) if back > timedelta(hours=6) and last.date() < date.max else moment
