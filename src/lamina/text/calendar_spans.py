"""Spans of days in the calendar: weeks, weekends, months and the same days of every year."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta

DateSpan = tuple[date, date]
"""The first day, and the day after the last."""
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class YearlyDays:
    """The same days of every year, as (month, day): from `first` until before `until`."""

    first: tuple[int, int]
    until: tuple[int, int]

    def in_year(self, year: int) -> DateSpan:
        """Return these days as they begin in one year; empty if that year has no such day."""
        last_year = year + (self.until <= self.first)
        end = _calendar_day(last_year, self.until) if last_year <= MAXYEAR else date.max
        return _calendar_day(year, self.first), end

    def latest_begun(self, today: date) -> DateSpan | None:
        """Return the latest of these days that has begun by today; None if there is none."""
        for year in range(today.year, max(0, today.year - 9), -1):
            start, end = self.in_year(year)
            if start < end and start <= today:
                return start, end
        return None


def choose_year(days: YearlyDays, which: str, today: date) -> DateSpan:
    """Return the last of these days that has ended, the current ones, or the next that begin."""
    if which == "next":
        return next(span for year in (0, 1) if (span := days.in_year(today.year + year))[0] > today)
    if which == "this":
        begins_late = days.until <= days.first and today.month < 9
        return days.in_year(today.year - begins_late)
    return next(span for year in (0, 1, 2) if (span := days.in_year(today.year - year))[1] <= today)


def days_from(today: date, offset: int, days: int = 1) -> DateSpan:
    """Return a number of days that begin `offset` days after today."""
    start = today + timedelta(days=offset)
    return start, start + timedelta(days=days)


def calendar_unit(unit: str, step: int, today: date) -> DateSpan:
    """Return the current week, weekend, month or year, or the one `step` units later."""
    monday = today - timedelta(days=today.weekday())
    match unit:
        case "week":
            return days_from(monday, 7 * step, 7)
        case "weekend" if step:
            sign = 1 if step > 0 else -1
            return days_from(weekend_saturday(today, sign), 7 * (step - sign), 2)
        case "weekend":
            return days_from(monday, 5, 2)
        case "month":
            start = add_months(today.replace(day=1), step)
            return start, add_months(start, 1)
        case _:
            return date(today.year + step, 1, 1), date(today.year + step + 1, 1, 1)


def weekend_saturday(today: date, sign: int) -> date:
    """Return the Saturday of the last weekend that has ended, or of the next that begins."""
    if sign > 0:
        return today + timedelta(days=(5 - today.weekday() - 1) % 7 + 1)
    saturday = today - timedelta(days=(today.weekday() - 5) % 7)
    return saturday if saturday + 2 * DAY <= today else saturday - 7 * DAY


def add_months(day: date, by: int) -> date:
    """Return the same day a number of months later, or the last day of that month if it is shorter."""
    months = day.year * 12 + day.month - 1 + by
    year, month = divmod(months, 12)
    last = date(year + month // 11, (month + 1) % 12 + 1, 1) - DAY
    return date(year, month + 1, min(day.day, last.day))


def _calendar_day(year: int, day: tuple[int, int]) -> date:
    """Return the day of a year; 29 February is 1 March in a year without one."""
    return date(year, day[0], 1) + timedelta(days=day[1] - 1)
