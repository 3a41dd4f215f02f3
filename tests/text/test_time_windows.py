"""The time spans that a text names.

Covers `lamina.text.calendar_days` and `lamina.text.date_mentions`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus import read_corpus
from cpu_time import LONG, cpu_seconds
from lamina.text.time_windows import SLACK, TimeWindows, find_mentioned_spans, find_time_windows

NOW = datetime(2023, 9, 20, 12, tzinfo=UTC)  # a Wednesday
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def utc_day(text: str) -> datetime:
    return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)


DATA = Path(__file__).parent / "data"
SPANS = read_corpus(DATA / "time_spans.jsonl")


def test_questions_name_their_time_spans() -> None:
    expected = {row["question"]: ((utc_day(row["start"]), utc_day(row["end"]) + SLACK),) for row in SPANS}
    assert {question: find_time_windows(question, NOW).spans for question in expected} == expected


@pytest.mark.parametrize(
    ("question", "first", "until", "text"),
    [
        ("When did she go camping in June?", (6, 1), (7, 1), "in June"),
        ("What happened on May 8?", (5, 8), (5, 9), "May 8"),
        ("What happened on 31 December?", (12, 31), (1, 1), "31 December"),
        ("What did they give him on Aug 15th?", (8, 15), (8, 16), "Aug 15th"),
        ("Who joined the May 12 interview panel?", (5, 12), (5, 13), "May 12"),
        ("what did i do in may", (5, 1), (6, 1), "in may"),
        ("What about February 29?", (2, 29), (3, 1), "February 29"),
        ("Which parade was it during the summer?", (6, 1), (9, 1), "during the summer"),
        ("What about the second week of November?", (11, 1), (12, 1), "week of November"),
    ],
)
def test_without_a_year_every_year_matches(
    question: str, first: tuple[int, int], until: tuple[int, int], text: str
) -> None:
    windows = find_time_windows(question, NOW)
    assert [(yearly.first, yearly.until) for yearly in windows.yearly] == [(first, until)]
    assert (windows.spans, windows.phrases) == ((), (text,))


def test_questions_without_a_time_name_none() -> None:
    questions = read_corpus(DATA / "no_time.jsonl")
    windows = {question: find_time_windows(question, NOW) for question in questions}
    assert [question for question in questions if windows[question] or windows[question] != TimeWindows()] == []
    assert [question for question in questions if find_mentioned_spans(question, NOW)] == []


def test_a_relative_time_with_a_reference_date_is_resolved() -> None:
    windows = find_time_windows("Where was Ola the week before August 3, 2023?", NOW)
    assert windows.spans == (
        (utc_day("2023-07-27"), utc_day("2023-08-03") + SLACK),
        (utc_day("2023-08-03"), utc_day("2023-08-04") + SLACK),
    )
    assert windows.phrases == ("week before", "August 3, 2023")


def test_two_named_times_both_count() -> None:
    windows = find_time_windows("Was it in 2021 or in May?", NOW)
    assert windows.phrases == ("in 2021", "in May")
    assert windows.contains_time(utc_day("2021-11-01"))
    assert windows.contains_time(utc_day("1999-05-15"))
    assert not windows.contains_time(utc_day("2022-11-01"))


def test_a_window_extends_one_day_and_no_more() -> None:
    windows = find_time_windows("in May 2023", NOW)
    assert not windows.contains_time(utc_day("2023-05-01") - timedelta(milliseconds=1))
    assert windows.contains_time(utc_day("2023-05-01"))
    assert windows.contains_time(utc_day("2023-06-02") - timedelta(milliseconds=1))
    assert not windows.contains_time(utc_day("2023-06-02"))


def test_a_yearly_date_extends_one_day_too() -> None:
    leap_day = find_time_windows("on 29 February", NOW)
    assert [
        leap_day.contains_time(utc_day(text)) for text in ("2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02")
    ] == [False, True, True, False]
    assert not leap_day.contains_time(utc_day("2023-03-01"))
    assert find_time_windows("on 31 December", NOW).contains_time(utc_day("2024-01-01"))
    assert not find_time_windows("on 31 December", NOW).contains_time(utc_day("2024-01-02"))


def test_the_hour_of_any_zone_is_read_as_utc() -> None:
    late = datetime(2023, 9, 20, 23, tzinfo=timezone(timedelta(hours=-5)))
    assert find_time_windows("yesterday", late).spans == ((utc_day("2023-09-20"), utc_day("2023-09-21") + SLACK),)


@pytest.mark.parametrize(
    ("turn", "spans"),
    [
        ("I went hiking yesterday.", [("2023-09-19", "2023-09-20")]),
        ("I saw her last week and two weekends ago", [("2023-09-11", "2023-09-18"), ("2023-09-09", "2023-09-11")]),
        ("We met on 3 July", [("2023-07-03", "2023-07-04")]),
        ("We met on 3 October", [("2022-10-03", "2022-10-04")]),
        ("We met on 20 September", [("2023-09-20", "2023-09-21")]),
        ("It was in May", [("2023-05-01", "2023-06-01")]),
        ("It was in December", [("2022-12-01", "2023-01-01")]),
        ("We are off next May", [("2024-05-01", "2024-06-01")]),
        ("We leave tomorrow, back next Friday", [("2023-09-21", "2023-09-22"), ("2023-09-22", "2023-09-23")]),
        ("It was the week before 9 June", [("2023-06-02", "2023-06-09")]),
        ("It was the Sunday before October 25, 2022", [("2022-10-23", "2022-10-24")]),
        ("It was the Saturday after 25 October 2022", [("2022-10-29", "2022-10-30")]),
        ("It was two days after 25 October 2022", [("2022-10-27", "2022-10-28")]),
        ("Nothing to tell", []),
    ],
)
def test_a_turn_names_a_time_relative_to_when_it_was_said(turn: str, spans: list[tuple[str, str]]) -> None:
    assert find_mentioned_spans(turn, NOW) == tuple((utc_day(start), utc_day(end)) for start, end in spans)


PHRASES = [row["question"] for row in SPANS] + ["in May", "on 29 February", "in winter", "on 31 December, in 1999"]
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))


@settings(deadline=None)
@given(st.lists(st.sampled_from(PHRASES), min_size=1, max_size=3), st.lists(MOMENTS, max_size=20), MOMENTS)
@example(["in winter"], [datetime(9999, 12, 31, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)], NOW)
def test_vectorised_tests_equal_single_ones(phrases: list[str], moments: list[datetime], now: datetime) -> None:
    windows = find_time_windows(". ".join(phrases), now)
    times = np.array([(moment - EPOCH) // timedelta(milliseconds=1) for moment in moments], np.int64)
    inside = windows.contains(times)
    assert inside.dtype == np.bool_
    assert inside.tolist() == [windows.contains_time(moment) for moment in moments]


@settings(deadline=None)
@given(MOMENTS)
def test_a_yearly_month_contains_that_month_and_the_day_after(moment: datetime) -> None:
    expected = moment.month == 5 or (moment.month, moment.day) == (6, 1)
    assert find_time_windows("in May", NOW).contains_time(moment) == expected


def test_times_beyond_the_calendar_are_handled() -> None:
    extremes = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max, 0], np.int64)
    assert find_time_windows("in May", NOW).contains(extremes).tolist() == [False, False, False]
    assert find_time_windows("in May", NOW).contains(np.empty(0, np.int64)).tolist() == []
    assert TimeWindows().contains(extremes).tolist() == [False, False, False]


VOCABULARY = """
    in on last this next past the a few couple of two 3 31 2023 May march fall summer Friday week weekends months years
    ago before after since between and yesterday , - ' ’ é 年
"""
WORDS = st.sampled_from(VOCABULARY.split())


@settings(deadline=None)
@given(st.text() | st.lists(WORDS, max_size=12).map(" ".join), MOMENTS)
def test_any_text_is_parsed(text: str, now: datetime) -> None:
    windows = find_time_windows(text, now)
    assert bool(windows) == bool(windows.phrases)
    assert all(start < end for start, end in windows.spans)
    assert all(windows.phrases)
    assert all(start < end for start, end in find_mentioned_spans(text, now))


@pytest.mark.parametrize(
    "part",
    [
        " ",
        "1 ",
        "11",
        "may ",
        "may 8 ",
        "in may ",
        "last ",
        "last 2 days ",
        "the ",
        "a couple of ",
        "since since ",
        "between May 1 and ",
        "week before ",
        "2023-",
        "2023-05-08 ",
        "on friday ",
        "May 8, ",
        "’",
        "年",
        "\u0301",
        "a ",
    ],
)
def test_long_texts_are_parsed_quickly(part: str) -> None:
    text = part * (10_000 // len(part))
    assert cpu_seconds(lambda: (find_time_windows(text, NOW), find_mentioned_spans(text, NOW))) < LONG
