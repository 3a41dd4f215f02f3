"""Parses a past time as people write it: yesterday, today, 2d, 3h, or a date."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta

from lamina.errors import InvalidInput
from lamina.text.timestamps import parse_time, to_utc

_AGO = re.compile(r"(\d{1,6}) ?([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str, now: datetime) -> datetime:
    """Return the time of a text; days are in the local zone, dates in UTC like the files. InvalidInput if unknown."""
    word = text.strip().casefold()
    if word in ("today", "yesterday"):
        day = now.astimezone().date() - timedelta(days=word == "yesterday")
        return to_utc(datetime.combine(day, time.min).astimezone())
    ago = _AGO.fullmatch(word)
    if ago:
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        return parse_time(text)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is not a time; write yesterday, today, 2d, 3h, or a date like 2026-11-15"
        ) from error
