"""Whether words bear a statement out: what a model says that nobody said is not kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

from lamina.capture.found import Said
from lamina.capture.llm.quotes import UNSPACED
from lamina.text.days import absolute, find_days
from lamina.text.normal import normal_form
from lamina.text.roles import ROLES
from lamina.text.times import parse_time

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_TOKEN = re.compile(r"[^\W_]+")
_PART = re.compile(r"\d+|[^\W\d_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)\W*$")
_NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
_ALWAYS = frozenset({"i", *ROLES})


def stands_in(words: str, text: str) -> bool:
    """Whether every word is one of the text's own; in scripts without spaces, whether the text holds them."""
    form, whole = normal_form(words), normal_form(text)
    if not form:
        return False
    return set(form.split()) <= set(whole.split()) or (UNSPACED.search(form) is not None and form in whole)


def is_borne_out(content: str, around: Sequence[str], days: Iterable[date]) -> bool:
    """Whether every name and number of a statement stands in the words around it or in a day they name."""
    known = _ALWAYS | set(_parts(" ".join(around)))
    known |= {_NUMBERS[each] for each in known & _NUMBERS.keys()}
    for day in days:
        known |= _told(day)
    return all(each in known for word in _telling(content) for each in _parts(word))


def days_named(said: Said, *more: datetime | None) -> list[date]:
    """The day of a turn, the first and last days of times its words name, and others."""
    today = said.at.date()
    spans = [span for named in find_days(said.text, today) if (span := absolute(named.days, today))]
    ends = [end - timedelta(days=1) for start, end in spans if end > start]
    return [today, *(start for start, _ in spans), *ends, *(each.date() for each in more if each)]


def day_told(text: str, said: Said, *, end: bool = False) -> datetime | None:
    """The moment a day stands for, if it is one and the turn names a time; the day of the turn itself always may."""
    if not _DAY.fullmatch(text.strip()):
        return None
    try:
        moment = parse_time(text, end=end)
    except ValueError:
        return None
    today = said.at.date()
    named = text.strip() == today.isoformat() or find_days(said.text, today) or _YEAR.search(said.text)
    return moment if named else None


def _telling(content: str) -> list[str]:
    """The words with a digit or, not at the start of a sentence, a capital."""
    return [
        found.group()
        for found in _TOKEN.finditer(_THOUSANDS.sub("", content))
        if any(map(str.isdigit, found.group()))
        or (found.group()[0].isupper() and not _SENTENCE_START.search(found.string[: found.start()][-8:]))
    ]


def _parts(text: str) -> list[str]:
    """Runs of digits and runs of letters, so that 3pm is 3 and pm, and 1,200 is 1200."""
    return _PART.findall(normal_form(_THOUSANDS.sub("", text)))


def _told(day: date) -> set[str]:
    names = f"{day:%A %a %B %b}".lower().split()
    numbers = {str(day.day), f"{day.day:02d}", str(day.month), f"{day.month:02d}", str(day.year)}
    return {*names, *numbers, "st", "nd", "rd", "th"}
