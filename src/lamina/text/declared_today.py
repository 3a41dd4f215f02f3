"""The date that a question gives as today's: programs put "Today is 2026-03-02." in front of what a person asks."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time

from lamina.text.date_expressions import find_dates, resolve_year
from lamina.text.timestamps import to_utc

_OPENING = re.compile(
    r"[(\[]?\s*\b(?:today(?:['’]s\s+date)?|(?:the\s+)?(?:current\s+date|date\s+today))\s*(?:is|[:=])\s*(?:on\s+)?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b")
_CLOSING = re.compile(r"[\s.,;:)\]]*")


def split_declared_today(question: str, now: datetime) -> tuple[str, datetime]:
    """Return the question without the words that give today's date, and that date; else the question and `now`.

    A date that does not exist, such as 2022-03-00, is removed and not used.
    """
    today = to_utc(now).date()
    openings = list(_OPENING.finditer(question))
    mentions = {mention.start: mention for mention in find_dates(question, today)} if openings else {}
    for opening in openings:
        numbers = _NUMBERS.match(question, opening.end())
        mention = mentions.get(opening.end())
        end = max(numbers.end() if numbers else 0, mention.end if mention else 0)
        if not end:
            continue
        days = resolve_year(mention.days, today) if mention else None
        closing = _CLOSING.match(question, end)
        rest = f"{question[: opening.start()]} {question[closing.end() if closing else end :]}".strip()
        return rest or question, (datetime.combine(days[0], time(12), UTC) if days else now)
    return question, now
