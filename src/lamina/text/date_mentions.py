"""Find dates in English text: "last May", "8 May 2023", "two weeks ago".

The text is read twice: first for named dates, then for dates relative to a day, which is today or a date beside them.
A rule is a pattern, a check of the words around it, and a reader of its days; every pattern takes time linear in the
text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from lamina.text.calendar_days import (
    COUNTED,
    DAY,
    DAY_NUMBER,
    MONTH,
    NUMBER,
    PART_OF,
    RANGE_SIGN,
    SEASON,
    SEASONS,
    UNIT,
    VERB_MONTHS,
    WEEKDAY,
    WEEKDAY_NUMBERS,
    YEAR,
    YEAR_AFTER,
    DateSpan,
    Days,
    WeeklyDay,
    YearlyDays,
    compile_rule,
    read_adjacent,
    read_before_last,
    read_chosen_month,
    read_chosen_season,
    read_count,
    read_iso_date,
    read_month_or_day,
    read_near_day,
    read_near_unit,
    read_past,
    read_season,
    read_weekday,
    read_year,
)
from lamina.text.occurrence_choice import choose_occurrence

_LAST_WORD = re.compile(r"([\w']+)\W{0,3}\Z", re.ASCII)
_POSSESSIVE_WORDS = "my his our their your its a the every each whose"
_POSSESSIVES = frozenset(_POSSESSIVE_WORDS.split())
_AUXILIARY_WORDS = "did does do will would can could should might may must to didn't doesn't won't let make"
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_WORDS = re.compile(r"[\w']+", re.ASCII)
_AFTER_VERB_FALL = compile_rule(
    r"\s+(?:apart|off|down|out|over|into|under|from|behind|short|through|victim|flat|back|asleep|ill|on)\b"
)
_PREPOSITION = compile_rule(
    r"\b(?:in|on|by|since|until|till|from|before|after|during|throughout|around|last|next)\s+"
    r"(?:(?:early|late|mid)[\s-]+)?\Z"
)
_PREPOSITION_OF = compile_rule(r"\bof\s+\Z")


def means_the_month(text: str, match: re.Match[str]) -> bool:
    """Return whether "may" and "march" are months: after a preposition, or capitalised inside a sentence."""
    word, groups = match["month"], match.groupdict()
    if word.lower() not in VERB_MONTHS:
        return True
    if (groups.get("chosen") or "").lower() == "this":
        return word.istitle()
    if _PREPOSITION.search(text_before(text, match.start())) or _PREPOSITION.search(
        text_before(text, match.start("month"))
    ):
        return True
    if groups.get("year") and groups.get("day"):
        return True
    if not word.istitle():
        return bool(groups.get("day") or groups.get("year")) and bool(
            _PREPOSITION_OF.search(text_before(text, match.start("month")))
        )
    return (
        bool(groups.get("year")) or not _starts_sentence(text, match.start()) or not _WORDS.match(text, match.end() + 1)
    )


def is_chosen(text: str, match: re.Match[str]) -> bool:
    """Return whether "last" and similar words select by time: "last May", but not "my last May" or "the last fall"."""
    previous, groups = _word_before(text, match.start()), match.groupdict()
    if previous in _POSSESSIVES or previous.endswith("'s"):
        return False
    if (groups.get("season") or "").lower() == "fall":
        return previous not in _AUXILIARIES and previous != "her" and not _AFTER_VERB_FALL.match(text, match.end())
    return not groups.get("month") or means_the_month(text, match)


def is_past(text: str, match: re.Match[str]) -> bool:
    """Return whether "last two weeks" is a time and not how long something lasted."""
    if match["led"] or match["chosen"].lower() != "last":
        return True
    sentence = re.split(r"[.?!]", text[max(0, match.start() - 200) : match.start()].lower())[-1]
    return _AUXILIARIES.isdisjoint(_WORDS.findall(sentence))


def is_count(text: str, match: re.Match[str]) -> bool:
    """Return whether a number counts whole units: not "half a year", not "how many weeks"."""
    return _word_before(text, match.start()) not in ("half", "many")


def always(text: str, match: re.Match[str]) -> bool:
    """Accept every match."""
    return True


def text_before(text: str, at: int) -> str:
    """Return the words before a position, as far as a check needs them."""
    return text[max(0, at - 24) : at]


def _word_before(text: str, at: int) -> str:
    word = _LAST_WORD.search(text_before(text, at))
    return word[1].lower() if word else ""


def _starts_sentence(text: str, at: int) -> bool:
    """Return whether a sentence begins at this position."""
    before = text_before(text, at).rstrip(" \"'(")
    return before[-1:] in ".?!:;\n" if before else at <= 24


DateRule = tuple[re.Pattern[str], Callable[[str, re.Match[str]], bool], Callable[[re.Match[str], date], Days | None]]

NAMED_DATES: tuple[DateRule, ...] = (
    (
        compile_rule(
            rf"(?<![\w/.-])(?P<y>{YEAR})(?P<sep>[-/])(?P<m>[0-9]{{1,2}})(?P=sep)(?P<d>[0-9]{{1,2}})(?![0-9/-])"
        ),
        always,
        read_iso_date,
    ),
    (
        compile_rule(
            rf"\b{MONTH}(?:\.[ \t]+|\s+)(?:the\s+)?(?P<day>{DAY_NUMBER})(?:{RANGE_SIGN}(?P<to>{DAY_NUMBER}))?\b"
            rf"(?![.:/,-]?[0-9])(?:{YEAR_AFTER})?"
        ),
        means_the_month,
        read_month_or_day,
    ),
    (compile_rule(rf"\b{MONTH}\.?\s+(?P<day>{DAY_NUMBER}),(?P<year>{YEAR})\b"), means_the_month, read_month_or_day),
    (
        compile_rule(
            rf"(?<![\w.:/,$-])(?P<day>{DAY_NUMBER})(?:{RANGE_SIGN}(?P<to>{DAY_NUMBER}))?\s+(?:of\s+)?{MONTH}"
            rf"(?:\.?{YEAR_AFTER})?"
        ),
        means_the_month,
        read_month_or_day,
    ),
    (compile_rule(rf"\b{MONTH}\.?{YEAR_AFTER}"), means_the_month, read_month_or_day),
    (compile_rule(rf"\b(?P<chosen>last|this|next)\s+{MONTH}(?!'?\w)"), is_chosen, read_chosen_month),
    (
        compile_rule(
            rf"\b(?:(?:in|during|throughout|since|until|till|{PART_OF})\s+(?:(?:early|late|mid)[\s-]+)?"
            rf"|(?:early|late|mid)[\s-]+){MONTH}(?!'?\w)"
        ),
        means_the_month,
        read_month_or_day,
    ),
    (compile_rule(rf"\b{SEASON}{YEAR_AFTER}"), always, read_season),
    (compile_rule(rf"\b(?P<chosen>last|this|next)\s+{SEASON}"), is_chosen, read_chosen_season),
    (
        compile_rule(
            r"\b(?:in|during|over|throughout)\s+(?:the\s+)?(?P<season>spring|summer|autumn|winter)"
            r"(?=\s*(?:[?.!,;:)]|\Z))"
        ),
        always,
        read_season,
    ),
    (
        compile_rule(
            rf"\b(?:in|during|throughout|since|year|{PART_OF})\s+(?:(?:early|late|mid)[\s-]+)?(?P<year>{YEAR})"
            rf"\b(?![-.,:/]?[0-9]|\s?[%$]|\s+(?:{COUNTED})\b)"
        ),
        always,
        read_year,
    ),
)
"""Named dates. The first rule that matches takes the words."""

RELATIVE_DATES: tuple[DateRule, ...] = (
    (
        compile_rule(
            r"\bday\s+before\s+yesterday\b|\b(?:yesterday|today|tonight|tomorrow|last\s+night)\b"
            r"|\bthis\s+(?:morning|afternoon|evening)\b"
        ),
        always,
        read_near_day,
    ),
    (compile_rule(rf"{NUMBER}{UNIT}\s+(?P<way>ago|before|after)\b"), is_count, read_count),
    (
        compile_rule(rf"\b(?P<led>(?:the|these|in|over|during|for|within)\s+)?(?P<chosen>last|past)\s+{NUMBER}{UNIT}"),
        is_past,
        read_past,
    ),
    (compile_rule(r"\b(?:the\s+last|(?:the\s+)?past)\s+(?P<unit>week|month|year)\b(?!\s+of\b|')"), always, read_past),
    (compile_rule(r"\b(?P<unit>week|weekend|month|year)\s+before\s+last\b"), always, read_before_last),
    (compile_rule(r"\b(?:the\s+)?(?P<chosen>past)\s+(?P<unit>weekend)\b"), always, read_near_unit),
    (
        compile_rule(r"\b(?P<chosen>last|this|next)\s+(?P<unit>week|weekend|month|year)\b(?!\s+of\b)"),
        is_chosen,
        read_near_unit,
    ),
    (
        compile_rule(
            rf"\b(?P<chosen>last|past|this|next|on)\s+{WEEKDAY}(?!\s+(?:mornings|afternoons|evenings|nights|of)\b)"
        ),
        is_chosen,
        read_weekday,
    ),
    (
        compile_rule(rf"\b(?:(?P<unit>day|night|week|weekend|month|year)\b|{WEEKDAY})\s+(?P<way>before|after|of)\b"),
        always,
        read_adjacent,
    ),
)
"""Dates relative to a day: today, or a date that follows."""


@dataclass(frozen=True, slots=True)
class DateMention:
    """A place in a text that names days; `is_anchor`: another mention is relative to this date.

    `span` are the days in the calendar; None for days that recur if the text does not say which are meant.
    """

    start: int
    end: int
    days: Days
    span: DateSpan | None
    is_anchor: bool = False


def find_dates(text: str, today: date) -> list[DateMention]:
    """Return all mentions of days in a text, in order."""
    text = text.translate(_ASCII_TABLE)
    if _HINTS.isdisjoint(_LETTERS.findall(text.lower())) and not _A_YEAR.search(text):
        return []
    taken = bytearray(len(text))
    dates = [
        _make_mention(text, match.start(), match.end(), days, today)
        for match, days in _apply_rules(text, NAMED_DATES, taken, lambda match: today)
        if days
    ]
    anchors = {named.start: named.span[0] for named in dates if named.span and named.span[1] - named.span[0] == DAY}
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
        _make_mention(text, match.start(), match.end(), days, today)
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
_RANGE_GOES_ON = compile_rule(r"\s*(?:and|(?P<sign>to|until|till|through|-))\s*(?:the\s+)?")


def _apply_rules(
    text: str, rules: tuple[DateRule, ...], taken: bytearray, reference_day: Callable[[re.Match[str]], date | None]
) -> Iterator[tuple[re.Match[str], Days | None]]:
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


def _make_mention(text: str, start: int, end: int, days: Days, today: date) -> DateMention:
    span = days if isinstance(days, tuple) else choose_occurrence(days, text, start, end, today)
    return DateMention(start, end, days, span)


def _join_ranges(text: str, dates: list[DateMention], today: date) -> list[DateMention]:
    """Return the dates, with "one to another" and "between one and another" as one span and "since one" up to today."""
    joined: list[DateMention] = []
    for named in dates:
        last = joined[-1] if joined else None
        continuation = _RANGE_GOES_ON.match(text, last.end) if last else None
        if last and continuation and continuation.end() == named.start:
            is_range = continuation["sign"] or _RANGE_OPENS.search(text_before(text, last.start))
            days = _between(last.days, named.days) if is_range else None
            if days:
                joined[-1] = _make_mention(text, last.start, named.end, days, today)
                continue
        joined.append(named)
    return [_until_today(text, named, today) for named in joined]


def _between(first: Days, last: Days) -> Days | None:
    if isinstance(last, YearlyDays):
        return YearlyDays(first.first, last.until) if isinstance(first, YearlyDays) else None
    if isinstance(first, WeeklyDay) or isinstance(last, WeeklyDay):
        return None
    if isinstance(first, YearlyDays):
        year = last[0].year
        first = next((span for span in map(first.in_year, (year, year - 1)) if span[0] < last[1]), last)
    return (first[0], last[1]) if first[0] < last[1] else None


def _until_today(text: str, named: DateMention, today: date) -> DateMention:
    is_since = text[named.start : named.start + 5].lower() == "since" or _SINCE.search(text_before(text, named.start))
    if not is_since or today == date.max:
        return named
    days = named.days if isinstance(named.days, tuple) else named.days.latest_begun(today)
    if days is None or days[0] > today:
        return named
    return replace(named, days=(days[0], today + DAY), span=(days[0], today + DAY))


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
