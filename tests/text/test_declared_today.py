"""A question that only says which day it is does not ask about that day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.recall.request_and_question import parse_question
from lamina.text.time_windows import split_declared_today

NOW = datetime(2026, 9, 20, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "rest", "day"),
    [
        ("(Today is 2022-08-14.) Where do I work?", "Where do I work?", "2022-08-14"),
        ("Today's date: 14 August 2022. Where do I work?", "Where do I work?", "2022-08-14"),
        ("Current date: 2022/08/14\nWhere do I work?", "Where do I work?", "2022-08-14"),
        ("Where do I work? [Today is August 14, 2022]", "Where do I work?", "2022-08-14"),
        ("Today is 2022-03-00. Where do I work?", "Where do I work?", "2026-09-20"),
        ("(Today is 1279-01-01.) Who is my wife?", "Who is my wife?", "2026-09-20"),
    ],
)
def test_a_declared_date_is_no_part_of_the_question(question: str, rest: str, day: str) -> None:
    text, now = split_declared_today(question, NOW)
    assert (text, now.date().isoformat()) == (rest, day)
    assert not parse_question(question, (), NOW).time_windows


@pytest.mark.parametrize(
    "question", ["What did I do today?", "Today is special, why?", "Is the date 12 May?", "Is today's run at 7?", ""]
)
def test_other_questions_stay_as_they_are(question: str) -> None:
    assert split_declared_today(question, NOW) == (question, NOW)


def test_relative_days_count_from_the_declared_date() -> None:
    parsed = parse_question("Today is 2022-08-14. Where was I yesterday?", (), NOW)
    assert parsed.time_windows.contains_time(datetime(2022, 8, 13, 12, tzinfo=UTC))
    assert not parsed.time_windows.contains_time(datetime(2026, 9, 19, 12, tzinfo=UTC))
