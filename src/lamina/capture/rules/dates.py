"""Days told from today made absolute, so that a sentence still says when once it is read alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from lamina.text.closed import WEEKDAYS
from lamina.text.days import Named, Span, Yearly, absolute, find_days

_DAY = timedelta(days=1)
_BARE_AFTER = re.compile(
    r"\b(?:since|from|until|till|by|before|after|of|for|in|on|to|around|during|starting|between|and)\s+(?:the\s+)?\Z",
    re.IGNORECASE,
)
_OWN_WORDS = re.compile(r"(?:on|in|since|until|till|during|throughout|over|the|these|for|within)\s+", re.IGNORECASE)
_LOOSELY = re.compile(r"\b(?:about|around|roughly|over|almost|like|maybe)\s+\Z", re.IGNORECASE)
_HAPPENED = re.compile(r"\b(?:was|were|born|did|had|went|got)\b", re.IGNORECASE)
_SPAN_BACK = re.compile(r"(?:the\s+|these\s+)?(?:last|past)\s+(?:\w+\s+)+", re.IGNORECASE)
_WITHIN = re.compile(r"\b(?:in|over|during|for|within|throughout)\s+\Z", re.IGNORECASE)
_HAS_YEAR = re.compile(r"(?:19|20)\d\d")
_NAMED_DAY = re.compile(r"^since\b.*\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)", re.IGNORECASE)
_SEASON = re.compile(r"\b(?:spring|summer|autumn|fall|winter)\b", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?:(?P<way>by|on|until|before|this|coming|from|starting|every)\s+)?"
    rf"(?P<day>{'|'.join(sorted(WEEKDAYS))})\b(?!s| (?:morning|afternoon|evening|night))",
    re.IGNORECASE,
)
_IN_SO_MANY = re.compile(
    r"\bin\s+(?P<number>an?|one|two|three|four|five|six|seven|eight|nine|ten|[1-9]\d?)\s+(?P<unit>day|week|month|year)s?(?:'s?\s+time)?\b(?!')",
    re.IGNORECASE,
)
_NUMBERS = {
    word: at
    for at, word in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])
} | {
    "a": 1,
    "an": 1,
}
_WEEK_ORDER = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PART_OF_DAY = {
    "this morning": "morning",
    "this afternoon": "afternoon",
    "this evening": "evening",
    "tonight": "evening",
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where in a text days stand, the words that say them absolutely, and the days."""

    start: int
    end: int
    words: str
    days: Span


def resolve(text: str, at: datetime, *, ahead: bool, habitual: bool, own: bool = False) -> list[Resolved]:
    """The days a text names, in order; `ahead` reads those without a year forward, `habitual` leaves them be.

    A day without its month is given one only where a speaker's `own` deed pins it to the month at hand.
    """
    today = at.date()
    found: list[Resolved] = []
    for named in find_days(text, today):
        resolved = _resolved(text, named, today, ahead, habitual)
        if resolved:
            found.append(resolved)
    found += _short_weekdays(text, today)
    found += _spans_back(text, today)
    if own:
        found += _monthless(text, today, ahead, [(each.start, each.end) for each in found])
    if ahead:
        found += _coming(text, today, [(each.start, each.end) for each in found])
    return sorted(found, key=lambda each: each.start)


_SHORT_DAY = re.compile(
    r"\b(?P<chosen>last|this|next|on)\s+(?P<day>mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b", re.IGNORECASE
)


def _short_weekdays(text: str, today: date) -> list[Resolved]:
    """Last Fri and its kin, which are the days their full names are."""
    found: list[Resolved] = []
    for match in _SHORT_DAY.finditer(text):
        full = next(day for day in _WEEK_ORDER if day.startswith(match["day"].lower()[:3]))
        for named in find_days(f"{match['chosen']} {full}", today):
            if not isinstance(named.days, Yearly):
                found.append(Resolved(match.start(), match.end(), f"on {_day(named.days[0])}", named.days))
    return found


