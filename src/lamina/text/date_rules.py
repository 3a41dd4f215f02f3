"""The rules that find dates: a pattern, a check of the words around it, and a reader of its days.

Every pattern takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from lamina.text.calendar_spans import DateSpan, YearlyDays
from lamina.text.date_match_checks import always, is_chosen, is_count, is_past, means_the_month
from lamina.text.date_readers import (
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
from lamina.text.date_words import (
    COUNTED,
    DAY_NUMBER,
    MONTH,
    NUMBER,
    PART_OF,
    RANGE_SIGN,
    SEASON,
    UNIT,
    WEEKDAY,
    YEAR,
    YEAR_AFTER,
    compile_rule,
)

DateRule = tuple[
    re.Pattern[str], Callable[[str, re.Match[str]], bool], Callable[[re.Match[str], date], DateSpan | YearlyDays | None]
]

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
            rf"\b{MONTH}\.?\s+(?:the\s+)?(?P<day>{DAY_NUMBER})(?:{RANGE_SIGN}(?P<to>{DAY_NUMBER}))?\b(?![.:/,-]?[0-9])"
            rf"(?:{YEAR_AFTER})?"
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
