"""Define spans of days in the calendar, and read them from the words and numbers of English dates.

A reader returns the days that a match of a date rule names, relative to a day. It may raise ValueError or OverflowError
for days that do not exist.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta
from typing import TypeAlias

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

    def next_after(self, today: date) -> DateSpan | None:
        """Return the first of these days that begins after today; None if there is none."""
        for year in range(today.year, min(MAXYEAR, today.year + 8) + 1):
            start, end = self.in_year(year)
            if today < start < end:
                return start, end
        return None


@dataclass(frozen=True, slots=True)
class WeeklyDay:
    """The same day of every week, from 0 for Monday."""

    weekday: int

    def latest_begun(self, today: date) -> DateSpan | None:
        """Return the latest of these days that has begun by today; None if there is none."""
        return _try_days_from(today, -((today.weekday() - self.weekday) % 7))

    def next_after(self, today: date) -> DateSpan | None:
        """Return the first of these days that begins after today; None if there is none."""
        return _try_days_from(today, (self.weekday - today.weekday() - 1) % 7 + 1)


Days: TypeAlias = DateSpan | YearlyDays | WeeklyDay
"""Days of the calendar, or days that recur."""


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


def _try_days_from(today: date, offset: int) -> DateSpan | None:
    """Return the day `offset` days after today; None beyond the calendar."""
    try:
        return days_from(today, offset)
    except OverflowError:
        return None


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


YEAR = r"(?:19|20)[0-9]{2}"
_MONTH_NAMES = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may(?!\s+(?:be|not|have|also|well)\b)|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
MONTH = rf"(?P<month>{_MONTH_NAMES})\b"
_SHORT_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
MONTH_NUMBERS = {name: at for at, name in enumerate(_SHORT_MONTHS.split(), 1)}
VERB_MONTHS = frozenset({"may", "march", "mar"})
DAY_NUMBER = r"(?:[12][0-9]|3[01]|0?[1-9])(?:st|nd|rd|th)?"
RANGE_SIGN = r"(?:\s?-\s?|\s+to\s+)"
COUNTED = (
    "dollars|euros?|pounds|bucks|words|people|steps|met(?:er|re)s|miles|km|feet|points|calories|kcal|units|pieces|"
    "followers|pages|hours|minutes|seconds|days|weeks|months|years|times|items|lines|tokens|characters|users|rows|"
    "grams|kg|square|percent"
)
YEAR_AFTER = (
    rf"(?:\s*,\s*|\s+)(?:of\s+)?(?:(?P<year>{YEAR})\b(?!\s+(?:{COUNTED})\b)|(?P<which>last|this|next)\s+year\b)"
)
_WEEK = "monday tuesday wednesday thursday friday saturday sunday"
WEEKDAY_NUMBERS = {name: at for at, name in enumerate(_WEEK.split())}
MONTHS = "january february march april may june july august september october november december"
MONTHS_AND_NAMES = frozenset({"april", "may", "june", "august"})
"""Months that are also given names."""
SEASONS = {
    "spring": YearlyDays((3, 1), (6, 1)),
    "summer": YearlyDays((6, 1), (9, 1)),
    "autumn": YearlyDays((9, 1), (12, 1)),
    "fall": YearlyDays((9, 1), (12, 1)),
    "winter": YearlyDays((12, 1), (3, 1)),
}
SEASON = rf"(?P<season>{'|'.join(SEASONS)})\b"
_CALENDAR_WORDS = frozenset((*WEEKDAY_NUMBERS, *MONTHS.split(), *SEASONS))
_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = _TO_TWELVE.split()
NUMBER = (
    r"(?<![\w.,:$'/-])"
    rf"(?P<number>[0-9]{{1,3}}|{'|'.join(_NUMBER_WORDS)}|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|an?)\s+"
)
UNIT = r"(?P<unit>day|week|weekend|month|year)s?\b"
PART_OF = r"(?:month|weeks?|weekend|start|beginning|middle|end|half|days)\s+of"
WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAY_NUMBERS)})\b"


def compile_rule(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for text in ASCII, in upper or lower case."""
    return re.compile(pattern, re.ASCII | re.IGNORECASE)


def is_calendar_name(form: str) -> bool:
    """Return whether a name in normal form is a time and no person or thing: a weekday, month or season, or several of
    them and numbers.
    """
    words = form.split()
    return any(word in _CALENDAR_WORDS for word in words) and all(
        word in _CALENDAR_WORDS or word[0].isdigit() for word in words
    )


def parse_day_number(day: str) -> int:
    """Return the number of "8" or "8th"."""
    return int(day.rstrip("stndrhSTNDRH"))


def parse_count(number: str) -> tuple[int, int]:
    """Return the fewest and the most that a number of units means: "a few" is two to four."""
    words = number.lower().split()
    if "few" in words:
        return 2, 4
    if "couple" in words:
        return 2, 2
    if words[0] in ("a", "an"):
        return 1, 1
    count = int(words[0]) if words[0].isdecimal() else _NUMBER_WORDS.index(words[0]) + 1
    return count, count


_STEP = {"last": -1, "past": -1, "this": 0, "next": 1}
_YESTERDAY_WORDS = ("yesterday", "last night")


def read_iso_date(match: re.Match[str], today: date) -> DateSpan | None:
    """Return the day of "2023-05-08"."""
    day = date(int(match["y"]), int(match["m"]), int(match["d"]))
    return day, day + DAY


