"""Find dates in English text: "last May", "8 May 2023", "two weeks ago".

The text is read twice: first for named dates, then for dates relative to a day, which is today or a date beside them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from lamina.text.calendar_spans import DAY, DateSpan, YearlyDays
from lamina.text.date_match_checks import text_before
from lamina.text.date_rules import NAMED_DATES, RELATIVE_DATES, DateRule
from lamina.text.date_words import SEASONS, WEEKDAY_NUMBERS, YEAR, compile_rule


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
        for match, days in _apply_rules(text, NAMED_DATES, taken, lambda match: today)
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
        for match, days in _apply_rules(text, RELATIVE_DATES, taken, reference_day)
        if days
    ]
    dates = [
        replace(named, is_anchor=named.start in leaned_on) for named in sorted(dates, key=lambda named: named.start)
    ]
    return sorted(relative + _join_ranges(text, dates, today), key=lambda named: named.start)


_REQUIRES_DATE = frozenset({"before", "after", "of"})
_AS_OF = compile_rule(
    r"\s*,?\s*(?P<from>(?:as\s+(?:mentioned|said|told|discussed)|before|prior\s+to)\b)?\s*(?:on\s+)?(?:the\s+)?"
)
_SINCE = compile_rule(r"\bsince\s+(?:\w{3,9}\s+)?\Z")
_RANGE_OPENS = compile_rule(r"\b(?:between|from)\s+(?:the\s+)?\Z")
_RANGE_GOES_ON = compile_rule(r"\s*(?:and|to|until|till|through|-)\s*(?:the\s+)?")


def _apply_rules(
    text: str, rules: tuple[DateRule, ...], taken: bytearray, reference_day: Callable[[re.Match[str]], date | None]
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
    return span[0] if span and span[1] - span[0] == DAY else None


def _join_ranges(text: str, dates: list[DateMention], today: date) -> list[DateMention]:
    """Return the dates, with "between one and another" as one span and "since one" up to today."""
    joined: list[DateMention] = []
    for named in dates:
        last = joined[-1] if joined else None
        if last and _RANGE_OPENS.search(text_before(text, last.start)):
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
    is_since = text[named.start : named.start + 5].lower() == "since" or _SINCE.search(text_before(text, named.start))
    days = resolve_year(named.days, today) if is_since else None
    return replace(named, days=(days[0], today + DAY)) if days and days[0] <= today < date.max else named


_MONTH_WORDS = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
"""
_NEAR_WORDS = "last this next past ago yesterday today tonight tomorrow"
_HINTS = frozenset([*_MONTH_WORDS.split(), *_NEAR_WORDS.split(), *WEEKDAY_NUMBERS, *SEASONS])
"""A text without one of these words and without a year names no day; most texts need no further work."""
_LETTERS = re.compile(r"[a-z]+")
_A_YEAR = re.compile(YEAR)


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
