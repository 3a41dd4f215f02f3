"""Convert times to and from text (ISO 8601 in UTC, parsed leniently, written in one way) and milliseconds since
1970."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

TimeInput = datetime | date | str
"""A time, a day, or the ISO text of either; without a zone it is UTC."""

_BARE_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def format_time(moment: datetime) -> str:
    """Return the time in UTC, with milliseconds only if it has them."""
    moment = to_utc(moment)
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")[:-6] + "Z"


def parse_time(text: str, *, end: bool = False) -> datetime:
    """Return the time that a text names, in UTC unless it has a zone; ValueError if it is none.

    With `end`, a bare date means through that day.
    """
    text = text.strip()
    if _BARE_DATE.fullmatch(text):
        day = date.fromisoformat(text)
        return _day_after(day) if end else datetime.combine(day, time.min, UTC)
    try:
        return to_utc(datetime.fromisoformat(text))
    except OverflowError as error:
        raise ValueError(f"{text!r} is outside the years 1 to 9999 in UTC") from error


def parse_time_or_none(text: object) -> datetime | None:
    """Return the time that a text of others names; None if it is missing or names none."""
    try:
        return parse_time(text) if isinstance(text, str) and text else None
    except ValueError:
        return None


def to_utc(moment: datetime) -> datetime:
    """Return the same time as aware UTC, rounded down to the millisecond."""
    if moment.tzinfo is UTC and moment.microsecond % 1000 == 0:
        return moment
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.replace(microsecond=aware.microsecond // 1000 * 1000)


def _day_after(day: date) -> datetime:
    """Return the first moment after a day; for the last possible day its last millisecond."""
    if day == date.max:
        return to_utc(datetime.max)
    return datetime.combine(day + timedelta(days=1), time.min, UTC)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_millis(at: datetime) -> int:
    """Return a moment as milliseconds since 1970."""
    return (at - _EPOCH) // timedelta(milliseconds=1)


def from_millis(at: int) -> datetime:
    """Return the moment of milliseconds since 1970, in UTC."""
    return datetime.fromtimestamp(at // 1000, UTC).replace(microsecond=at % 1000 * 1000)