_BACK = re.compile(
    rf"\b(?P<span>(?:a few|a couple of|an?|{'|'.join(_NUMBERS)}|[1-9]\d?) (?:day|week|weekend|month|year)s?) back\b",
    re.IGNORECASE,
)


def _spans_back(text: str, today: date) -> list[Resolved]:
    """Two months back, which is two months ago."""
    found: list[Resolved] = []
    for match in _BACK.finditer(text):
        said = f"{match['span'].lower()} ago"
        for named in find_days(said, today):
            if not isinstance(named.days, Yearly):
                words = _worded(said, named.days, today, bare=False)
                found.append(Resolved(match.start(), match.end(), words, named.days))
    return found


_MONTHLESS = re.compile(
    r"\bon the (?P<day>[12]?\d|3[01])(?:st|nd|rd|th)\b(?! (?:of|floor|street|avenue|day|place|hole|birthday)\b)",
    re.IGNORECASE,
)


def _monthless(text: str, today: date, ahead: bool, taken: list[tuple[int, int]]) -> list[Resolved]:
    """On the 15th: of the nearest month that fits, back from today or forward."""
    found: list[Resolved] = []
    for match in _MONTHLESS.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        step = _DAY if ahead else -_DAY
        day = next(
            (each for each in (today + count * step for count in range(62)) if each.day == int(match["day"])), None
        )
        if day is not None:
            found.append(Resolved(match.start(), match.end(), f"on {_day(day)}", (day, day + _DAY)))
    return found


def began(text: str, said: Resolved) -> datetime:
    """The moment from which days told in a text count: so long ago is about the middle of the days it may mean, and
    a year is told by its first day."""
    first, last = begins(said.days), ends(said.days)
    if last - first > _LONGEST_FUZZY or not _AGO.search(text[said.start : said.end + 6]):
        return first
    return (first + (last - first) / 2).replace(hour=0, minute=0, second=0, microsecond=0)


_AGO = re.compile(r"\b(?:ago|back|earlier)\b", re.IGNORECASE)
_LONGEST_FUZZY = timedelta(days=120)


def begins(days: Span) -> datetime:
    """The first moment of the days."""
    return datetime.combine(days[0], time.min, UTC)


def ends(days: Span) -> datetime:
    """The first moment after the days."""
    return datetime.combine(days[1], time.min, UTC)


def _resolved(text: str, named: Named, today: date, ahead: bool, habitual: bool) -> Resolved | None:
    said = text[named.start : named.end]
    if isinstance(named.days, Yearly):
        return None if habitual else _with_year(text, named, said, today, ahead)
    days = named.days
    if _HAS_YEAR.search(said):
        return Resolved(named.start, named.end, said, days)
    if ahead and days[1] <= today and said.lower().startswith("on "):
        days = days[0] + 7 * _DAY, days[1] + 7 * _DAY
    lower = said.lower()
    if _NAMED_DAY.search(said):
        return Resolved(named.start, named.end, f"{said} {days[0].year}", days)
    if habitual and lower in ("today", "this week", "this year", "this month", "this morning"):
        habitual = False
    if habitual and lower.startswith("on "):
        return None
    loose = _LOOSELY.search(text[max(0, named.start - 16) : named.start])
    start = named.start - (loose.end() - loose.start() if loose else 0)
    if (
        days[1] - today == _DAY
        and _SPAN_BACK.match(lower)
        and (over := _WITHIN.search(text[max(0, start - 12) : start]))
    ):
        start -= over.end() - over.start()
    led = _BARE_AFTER.search(text[max(0, start - 24) : start])
    return Resolved(start, named.end, _worded(lower, days, today, bare=led is not None), days)


