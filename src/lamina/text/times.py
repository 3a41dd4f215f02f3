"""Moments as text: ISO 8601 in UTC, read leniently and written one way."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_BARE_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def format_time(moment: datetime) -> str:
    """The moment in UTC, with milliseconds only where it has them."""
    moment = moment.astimezone(UTC)
    spec = "milliseconds" if moment.microsecond else "seconds"
    return moment.replace(tzinfo=None).isoformat(timespec=spec) + "Z"


def parse_time(text: str, *, end: bool = False) -> datetime:
    """The moment a text names; without a zone it is UTC. A bare date as an `end` means through that day."""
    text = text.strip()
    if _BARE_DATE.fullmatch(text):
        day = date.fromisoformat(text)
        if end:
            day = day + timedelta(days=1)
        return datetime(day.year, day.month, day.day, tzinfo=UTC)
    return to_utc(datetime.fromisoformat(text))


def to_utc(moment: datetime) -> datetime:
    """The same moment as aware UTC, cut to the millisecond."""
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return aware.replace(microsecond=aware.microsecond // 1000 * 1000)
