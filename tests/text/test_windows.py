"""The spans of time that words name."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lamina.text.time_windows import SLACK, TimeWindows, find_mentioned_spans, find_time_windows

NOW = datetime(2023, 9, 20, 12, tzinfo=UTC)  # a Wednesday
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)


SPANS = [
    ("What happened on 8 May 2023?", "2023-05-08", "2023-05-09"),
    ("What happened on the 8th of May, 2023?", "2023-05-08", "2023-05-09"),
    ("What happened on May 8th, 2023?", "2023-05-08", "2023-05-09"),
    ("What happened on may 8, 2023?", "2023-05-08", "2023-05-09"),
    ("Where was it taken on December 1,2023?", "2023-12-01", "2023-12-02"),
    ("What happened on 2023-05-08?", "2023-05-08", "2023-05-09"),
    ("What happened on 2023/5/8?", "2023-05-08", "2023-05-09"),
    ("What did I buy in May 2023?", "2023-05-01", "2023-06-01"),
    ("What did I buy in may, 2023?", "2023-05-01", "2023-06-01"),
    ("What did I buy in the beginning of Sept. 2022?", "2022-09-01", "2022-10-01"),
    ("What did I buy in May last year?", "2022-05-01", "2022-06-01"),
    ("What did I buy last May?", "2023-05-01", "2023-06-01"),
    ("what did i buy last may", "2023-05-01", "2023-06-01"),
    ("What did I buy last September?", "2022-09-01", "2022-10-01"),
    ("What did I buy this May?", "2023-05-01", "2023-06-01"),
    ("What will I buy next May?", "2024-05-01", "2024-06-01"),
    ("Where was I last summer?", "2023-06-01", "2023-09-01"),
    ("Where was I last fall?", "2022-09-01", "2022-12-01"),
    ("Where was I last winter?", "2022-12-01", "2023-03-01"),
    ("Where am I this autumn?", "2023-09-01", "2023-12-01"),
    ("Where was I this winter?", "2023-12-01", "2024-03-01"),
    ("Where was I in the summer of 2022?", "2022-06-01", "2022-09-01"),
    ("Where was I in spring 2021?", "2021-03-01", "2021-06-01"),
    ("Where was I in 2022?", "2022-01-01", "2023-01-01"),
    ("What happened in 1984?", "1984-01-01", "1985-01-01"),
    ("What did I do yesterday?", "2023-09-19", "2023-09-20"),
    ("What was yesterday's lunch?", "2023-09-19", "2023-09-20"),
    ("What was in ‘May 2023’?", "2023-05-01", "2023-06-01"),
    ("What was 'last May'?", "2023-05-01", "2023-06-01"),
    ("What did I do the day before yesterday?", "2023-09-18", "2023-09-19"),
    ("What did I do today?", "2023-09-20", "2023-09-21"),
    ("What did I eat last night?", "2023-09-19", "2023-09-20"),
    ("What did I do 5 days ago?", "2023-09-15", "2023-09-16"),
    ("What did I do two weeks ago?", "2023-09-03", "2023-09-10"),
    ("What did I do a couple of weeks ago?", "2023-09-03", "2023-09-10"),
    ("What did I do a few weeks ago?", "2023-08-20", "2023-09-10"),
    ("What did I do a month ago?", "2023-08-05", "2023-09-05"),
    ("Where did I live twelve years ago?", "2011-01-01", "2012-01-01"),
    ("What did I do two weekends ago?", "2023-09-09", "2023-09-11"),
    ("What did I do last week?", "2023-09-11", "2023-09-18"),
    ("What did I do the week before last?", "2023-09-04", "2023-09-11"),
    ("What did I do last month?", "2023-08-01", "2023-09-01"),
    ("What did I do last year?", "2022-01-01", "2023-01-01"),
    ("What did I do last weekend?", "2023-09-16", "2023-09-18"),
    ("Which bike did I fix the past weekend?", "2023-09-16", "2023-09-18"),
    ("How many weddings in this year?", "2023-01-01", "2024-01-01"),
    ("What did I do in the past 3 weeks?", "2023-08-30", "2023-09-21"),
    ("What did I do over the last few days?", "2023-09-16", "2023-09-21"),
    ("Tell me about the last 10 days", "2023-09-10", "2023-09-21"),
    ("What did I do in the last month?", "2023-08-20", "2023-09-21"),
    ("What did I do last Friday?", "2023-09-15", "2023-09-16"),
    ("What did I do last Wednesday?", "2023-09-13", "2023-09-14"),
    ("What did I do on Friday?", "2023-09-15", "2023-09-16"),
    ("What did I do on Wednesday?", "2023-09-20", "2023-09-21"),
    ("Where was Ola between August 11 and August 15 of 2023?", "2023-08-11", "2023-08-16"),
    ("Where was John on August 11-15, 2023?", "2023-08-11", "2023-08-16"),
    ("What have I done since March?", "2023-03-01", "2023-09-21"),
    ("What did she sell last Friday on 23 January, 2022?", "2022-01-23", "2022-01-24"),
]


@pytest.mark.parametrize(("question", "start", "end"), SPANS)
def test_a_question_names_a_span(question: str, start: str, end: str) -> None:
    assert find_time_windows(question, NOW).spans == ((day(start), day(end) + SLACK),)


@pytest.mark.parametrize(
    ("question", "first", "until", "said"),
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
def test_without_a_year_every_year_is_meant(
    question: str, first: tuple[int, int], until: tuple[int, int], said: str
) -> None:
    found = find_time_windows(question, NOW)
    assert [(yearly.first, yearly.until) for yearly in found.yearly] == [(first, until)]
    assert (found.spans, found.phrases) == ((), (said,))


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "What is my name?",
        "may I come in?",
        "May I have the recipe?",
        "I may have told you 8 times",
        "Who may be late?",
        "may 8 people come?",
        "May 8 people come?",
        "Which of the 8 may leave?",
        "all 5 may go",
        "Did I march 10 miles?",
        "did we march in the parade",
        "How far can they march?",
        "This may help, right?",
        "how much is 2000 dollars",
        "Did I save up in 2000 dollars steps?",
        "May 2000 dollars be enough?",
        "What did I say in 2000 words?",
        "Did I read 1984 by Orwell?",
        "When did he try Cyberpunk 2077?",
        "How many pre-1920 coins do I have?",
        "Which bus leaves at 20:22?",
        "What costs 20.22?",
        "How long ago was her birthday?",
        "How many weeks ago was I at my aunt's?",
        "How many days ago was I there?",
        "a long time ago",
        "half a year ago",
        "Did the trip last two weeks?",
        "How long did it last?",
        "When did I fall?",
        "Why did this fall apart?",
        "When was his last fall?",
        "When was her last fall?",
        "the last spring in the mattress",
        "What was my last month at NovaTech like?",
        "What was the last week of camp like?",
        "wait a second",
        "Who came second?",
        "What was the last season about?",
        "What is the rotation on a Sunday?",
        "What do I do on Sundays?",
        "What do I do on Friday nights?",
        "Was the Maundy Thursday service long?",
        "What happened on 31 June 2023?",
        "What happened on 29 February 2023?",
        "What is 3/4?",
        "2023-13-45",
        "How much did I gain in two weeks?",
        "Is version 2022-05 out?",
        "What did April say?",
        "Did June call?",
        "Do I like the 'Summer Nights' festival?",
        "Is summer school fun?",
        "the first three months of collection",
        # German, Chinese, Spanish, French, Dutch, Japanese, Russian, Arabic
        "Was habe ich letzten Sommer gemacht?",
        "Was war im Mai?",
        "Was habe ich am 8. Mai gekauft?",
        "Wo war ich vor zwei Wochen?",
        "Was habe ich gestern gegessen?",
        "Wer kam im Herbst?",
        "我昨天做了什么？",
        "2023年5月8日发生了什么？",
        "我在2022年做了什么",
        "¿Qué hice en mayo de 2023?",
        "¿Qué hice hace 3 semanas?",
        "¿Dónde está el mar 5?",
        "¿Qué hice el 8 de mayo?",
        "Qu'ai-je fait le 8 mai 2023 ?",
        "Wat deed ik in mei?",
        "昨日何をしましたか",
        "Что я делал вчера?",
        "ماذا فعلت أمس؟",
        "ñin may",
        "in mayä",
    ],
)
def test_these_name_no_time(question: str) -> None:
    found = find_time_windows(question, NOW)
    assert not found
    assert found == TimeWindows()
    assert find_mentioned_spans(question, NOW) == ()


def test_a_time_told_from_a_date_counts_with_the_date() -> None:
    found = find_time_windows("Where was Ola the week before August 3, 2023?", NOW)
    assert found.spans == (
        (day("2023-07-27"), day("2023-08-03") + SLACK),
        (day("2023-08-03"), day("2023-08-04") + SLACK),
    )
    assert found.phrases == ("week before", "August 3, 2023")


def test_two_times_are_both_meant() -> None:
    found = find_time_windows("Was it in 2021 or in May?", NOW)
    assert found.phrases == ("in 2021", "in May")
    assert found.contains_time(day("2021-11-01"))
    assert found.contains_time(day("1999-05-15"))
    assert not found.contains_time(day("2022-11-01"))


def test_a_window_ends_a_day_later_and_no_more() -> None:
    found = find_time_windows("in May 2023", NOW)
    assert not found.contains_time(day("2023-05-01") - timedelta(milliseconds=1))
    assert found.contains_time(day("2023-05-01"))
    assert found.contains_time(day("2023-06-02") - timedelta(milliseconds=1))
    assert not found.contains_time(day("2023-06-02"))


def test_a_day_of_every_year_ends_a_day_later_too() -> None:
    leap_day = find_time_windows("on 29 February", NOW)
    assert [leap_day.contains_time(day(text)) for text in ("2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02")] == [
        False,
        True,
        True,
        False,
    ]
    assert not leap_day.contains_time(day("2023-03-01"))
    assert find_time_windows("on 31 December", NOW).contains_time(day("2024-01-01"))
    assert not find_time_windows("on 31 December", NOW).contains_time(day("2024-01-02"))


def test_the_hour_of_any_zone_is_read_as_utc() -> None:
    late = datetime(2023, 9, 20, 23, tzinfo=timezone(timedelta(hours=-5)))
    assert find_time_windows("yesterday", late).spans == ((day("2023-09-20"), day("2023-09-21") + SLACK),)


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
def test_a_turn_tells_of_a_time_from_when_it_was_said(turn: str, spans: list[tuple[str, str]]) -> None:
    assert find_mentioned_spans(turn, NOW) == tuple((day(start), day(end)) for start, end in spans)


PHRASES = [question for question, _, _ in SPANS] + ["in May", "on 29 February", "in winter", "on 31 December, in 1999"]
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))


@settings(deadline=None)
@given(st.lists(st.sampled_from(PHRASES), min_size=1, max_size=3), st.lists(MOMENTS, max_size=20), MOMENTS)
@example(["in winter"], [datetime(9999, 12, 31, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)], NOW)
def test_many_times_are_tested_as_one_is(phrases: list[str], moments: list[datetime], now: datetime) -> None:
    found = find_time_windows(". ".join(phrases), now)
    times = np.array([(moment - EPOCH) // timedelta(milliseconds=1) for moment in moments], np.int64)
    inside = found.contains(times)
    assert inside.dtype == np.bool_
    assert inside.tolist() == [found.contains_time(moment) for moment in moments]


@settings(deadline=None)
@given(MOMENTS)
def test_a_month_of_every_year_holds_that_month_and_the_day_after(moment: datetime) -> None:
    expected = moment.month == 5 or (moment.month, moment.day) == (6, 1)
    assert find_time_windows("in May", NOW).contains_time(moment) == expected


def test_times_beyond_the_calendar_are_no_trouble() -> None:
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
def test_no_text_is_too_odd(text: str, now: datetime) -> None:
    found = find_time_windows(text, now)
    assert bool(found) == bool(found.phrases)
    assert all(start < end for start, end in found.spans)
    assert all(found.phrases)
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
def test_long_texts_are_read_in_passing(part: str) -> None:
    text = part * (10_000 // len(part))
    find_time_windows(text, NOW)
    find_mentioned_spans(text, NOW)