def _with_year(text: str, named: Named, said: str, today: date, ahead: bool) -> Resolved | None:
    if not isinstance(named.days, Yearly):
        return None
    days = absolute(named.days, today)
    if ahead and not _HAPPENED.search(text[max(0, named.start - 24) : named.start]):
        this, following = named.days.of(today.year), named.days.of(today.year + 1)
        days = this if this[1] > today else following
    if days is None:
        return None
    joint = " of " if _SEASON.search(said) else " "
    return Resolved(named.start, named.end, f"{said}{joint}{days[0].year}", days)


def _worded(said: str, days: Span, today: date, *, bare: bool) -> str:
    """The days in words that need no today; without a preposition where one already stands before them."""
    length = (days[1] - days[0]).days
    inner = "the " if not bare or "week" in said else ""
    if said in _PART_OF_DAY:
        return f"{'' if bare else 'on '}the {_PART_OF_DAY[said]} of {_day(days[0])}"
    if said == "last night":
        return f"{'' if bare else 'on '}the night of {_day(days[0])}"
    if days[1] - today == _DAY and length > 1 and not said.startswith(("this", "a ", "last week", "last month")):
        return f"{'' if bare else 'since '}about {_day(days[0]) if length < 60 else _month(days[0])}"
    if length == 1:
        return f"{'' if bare else 'on '}{_day(days[0])}"
    if length == 2:
        return f"{'' if bare else 'on '}{inner}weekend of {_day(days[0])}"
    if "ago" in said or "before" in said or "after" in said:
        return _about(said, days, bare=bare)
    if length == 7:
        return f"{'' if bare else 'in '}the week of {_day(days[0])}"
    if 28 <= length <= 31:
        return f"{'' if bare else 'in '}{_month(days[0])}"
    if length in (365, 366):
        return f"{'' if bare else 'in '}{days[0].year}"
    if season := _SEASON.search(said):
        return f"{'' if bare else 'in '}the {season.group().lower()} of {days[0].year}"
    return f"{'' if bare else 'between '}{_day(days[0])} and {_day(days[1] - _DAY)}"


def _about(said: str, days: Span, *, bare: bool) -> str:
    """About the middle of the days, as finely as the words that told them."""
    middle = days[0] + (days[1] - days[0]) / 2
    if "year" in said:
        return f"{'' if bare else 'in '}about {middle.year}"
    return f"{'' if bare else 'in '}about {_month(middle)}" if "month" in said else f"about {_day(middle)}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _month(day: date) -> str:
    return f"{day:%B} {day.year}"


def _coming(text: str, today: date, taken: list[tuple[int, int]]) -> list[Resolved]:
    """Weekdays and spans ahead that a plan names: by Friday, in two weeks."""
    found: list[Resolved] = []
    for match in _AHEAD.finditer(text):
        way = (match["way"] or "").lower()
        if (
            way == "every"
            or text[: match.start()].lower().endswith((" a ", " the "))
            or any(start < match.end() and match.start() < end for start, end in taken)
        ):
            continue
        away = (_WEEK_ORDER.index(match["day"].lower()) - today.weekday() - 1) % 7 + 1
        day = today + away * _DAY
        led = text[: match.start()].lower().endswith((" for ", " of ", " with "))
        word = "" if led else "on " if way in ("", "this", "coming", "on") else f"{way} "
        found.append(Resolved(match.start(), match.end(), f"{word}{_day(day)}", (day, day + _DAY)))
    for match in _IN_SO_MANY.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in taken):
            continue
        number = match["number"].lower()
        count = _NUMBERS[number] if number in _NUMBERS else int(number)
        unit = match["unit"].lower()
        day = today + timedelta(days=count * {"day": 1, "week": 7, "month": 30, "year": 365}[unit])
        words = {
            "day": f"on {_day(day)}",
            "week": f"around {_day(day)}",
            "month": f"in about {_month(day)}",
            "year": f"in about {day.year}",
        }
        found.append(Resolved(match.start(), match.end(), words[unit], (day, day + _DAY)))
    return found
