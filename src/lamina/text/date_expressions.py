"""Find dates in English text: "last May", "8 May 2023", "two weeks ago".

The text is read twice: first for named dates, then for dates relative to a day, which is today or a date beside them.
Every pattern takes time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import MAXYEAR, date, timedelta

DateSpan = tuple[date, date]
"""The first day, and the day after the last."""


@dataclass(frozen=True, slots=True)
class YearlyDays:
    """The same days of every year, as (month, day): from `first` until before `until`."""

    first: tuple[int, int]
    until: tuple[int, int]

    def in_year(self, year: int) -> DateSpan:
        """Return these days as they begin in one year; empty if that year has no such day."""
        last_year = year + (self.until <= self.first)
        return _calendar_day(year, self.first), _calendar_day(
            last_year, self.until
        ) if last_year <= MAXYEAR else date.max

    def latest_begun(self, today: date) -> DateSpan | None:
        """Return the latest of these days that has begun by today; None if there is none."""
        for year in range(today.year, max(0, today.year - 9), -1):
            start, end = self.in_year(year)
            if start < end and start <= today:
                return start, end
        return None


@dataclass(frozen=True, slots=True)
class DateMention:
    """A place in a text that names days; `is_anchor`: another mention is relative to this date."""

    start: int
    end: int
    days: DateSpan | YearlyDays
    is_anchor: bool = False


def resolve_year(days: DateSpan | YearlyDays, today: date) -> DateSpan | None:
    """Return days with a year; for days without one, the latest that have begun."""
    return days.latest_begun(today) if isinstance(days, YearlyDays) else days


def find_dates(text: str, today: date) -> list[DateMention]:
    """Return all mentions of days in a text, in order."""
    text = text.translate(_ASCII_TABLE)
    if _HINTS.isdisjoint(_LETTERS.findall(text.lower())) and not _A_YEAR.search(text):
        return []
    taken = bytearray(len(text))
    dates = [
        DateMention(match.start(), match.end(), days)
        for match, days in _apply_rules(text, _NAMED_DATES, taken, lambda match: today)
        if days
    ]
    anchors = {named.start: day for named in dates if (day := _single_day(named.days, today))}
    leaned_on: set[int] = set()

    def reference_day(match: re.Match[str]) -> date | None:
        """Return the day that a match is relative to; None if it only repeats the date beside it."""
        glue = _AS_OF.match(text, match.end())
        at = glue.end() if glue else match.end()
        needs_a_date = (match.groupdict().get("way") or "").lower() in _REQUIRES_DATE
        if at not in anchors:
            return None if needs_a_date else today
        if not needs_a_date and not (glue and glue["from"]):
            return None
        leaned_on.add(at)
        return anchors[at]

    relative = [
        DateMention(match.start(), match.end(), days)
        for match, days in _apply_rules(text, _RELATIVE_DATES, taken, reference_day)
        if days
    ]
    dates = [
        replace(named, is_anchor=named.start in leaned_on) for named in sorted(dates, key=lambda named: named.start)
    ]
    return sorted(relative + _join_ranges(text, dates, today), key=lambda named: named.start)


_DAY = timedelta(days=1)


def _calendar_day(year: int, day: tuple[int, int]) -> date:
    """Return the day of a year; 29 February is 1 March in a year without one."""
    return date(year, day[0], 1) + timedelta(days=day[1] - 1)


# Readers of matches. Each may raise ValueError or OverflowError for days that do not exist.

_YEAR = r"(?:19|20)[0-9]{2}"
_MONTH_NAMES = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may(?!\s+(?:be|not|have|also|well)\b)|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_MONTH = rf"(?P<month>{_MONTH_NAMES})\b"
_SHORT_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTH_NUMBERS = {name: at for at, name in enumerate(_SHORT_MONTHS.split(), 1)}
_VERBS = frozenset({"may", "march", "mar"})
_DAY_NUMBER = r"(?:[12][0-9]|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_TO = r"(?:\s?-\s?|\s+to\s+)"
_COUNTED = (
    "dollars|euros?|pounds|bucks|words|people|steps|met(?:er|re)s|miles|km|feet|points|calories|kcal|units|pieces|"
    "followers|pages|hours|minutes|seconds|days|weeks|months|years|times|items|lines|tokens|characters|users|rows|"
    "grams|kg|square|percent"
)
_YEAR_AFTER = (
    rf"(?:\s*,\s*|\s+)(?:of\s+)?(?:(?P<year>{_YEAR})\b(?!\s+(?:{_COUNTED})\b)|(?P<which>last|this|next)\s+year\b)"
)
_WEEK = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAYS = {name: at for at, name in enumerate(_WEEK.split())}
_SEASONS = {
    "spring": YearlyDays((3, 1), (6, 1)),
    "summer": YearlyDays((6, 1), (9, 1)),
    "autumn": YearlyDays((9, 1), (12, 1)),
    "fall": YearlyDays((9, 1), (12, 1)),
    "winter": YearlyDays((12, 1), (3, 1)),
}
_SEASON = rf"(?P<season>{'|'.join(_SEASONS)})\b"
_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORDS = _TO_TWELVE.split()
_NUMBER = (
    r"(?<![\w.,:$'/-])"
    rf"(?P<number>[0-9]{{1,3}}|{'|'.join(_NUMBER_WORDS)}|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|an?)\s+"
)
_UNIT = r"(?P<unit>day|week|weekend|month|year)s?\b"


def _compile_rule(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII | re.IGNORECASE)


def _read_iso_date(match: re.Match[str], today: date) -> DateSpan | None:
    day = date(int(match["y"]), int(match["m"]), int(match["d"]))
    return day, day + _DAY


def _read_month_or_day(match: re.Match[str], today: date) -> DateSpan | YearlyDays | None:
    groups = match.groupdict()
    month = _MONTH_NUMBERS[match["month"].lower()[:3]]
    if groups.get("day"):
        first, last = _parse_day_number(match["day"]), _parse_day_number(groups.get("to") or match["day"])
        after = date(2024, month, last) + _DAY
        days = YearlyDays((date(2024, month, first).month, first), (after.month, after.day))
        if last < first:
            return None
    else:
        days = YearlyDays((month, 1), (month % 12 + 1, 1))
    return _in_year(days, groups.get("year"), groups.get("which"), today)


def _read_season(match: re.Match[str], today: date) -> DateSpan | YearlyDays | None:
    groups = match.groupdict()
    return _in_year(_SEASONS[match["season"].lower()], groups.get("year"), groups.get("which"), today)


def _in_year(days: YearlyDays, year: str | None, which: str | None, today: date) -> DateSpan | YearlyDays | None:
    if not year and not which:
        return days
    start, end = days.in_year(int(year) if year else today.year + _STEP[(which or "this").lower()])
    return (start, end) if start < end else None


_STEP = {"last": -1, "past": -1, "this": 0, "next": 1}


def _choose_year(days: YearlyDays, which: str, today: date) -> DateSpan:
    """Return the last of these days that has ended, the current ones, or the next that begin."""
    if which == "next":
        return next(span for year in (0, 1) if (span := days.in_year(today.year + year))[0] > today)
    if which == "this":
        begins_late = days.until <= days.first and today.month < 9
        return days.in_year(today.year - begins_late)
    return next(span for year in (0, 1, 2) if (span := days.in_year(today.year - year))[1] <= today)


def _read_chosen_month(match: re.Match[str], today: date) -> DateSpan:
    month = _MONTH_NUMBERS[match["month"].lower()[:3]]
    return _choose_year(YearlyDays((month, 1), (month % 12 + 1, 1)), match["chosen"].lower(), today)


def _read_chosen_season(match: re.Match[str], today: date) -> DateSpan:
    return _choose_year(_SEASONS[match["season"].lower()], match["chosen"].lower(), today)


def _read_year(match: re.Match[str], today: date) -> DateSpan:
    return date(int(match["year"]), 1, 1), date(int(match["year"]) + 1, 1, 1)


def _read_near_day(match: re.Match[str], today: date) -> DateSpan:
    words = match.group().lower()
    offset = -2 if "before" in words else -1 if words in _YESTERDAY_WORDS else 1 if words == "tomorrow" else 0
    return _days_from(today, offset)


_YESTERDAY_WORDS = ("yesterday", "last night")


def _days_from(today: date, offset: int, days: int = 1) -> DateSpan:
    start = today + timedelta(days=offset)
    return start, start + timedelta(days=days)


def _read_count(match: re.Match[str], today: date) -> DateSpan:
    """Return the days a number of units ago, or before or after a day; the larger the unit, the wider."""
    fewest, most = _parse_count(match["number"])
    sign = 1 if match["way"].lower() == "after" else -1
    near, far = sorted((sign * fewest, sign * most))
    match match["unit"].lower():
        case "day":
            return today + timedelta(days=near), today + timedelta(days=far + 1)
        case "week":
            return today + timedelta(days=7 * near - 3), today + timedelta(days=7 * far + 4)
        case "weekend":
            saturday = _weekend_saturday(today, sign)
            return saturday + timedelta(days=7 * (near - sign)), saturday + timedelta(days=7 * (far - sign) + 2)
        case "month":
            return _add_months(today, near) - timedelta(days=15), _add_months(today, far) + timedelta(days=16)
        case _:
            return date(today.year + near, 1, 1), date(today.year + far + 1, 1, 1)


def _read_past(match: re.Match[str], today: date) -> DateSpan:
    """Return the given number of units up to today."""
    _, most = _parse_count(match.groupdict().get("number") or "one")
    match match["unit"].lower():
        case "month":
            start = _add_months(today, -most)
        case "year":
            start = _add_months(today, -12 * most)
        case "weekend":
            start = _weekend_saturday(today, -1) - timedelta(days=7 * (most - 1))
        case unit:
            start = today - timedelta(days=most * (7 if unit == "week" else 1))
    return start, today + _DAY


def _read_near_unit(match: re.Match[str], today: date) -> DateSpan:
    """Return the last, this or the next week, weekend, month or year of the calendar."""
    return _unit_away(match["unit"].lower(), _STEP[match["chosen"].lower()], today)


def _read_before_last(match: re.Match[str], today: date) -> DateSpan:
    return _unit_away(match["unit"].lower(), -2, today)


def _unit_away(unit: str, step: int, today: date) -> DateSpan:
    monday = today - timedelta(days=today.weekday())
    match unit:
        case "week":
            return _days_from(monday, 7 * step, 7)
        case "weekend" if step:
            sign = 1 if step > 0 else -1
            return _days_from(_weekend_saturday(today, sign), 7 * (step - sign), 2)
        case "weekend":
            return _days_from(monday, 5, 2)
        case "month":
            start = _add_months(today.replace(day=1), step)
            return start, _add_months(start, 1)
        case _:
            return date(today.year + step, 1, 1), date(today.year + step + 1, 1, 1)


def _read_weekday(match: re.Match[str], today: date) -> DateSpan:
    day = _WEEKDAYS[match["weekday"].lower()]
    match match["chosen"].lower():
        case "on":
            return _days_from(today, -((today.weekday() - day) % 7))
        case "this":
            return _days_from(today, day - today.weekday())
        case "next":
            return _days_from(today, (day - today.weekday() - 1) % 7 + 1)
        case _:
            return _days_from(today, -((today.weekday() - day - 1) % 7 + 1))


def _read_adjacent(match: re.Match[str], today: date) -> DateSpan | None:
    """Return the day, week, weekend, month, year or weekday before or after a day, or the week or weekend of it."""
    if match["way"].lower() == "of":
        return _unit_away((match["unit"] or "").lower(), 0, today) if match["unit"] in ("week", "weekend") else None
    sign = 1 if match["way"].lower() == "after" else -1
    if match["weekday"]:
        day = _WEEKDAYS[match["weekday"].lower()]
        distance = (sign * (day - today.weekday()) - 1) % 7 + 1
        return _days_from(today, sign * distance)
    match match["unit"].lower():
        case "weekend":
            return _days_from(_weekend_saturday(today, sign), 0, 2)
        case "week":
            return _days_from(today, -7 if sign < 0 else 1, 7)
        case "month":
            return (_add_months(today, -1), today) if sign < 0 else (today + _DAY, _add_months(today, 1) + _DAY)
        case "year":
            return _unit_away("year", sign, today)
        case _:
            return _days_from(today, sign)


def _weekend_saturday(today: date, sign: int) -> date:
    """Return the Saturday of the last weekend that has ended, or of the next that begins."""
    if sign > 0:
        return today + timedelta(days=(5 - today.weekday() - 1) % 7 + 1)
    saturday = today - timedelta(days=(today.weekday() - 5) % 7)
    return saturday if saturday + 2 * _DAY <= today else saturday - 7 * _DAY


def _add_months(day: date, by: int) -> date:
    months = day.year * 12 + day.month - 1 + by
    year, month = divmod(months, 12)
    last = date(year + month // 11, (month + 1) % 12 + 1, 1) - _DAY
    return date(year, month + 1, min(day.day, last.day))


def _parse_day_number(day: str) -> int:
    return int(day.rstrip("stndrhSTNDRH"))


def _parse_count(number: str) -> tuple[int, int]:
    words = number.lower().split()
    if "few" in words:
        return 2, 4
    if "couple" in words:
        return 2, 2
    if words[0] in ("a", "an"):
        return 1, 1
    count = int(words[0]) if words[0].isdecimal() else _NUMBER_WORDS.index(words[0]) + 1
    return count, count


# Checks whether the words around a match give it another meaning.

_LAST_WORD = re.compile(r"([\w']+)\W{0,3}\Z", re.ASCII)
_POSSESSIVE_WORDS = "my his our their your its a the every each whose"
_POSSESSIVES = frozenset(_POSSESSIVE_WORDS.split())
_AUXILIARY_WORDS = "did does do will would can could should might may must to didn't doesn't won't let make"
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_WORDS = re.compile(r"[\w']+", re.ASCII)
_AFTER_VERB_FALL = _compile_rule(
    r"\s+(?:apart|off|down|out|over|into|under|from|behind|short|through|victim|flat|back|asleep|ill|on)\b"
)
_PREPOSITION = _compile_rule(
    r"\b(?:in|on|by|since|until|till|from|before|after|during|throughout|around|last|next)\s+"
    r"(?:(?:early|late|mid)[\s-]+)?\Z"
)
_PREPOSITION_OF = _compile_rule(r"\bof\s+\Z")


def _means_the_month(text: str, match: re.Match[str]) -> bool:
    """Return whether "may" and "march" are months: after a preposition, or capitalised inside a sentence."""
    word, groups = match["month"], match.groupdict()
    if word.lower() not in _VERBS:
        return True
    if (groups.get("chosen") or "").lower() == "this":
        return word.istitle()
    if _PREPOSITION.search(_text_before(text, match.start())) or _PREPOSITION.search(
        _text_before(text, match.start("month"))
    ):
        return True
    if groups.get("year") and groups.get("day"):
        return True
    if not word.istitle():
        return bool(groups.get("day") or groups.get("year")) and bool(
            _PREPOSITION_OF.search(_text_before(text, match.start("month")))
        )
    return (
        bool(groups.get("year")) or not _starts_sentence(text, match.start()) or not _WORDS.match(text, match.end() + 1)
    )


def _is_chosen(text: str, match: re.Match[str]) -> bool:
    """Return whether "last" and similar words select by time: "last May", but not "my last May" or "the last fall"."""
    previous, groups = _word_before(text, match.start()), match.groupdict()
    if previous in _POSSESSIVES or previous.endswith("'s"):
        return False
    if (groups.get("season") or "").lower() == "fall":
        return previous not in _AUXILIARIES and previous != "her" and not _AFTER_VERB_FALL.match(text, match.end())
    return not groups.get("month") or _means_the_month(text, match)


def _is_past(text: str, match: re.Match[str]) -> bool:
    """Return whether "last two weeks" is a time and not how long something lasted."""
    if match["led"] or match["chosen"].lower() != "last":
        return True
    sentence = re.split(r"[.?!]", text[max(0, match.start() - 200) : match.start()].lower())[-1]
    return _AUXILIARIES.isdisjoint(_WORDS.findall(sentence))


def _is_count(text: str, match: re.Match[str]) -> bool:
    return _word_before(text, match.start()) not in ("half", "many")


def _always(text: str, match: re.Match[str]) -> bool:
    return True


def _text_before(text: str, at: int) -> str:
    return text[max(0, at - 24) : at]


def _word_before(text: str, at: int) -> str:
    word = _LAST_WORD.search(_text_before(text, at))
    return word[1].lower() if word else ""


def _starts_sentence(text: str, at: int) -> bool:
    """Return whether a sentence begins at this position."""
    before = _text_before(text, at).rstrip(" \"'(")
    return before[-1:] in ".?!:;\n" if before else at <= 24


_Rule = tuple[
    re.Pattern[str], Callable[[str, re.Match[str]], bool], Callable[[re.Match[str], date], DateSpan | YearlyDays | None]
]

_PART_OF = r"(?:month|weeks?|weekend|start|beginning|middle|end|half|days)\s+of"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})\b"

_NAMED_DATES: tuple[_Rule, ...] = (
    (
        _compile_rule(
            rf"(?<![\w/.-])(?P<y>{_YEAR})(?P<sep>[-/])(?P<m>[0-9]{{1,2}})(?P=sep)(?P<d>[0-9]{{1,2}})(?![0-9/-])"
        ),
        _always,
        _read_iso_date,
    ),
    (
        _compile_rule(
            rf"\b{_MONTH}\.?\s+(?:the\s+)?(?P<day>{_DAY_NUMBER})(?:{_TO}(?P<to>{_DAY_NUMBER}))?\b(?![.:/,-]?[0-9])"
            rf"(?:{_YEAR_AFTER})?"
        ),
        _means_the_month,
        _read_month_or_day,
    ),
    (
        _compile_rule(rf"\b{_MONTH}\.?\s+(?P<day>{_DAY_NUMBER}),(?P<year>{_YEAR})\b"),
        _means_the_month,
        _read_month_or_day,
    ),
    (
        _compile_rule(
            rf"(?<![\w.:/,$-])(?P<day>{_DAY_NUMBER})(?:{_TO}(?P<to>{_DAY_NUMBER}))?\s+(?:of\s+)?{_MONTH}"
            rf"(?:\.?{_YEAR_AFTER})?"
        ),
        _means_the_month,
        _read_month_or_day,
    ),
    (_compile_rule(rf"\b{_MONTH}\.?{_YEAR_AFTER}"), _means_the_month, _read_month_or_day),
    (_compile_rule(rf"\b(?P<chosen>last|this|next)\s+{_MONTH}(?!'?\w)"), _is_chosen, _read_chosen_month),
    (
        _compile_rule(
            rf"\b(?:(?:in|during|throughout|since|until|till|{_PART_OF})\s+(?:(?:early|late|mid)[\s-]+)?"
            rf"|(?:early|late|mid)[\s-]+){_MONTH}(?!'?\w)"
        ),
        _means_the_month,
        _read_month_or_day,
    ),
    (_compile_rule(rf"\b{_SEASON}{_YEAR_AFTER}"), _always, _read_season),
    (_compile_rule(rf"\b(?P<chosen>last|this|next)\s+{_SEASON}"), _is_chosen, _read_chosen_season),
    (
        _compile_rule(
            r"\b(?:in|during|over|throughout)\s+(?:the\s+)?(?P<season>spring|summer|autumn|winter)"
            r"(?=\s*(?:[?.!,;:)]|\Z))"
        ),
        _always,
        _read_season,
    ),
    (
        _compile_rule(
            rf"\b(?:in|during|throughout|since|year|{_PART_OF})\s+(?:(?:early|late|mid)[\s-]+)?(?P<year>{_YEAR})"
            rf"\b(?![-.,:/]?[0-9]|\s?[%$]|\s+(?:{_COUNTED})\b)"
        ),
        _always,
        _read_year,
    ),
)
"""Named dates. The first rule that matches takes the words."""

_RELATIVE_DATES: tuple[_Rule, ...] = (
    (
        _compile_rule(
            r"\bday\s+before\s+yesterday\b|\b(?:yesterday|today|tonight|tomorrow|last\s+night)\b"
            r"|\bthis\s+(?:morning|afternoon|evening)\b"
        ),
        _always,
        _read_near_day,
    ),
    (_compile_rule(rf"{_NUMBER}{_UNIT}\s+(?P<way>ago|before|after)\b"), _is_count, _read_count),
    (
        _compile_rule(
            rf"\b(?P<led>(?:the|these|in|over|during|for|within)\s+)?(?P<chosen>last|past)\s+{_NUMBER}{_UNIT}"
        ),
        _is_past,
        _read_past,
    ),
    (
        _compile_rule(r"\b(?:the\s+last|(?:the\s+)?past)\s+(?P<unit>week|month|year)\b(?!\s+of\b|')"),
        _always,
        _read_past,
    ),
    (_compile_rule(r"\b(?P<unit>week|weekend|month|year)\s+before\s+last\b"), _always, _read_before_last),
    (_compile_rule(r"\b(?:the\s+)?(?P<chosen>past)\s+(?P<unit>weekend)\b"), _always, _read_near_unit),
    (
        _compile_rule(r"\b(?P<chosen>last|this|next)\s+(?P<unit>week|weekend|month|year)\b(?!\s+of\b)"),
        _is_chosen,
        _read_near_unit,
    ),
    (
        _compile_rule(
            rf"\b(?P<chosen>last|past|this|next|on)\s+{_WEEKDAY}(?!\s+(?:mornings|afternoons|evenings|nights|of)\b)"
        ),
        _is_chosen,
        _read_weekday,
    ),
    (
        _compile_rule(rf"\b(?:(?P<unit>day|night|week|weekend|month|year)\b|{_WEEKDAY})\s+(?P<way>before|after|of)\b"),
        _always,
        _read_adjacent,
    ),
)
"""Dates relative to a day: today, or a date that follows."""

_REQUIRES_DATE = frozenset({"before", "after", "of"})
_AS_OF = _compile_rule(
    r"\s*,?\s*(?P<from>(?:as\s+(?:mentioned|said|told|discussed)|before|prior\s+to)\b)?\s*(?:on\s+)?(?:the\s+)?"
)
_SINCE = _compile_rule(r"\bsince\s+(?:\w{3,9}\s+)?\Z")
_RANGE_OPENS = _compile_rule(r"\b(?:between|from)\s+(?:the\s+)?\Z")
_RANGE_GOES_ON = _compile_rule(r"\s*(?:and|to|until|till|through|-)\s*(?:the\s+)?")


def _apply_rules(
    text: str, rules: tuple[_Rule, ...], taken: bytearray, reference_day: Callable[[re.Match[str]], date | None]
) -> Iterator[tuple[re.Match[str], DateSpan | YearlyDays | None]]:
    for pattern, is_match, reader in rules:
        for match in pattern.finditer(text):
            if taken.find(1, match.start(), match.end()) >= 0 or not is_match(text, match):
                continue
            today = reference_day(match)
            if today is None:
                continue
            taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
            try:
                days = reader(match, today)
            except (ValueError, OverflowError):
                days = None
            yield match, days


def _single_day(days: DateSpan | YearlyDays, today: date) -> date | None:
    span = resolve_year(days, today)
    return span[0] if span and span[1] - span[0] == _DAY else None


def _join_ranges(text: str, dates: list[DateMention], today: date) -> list[DateMention]:
    """Return the dates, with "between one and another" as one span and "since one" up to today."""
    joined: list[DateMention] = []
    for named in dates:
        last = joined[-1] if joined else None
        if last and _RANGE_OPENS.search(_text_before(text, last.start)):
            continuation = _RANGE_GOES_ON.match(text, last.end)
            if continuation and continuation.end() == named.start and (days := _between(last.days, named.days)):
                joined[-1] = DateMention(last.start, named.end, days)
                continue
        joined.append(named)
    return [_until_today(text, named, today) for named in joined]


def _between(first: DateSpan | YearlyDays, last: DateSpan | YearlyDays) -> DateSpan | YearlyDays | None:
    if isinstance(last, YearlyDays):
        return YearlyDays(first.first, last.until) if isinstance(first, YearlyDays) else None
    if isinstance(first, YearlyDays):
        first = first.in_year(last[0].year)
    return (first[0], last[1]) if first[0] < last[1] else None


def _until_today(text: str, named: DateMention, today: date) -> DateMention:
    is_since = text[named.start : named.start + 5].lower() == "since" or _SINCE.search(_text_before(text, named.start))
    days = resolve_year(named.days, today) if is_since else None
    return replace(named, days=(days[0], today + _DAY)) if days and days[0] <= today < date.max else named


_MONTH_WORDS = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
"""
_NEAR_WORDS = "last this next past ago yesterday today tonight tomorrow"
_HINTS = frozenset([*_MONTH_WORDS.split(), *_NEAR_WORDS.split(), *_WEEKDAYS, *_SEASONS])
"""A text without one of these words and without a year names no day; most texts need no further work."""
_LETTERS = re.compile(r"[a-z]+")
_A_YEAR = re.compile(_YEAR)


class _AsciiTable(dict[int, str]):
    """Maps every character to one ASCII character, so that word boundaries are right in any script and positions
    stay."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = char if char.isascii() else " " if char.isspace() else "_" if _is_word_char(char) else ";"
        self[code] = plain
        return plain


def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"


_ASCII_TABLE = _AsciiTable({ord("’"): "'", ord("‘"): "'", ord("–"): "-", ord("—"): "-", ord("…"): "."})
