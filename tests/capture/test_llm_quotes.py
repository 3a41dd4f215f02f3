"""Whether what a model quotes stands in the words, and what the words bear out."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.capture.extractors import CapturedTurn
from lamina.capture.llm.prompts import MAX_TURNS, batch_turns
from lamina.capture.llm.quotes import QuoteFinder, find_named_days, has_only_known_names, occurs_in, parse_stated_day
from lamina.models.prompt_fence import sanitise

AT = datetime(2023, 5, 8, 13, tzinfo=UTC)


def make_turn(text: str, n: int = 1) -> CapturedTurn:
    return CapturedTurn("s", n, text, "Ann", AT)


@pytest.mark.parametrize(
    "quote",
    [
        "I moved to Lisbon",
        "i MOVED  to\nLisbon.",
        "“I moved to Lisbon” ",
        "…moved to Lisbon…",
        "moved to Lisbon - it\u2019s lovely",
    ],
)
def test_a_quote_is_extended_to_its_whole_sentence(quote: str) -> None:
    text = "Hello there. I moved to   Lisbon — it's lovely! Bye."
    result = QuoteFinder(text).find_sentences(quote)
    assert result is not None
    assert text[slice(*result)] == "I moved to   Lisbon — it's lovely!"


def test_a_quote_over_two_sentences_is_extended_to_both() -> None:
    text = "One. I am Ann. I live here. Two."
    result = QuoteFinder(text).find_sentences("I am Ann. I live here")
    assert result is not None
    assert text[slice(*result)] == "I am Ann. I live here."


@pytest.mark.parametrize("quote", ["", "I", "...", "moved to Porto", "isbon", "I moved to Lisb", "Lisbon moved"])
def test_text_that_is_not_in_the_turn_is_not_found(quote: str) -> None:
    assert QuoteFinder("I moved to Lisbon.").find_sentences(quote) is None


def test_a_partial_word_is_skipped_in_favour_of_a_whole_one() -> None:
    text = "The party began. My art teacher left."
    result = QuoteFinder(text).find_sentences("art teacher")
    assert result is not None
    assert text[slice(*result)] == "My art teacher left."
    assert QuoteFinder(text).find_sentences("part teacher") is None


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("我住在里斯本。你好。", "住在里斯本"),
        ("ฉันอยู่ลิสบอนมานาน", "อยู่ลิสบอน"),
        ("cafe\u0301 in Köln", "café in KÖLN"),
        ("a\u200bb\u200bc\u200bd <b>tag</b> [1]", "abcd ‹b›tag‹/b› (1)"),
        ("👩‍👩‍👧 family of three", "👩‍👩‍👧 family"),
    ],
)
def test_other_scripts_and_punctuation_are_found(text: str, quote: str) -> None:
    assert QuoteFinder(text).find_sentences(quote) is not None


@given(st.text(max_size=200))
def test_no_text_breaks_the_search_and_a_span_lies_within_the_text(text: str) -> None:
    for quote in (text, sanitise(text), text[3:50]):
        result = QuoteFinder(text).find_sentences(quote)
        assert result is None or 0 <= result[0] < result[1] <= len(text)


@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "N", "P", "Zs")), min_size=1, max_size=80))
def test_text_shown_to_the_model_can_be_quoted_back(text: str) -> None:
    result = sanitise(text)
    if sum(map(str.isalnum, result)) >= 4:
        assert QuoteFinder(text).find_sentences(result) is not None


def test_the_words_of_a_value_must_be_in_the_evidence() -> None:
    assert occurs_in("New York", "I'm moving to New York!")
    assert not occurs_in("New York City", "I'm moving to New York!")
    assert not occurs_in("York", "I love Yorkshire")
    assert occurs_in("里斯本", "我住在里斯本。")
    assert occurs_in("ลิสบอน", "ฉันอยู่ลิสบอน")
    assert not occurs_in("café", "the cafétéria")
    assert not occurs_in("", "anything")
    assert not occurs_in("…", "anything")


def test_names_and_numbers_must_be_in_the_evidence() -> None:
    around = ["I have three cats and moved to Lisbon yesterday", "Ann"]
    days = [date(2023, 5, 8), date(2023, 5, 7)]
    assert has_only_known_names("Ann has three cats in Lisbon.", around, days)
    assert has_only_known_names("Ann has 3 cats.", around, days)
    assert has_only_known_names("Ann moved on Sunday, 7 May 2023.", around, days)
    assert has_only_known_names("The user moved.", around, days)
    assert has_only_known_names("Ann pays 1200 at 3 PM on the 7th.", ["I pay $1,200 at 3pm"], days)
    assert has_only_known_names("Ann pays $1,200.", ["I pay 1200"], days)
    assert not has_only_known_names("Ann pays 1,300.", ["I pay 1200"], days)
    assert not has_only_known_names("Ann moved to Porto.", around, days)
    assert not has_only_known_names("Ann has 4 cats.", around, days)
    assert not has_only_known_names("Ann moved in June 2021.", around, days)


def test_a_date_is_accepted_only_where_the_text_names_a_time() -> None:
    turn = make_turn("I started there last week.")
    assert parse_stated_day("2023-05-01", turn) == datetime(2023, 5, 1, tzinfo=UTC)
    assert parse_stated_day("2023-05-01", make_turn("I like tea.")) is None
    assert parse_stated_day("2023-05-08", make_turn("I like tea.")) == datetime(2023, 5, 8, tzinfo=UTC)
    assert date(2023, 5, 7) in find_named_days(make_turn("I came yesterday."))


@pytest.mark.parametrize("text", ["", "soon", "2023-02-30", "2023-5-1", "08.05.2023", "2023-05", "0000-01-01"])
def test_an_invalid_date_is_none(text: str) -> None:
    assert parse_stated_day(text, make_turn("It was yesterday.")) is None


def test_turns_are_sent_in_runs_of_bounded_length() -> None:
    turns = [make_turn("word " * 10, n) for n in range(7)]
    result = list(batch_turns(turns, max_chars=120))
    assert [len(run) for run in result] == [2, 2, 2, 1]
    assert [item.turn.n for run in result for item in run] == list(range(7))
    assert [len(run) for run in batch_turns([make_turn("yes indeed")] * (MAX_TURNS + 1))] == [MAX_TURNS, 1]
    assert list(batch_turns([make_turn(" \n")])) == []


@given(st.text(alphabet="ab. \n", max_size=400), st.integers(10, 60))
def test_a_long_turn_is_split_without_loss(text: str, most: int) -> None:
    pieces = [item.text for run in batch_turns([make_turn(text)], max_chars=most) for item in run]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= most for piece in pieces)
