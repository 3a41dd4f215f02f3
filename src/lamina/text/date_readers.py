"""Readers of the matches of date rules: each returns the days that a match names, relative to a day.

A reader may raise ValueError or OverflowError for days that do not exist.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from lamina.text.calendar_spans import (
    DAY,
    DateSpan,
    YearlyDays,
    add_months,
    calendar_unit,
    choose_year,
    days_from,
    weekend_saturday,
)
from lamina.text.date_words import MONTH_NUMBERS, SEASONS, WEEKDAY_NUMBERS, parse_count, parse_day_number

_STEP = {"last": -1, "past": -1, "this": 0, "next": 1}
_YESTERDAY_WORDS = ("yesterday", "last night")


def read_iso_date(match: re.Match[str], today: date) -> DateSpan | None:
    """Return the day of "2023-05-08"."""
    day = date(int(match["y"]), int(match["m"]), int(match["d"]))
    return day, day + DAY


def read_month_or_day(match: re.Match[str], today: date) -> DateSpan | YearlyDays | None:
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


def read_season(match: re.Match[str], today: date) -> DateSpan | YearlyDays | None:
    """Return the days of "summer" or "summer of 2022"."""
    groups = match.groupdict()
    return _in_year(SEASONS[match["season"].lower()], groups.get("year"), groups.get("which"), today)


def _in_year(days: YearlyDays, year: str | None, which: str | None, today: date) -> DateSpan | YearlyDays | None:
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


def read_weekday(match: re.Match[str], today: date) -> DateSpan:
    """Return the day of "last Friday" or "on Friday"."""
    day = WEEKDAY_NUMBERS[match["weekday"].lower()]
    match match["chosen"].lower():
        case "on":
            return days_from(today, -((today.weekday() - day) % 7))
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
