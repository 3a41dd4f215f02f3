"""Find the time windows that a question or a stored turn names, and the date that a question gives as today's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
from numpy.typing import NDArray

from lamina.text.calendar_days import WeeklyDay, YearlyDays
from lamina.text.date_mentions import find_dates
from lamina.text.timestamps import to_millis, to_utc

SLACK = timedelta(days=1)
"""How long after a window a turn still belongs to it, in whole days: people report on the next day, and days differ by
time zone."""


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """The times that a question asks about, and the phrases that named them."""

    spans: tuple[tuple[datetime, datetime], ...] = ()
    yearly: tuple[YearlyDays, ...] = ()
    phrases: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.spans or self.yearly)

    def contains_time(self, moment: datetime) -> bool:
        """Return whether a time is in a window."""
        return bool(self.contains(np.array([to_millis(to_utc(moment))], np.int64))[0])

    def contains(self, times_ms: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the times, in milliseconds since 1970, are in a window."""
        if not self or not times_ms.size:
            return np.zeros(times_ms.shape, np.bool_)
        days = np.clip(times_ms, _FIRST_MS, _LAST_MS) // _DAY_MS
        first, last = int(days.min()), int(days.max())
        calendar = np.zeros(last - first + 1, np.bool_)
        for start, end in self._days(first, last):
            calendar[max(0, start - first) : max(0, end - first)] = True
        is_inside: NDArray[np.bool_] = calendar[days - first]
        return is_inside

    def _days(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the windows as days since 1970, yearly ones for the years between two days."""
        for begin, finish in self.spans:
            yield to_millis(begin) // _DAY_MS, -(-to_millis(finish) // _DAY_MS)
        years = range(max(1, _date(first).year - 1), _date(last).year + 1)
        for start, end in (days.in_year(year) for days in self.yearly for year in years):
            if start < end:
                yield start.toordinal() - _EPOCH_DAY, end.toordinal() - _EPOCH_DAY + SLACK.days


def find_time_windows(question: str, now: datetime) -> TimeWindows:
    """Return the windows that a question names, each with its slack."""
    spans: list[tuple[datetime, datetime]] = []
    yearly: list[YearlyDays] = []
    phrases: list[str] = []
    today = to_utc(now).date()
    for mention in find_dates(question, today):
        days = mention.days
        if isinstance(days, YearlyDays):
            yearly.append(days)
        elif span := mention.span or (days.latest_begun(today) if isinstance(days, WeeklyDay) else days):
            start, end = span
            spans.append((_midnight(start), _add_clamped(_midnight(end), SLACK)))
        phrases.append(" ".join(question[mention.start : mention.end].split()))
    return TimeWindows(tuple(dict.fromkeys(spans)), tuple(dict.fromkeys(yearly)), tuple(dict.fromkeys(phrases)))


def find_mentioned_spans(text: str, said_at: datetime) -> tuple[tuple[datetime, datetime], ...]:
    """Return the spans, without slack, that a turn's text surely names, relative to the day it was said."""
    today = to_utc(said_at).date()
    spans: dict[tuple[datetime, datetime], None] = {}
    for mention in find_dates(text, today):
        if mention.span and not mention.is_anchor:
            spans[_midnight(mention.span[0]), _midnight(mention.span[1])] = None
    return tuple(spans)


_DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = _EPOCH.toordinal()
_FIRST_MS = (date.min.toordinal() - _EPOCH_DAY) * _DAY_MS
_LAST_MS = (date.max.toordinal() - _EPOCH_DAY + 1) * _DAY_MS - 1


def _date(day: int) -> date:
    return date.fromordinal(day + _EPOCH_DAY)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _add_clamped(moment: datetime, delta: timedelta) -> datetime:
    return moment + delta if moment <= datetime.max.replace(tzinfo=UTC) - delta else to_utc(datetime.max)


_OPENING = re.compile(
    r"[(\[]?\s*\b(?:today(?:['’]s\s+date)?|(?:the\s+)?(?:current\s+date|date\s+today))\s*(?:is|[:=])\s*(?:on\s+)?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b")
_CLOSING = re.compile(r"[\s.,;:)\]]*")


def split_declared_today(question: str, now: datetime) -> tuple[str, datetime]:
    """Return the question without the words that give today's date, and that date; else the question and `now`.

    A date that does not exist, such as 2022-03-00, is removed and not used.
    """
    today = to_utc(now).date()
    openings = list(_OPENING.finditer(question))
    mentions = {mention.start: mention for mention in find_dates(question, today)} if openings else {}
    for opening in openings:
        numbers = _NUMBERS.match(question, opening.end())
        mention = mentions.get(opening.end())
        end = max(numbers.end() if numbers else 0, mention.end if mention else 0)
        if not end:
            continue
        days = mention.span if mention else None
        closing = _CLOSING.match(question, end)
        rest = f"{question[: opening.start()]} {question[closing.end() if closing else end :]}".strip()
        return rest or question, (datetime.combine(days[0], time(12), UTC) if days else now)
    return question, now