def read_month_or_day(match: re.Match[str], today: date) -> Days | None:
    """Return the days of "May", "8 May" or "May 8-12", with or without a year."""
    groups = match.groupdict()
    month = MONTH_NUMBERS[match["month"].lower()[:3]]
    if groups.get("day"):
        first, last = parse_day_number(match["day"]), parse_day_number(groups.get("to") or match["day"])
        after = date(2024, month, last) + DAY
        days = YearlyDays((date(2024, month, first).month, first), (after.month, after.day))
        if last < first:
            return None
    else:
        days = YearlyDays((month, 1), (month % 12 + 1, 1))
    return _in_year(days, groups.get("year"), groups.get("which"), today)


def read_season(match: re.Match[str], today: date) -> Days | None:
    """Return the days of "summer" or "summer of 2022"."""
    groups = match.groupdict()
    return _in_year(SEASONS[match["season"].lower()], groups.get("year"), groups.get("which"), today)


def _in_year(days: YearlyDays, year: str | None, which: str | None, today: date) -> Days | None:
    if not year and not which:
        return days
    start, end = days.in_year(int(year) if year else today.year + _STEP[(which or "this").lower()])
    return (start, end) if start < end else None


def read_chosen_month(match: re.Match[str], today: date) -> DateSpan:
    """Return the days of "last May"."""
    month = MONTH_NUMBERS[match["month"].lower()[:3]]
    return choose_year(YearlyDays((month, 1), (month % 12 + 1, 1)), match["chosen"].lower(), today)


def read_chosen_season(match: re.Match[str], today: date) -> DateSpan:
    """Return the days of "next winter"."""
    return choose_year(SEASONS[match["season"].lower()], match["chosen"].lower(), today)


def read_year(match: re.Match[str], today: date) -> DateSpan:
    """Return the days of "in 2022"."""
    return date(int(match["year"]), 1, 1), date(int(match["year"]) + 1, 1, 1)


def read_near_day(match: re.Match[str], today: date) -> DateSpan:
    """Return the day of "yesterday", "tonight" or "tomorrow"."""
    words = match.group().lower()
    offset = -2 if "before" in words else -1 if words in _YESTERDAY_WORDS else 1 if words == "tomorrow" else 0
    return days_from(today, offset)


def read_count(match: re.Match[str], today: date) -> DateSpan:
    """Return the days a number of units ago, or before or after a day; the larger the unit, the wider."""
    fewest, most = parse_count(match["number"])
    sign = 1 if match["way"].lower() == "after" else -1
    near, far = sorted((sign * fewest, sign * most))
    match match["unit"].lower():
        case "day":
            return today + timedelta(days=near), today + timedelta(days=far + 1)
        case "week":
            return today + timedelta(days=7 * near - 3), today + timedelta(days=7 * far + 4)
        case "weekend":
            saturday = weekend_saturday(today, sign)
            return saturday + timedelta(days=7 * (near - sign)), saturday + timedelta(days=7 * (far - sign) + 2)
        case "month":
            return add_months(today, near) - timedelta(days=15), add_months(today, far) + timedelta(days=16)
        case _:
            return date(today.year + near, 1, 1), date(today.year + far + 1, 1, 1)


def read_past(match: re.Match[str], today: date) -> DateSpan:
    """Return the given number of units up to today."""
    _, most = parse_count(match.groupdict().get("number") or "one")
    match match["unit"].lower():
        case "month":
            start = add_months(today, -most)
        case "year":
            start = add_months(today, -12 * most)
        case "weekend":
            start = weekend_saturday(today, -1) - timedelta(days=7 * (most - 1))
        case unit:
            start = today - timedelta(days=most * (7 if unit == "week" else 1))
    return start, today + DAY


def read_near_unit(match: re.Match[str], today: date) -> DateSpan:
    """Return the last, this or the next week, weekend, month or year of the calendar."""
    return calendar_unit(match["unit"].lower(), _STEP[match["chosen"].lower()], today)


def read_before_last(match: re.Match[str], today: date) -> DateSpan:
    """Return the days of "the week before last"."""
    return calendar_unit(match["unit"].lower(), -2, today)


def read_weekday(match: re.Match[str], today: date) -> Days:
    """Return the day of "last Friday" or "on Friday"."""
    day = WEEKDAY_NUMBERS[match["weekday"].lower()]
    match match["chosen"].lower():
        case "on":
            return WeeklyDay(day)
        case "this":
            return days_from(today, day - today.weekday())
        case "next":
            return days_from(today, (day - today.weekday() - 1) % 7 + 1)
        case _:
            return days_from(today, -((today.weekday() - day - 1) % 7 + 1))


def read_adjacent(match: re.Match[str], today: date) -> DateSpan | None:
    """Return the day, week, weekend, month, year or weekday before or after a day, or the week or weekend of it."""
    if match["way"].lower() == "of":
        return calendar_unit((match["unit"] or "").lower(), 0, today) if match["unit"] in ("week", "weekend") else None
    sign = 1 if match["way"].lower() == "after" else -1
    if match["weekday"]:
        day = WEEKDAY_NUMBERS[match["weekday"].lower()]
        distance = (sign * (day - today.weekday()) - 1) % 7 + 1
        return days_from(today, sign * distance)
    match match["unit"].lower():
        case "weekend":
            return days_from(weekend_saturday(today, sign), 0, 2)
        case "week":
            return days_from(today, -7 if sign < 0 else 1, 7)
        case "month":
            return (add_months(today, -1), today) if sign < 0 else (today + DAY, add_months(today, 1) + DAY)
        case "year":
            return calendar_unit("year", sign, today)
        case _:
            return days_from(today, sign)
