"""The words and numbers that English dates consist of, as parts of patterns and as tables."""

from __future__ import annotations

import re

from lamina.text.calendar_spans import YearlyDays

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
