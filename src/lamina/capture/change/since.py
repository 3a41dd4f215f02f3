"""From when a change holds, where the sentence that tells of it, or the one before it, names a day."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from lamina.capture.change.cues import Cue, cue_of
from lamina.capture.rules.dates import began, begins, resolve

_OPENING = re.compile(r"\b(?:start|beginning|first) of (?:the|this) (week|month|year)\b", re.IGNORECASE)
_FROM = re.compile(r"\b(?:from|start|starting|as of|beginning|effective|will|going to)\b", re.IGNORECASE)
_LONGEST_AFTER = 80
"""Characters of a sentence that the day of the one before it can still be meant for."""


def since(text: str, at: datetime, before: str = "") -> datetime | None:
    """The day a change was or will be made, if it is told; the sentence before may tell it for a short one."""
    own = _day(text, at)
    if own is not None or not before or len(text) > _LONGEST_AFTER or resolve(text, at, ahead=False, habitual=False):
        return own
    return _day(before, at)


def _day(text: str, at: datetime) -> datetime | None:
    ahead = _FROM.search(text)
    if ahead is not None:
        days = [
            begins(each.days) for each in resolve(text, at, ahead=True, habitual=False) if each.start >= ahead.start()
        ]
        if days and days[0] > at:
            return days[0]
    if cue_of(text) is Cue.NONE:
        return None
    opening = _OPENING.search(text)
    if opening is not None:
        return _first_day(opening.group(1).lower(), at)
    days = [began(text, each) for each in resolve(text, at, ahead=False, habitual=False, own=True)]
    return next((day for day in days if day <= at), None)


def _first_day(unit: str, at: datetime) -> datetime:
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        return midnight - timedelta(days=midnight.weekday())
    return midnight.replace(day=1) if unit == "month" else midnight.replace(month=1, day=1)
