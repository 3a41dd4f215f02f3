"""Whether what a model quotes stands in the words, and what the words bear out."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.capture.found import Said
from lamina.capture.llm.prompts import MOST_TURNS, runs
from lamina.capture.llm.quotes import Quoted
from lamina.capture.llm.support import day_told, days_named, is_borne_out, stands_in
from lamina.models.fence import harmless

AT = datetime(2023, 5, 8, 13, tzinfo=UTC)


def said(text: str, n: int = 1) -> Said:
    return Said("s", n, text, "Ann", AT)


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
def test_a_quote_leads_to_its_whole_sentence(quote: str) -> None:
    text = "Hello there. I moved to   Lisbon — it's lovely! Bye."
    found = Quoted(text).find(quote)
    assert found is not None
    assert text[slice(*found)] == "I moved to   Lisbon — it's lovely!"


def test_a_quote_over_two_sentences_leads_to_both() -> None:
    text = "One. I am Ann. I live here. Two."
    found = Quoted(text).find("I am Ann. I live here")
    assert found is not None
    assert text[slice(*found)] == "I am Ann. I live here."


@pytest.mark.parametrize("quote", ["", "I", "...", "moved to Porto", "isbon", "I moved to Lisb", "Lisbon moved"])
def test_what_does_not_stand_there_is_not_found(quote: str) -> None:
    assert Quoted("I moved to Lisbon.").find(quote) is None


def test_a_word_cut_off_is_passed_over_for_a_whole_one() -> None:
    text = "The party began. My art teacher left."
    found = Quoted(text).find("art teacher")
    assert found is not None
    assert text[slice(*found)] == "My art teacher left."
    assert Quoted(text).find("part teacher") is None


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
def test_other_scripts_and_signs_are_found(text: str, quote: str) -> None:
    assert Quoted(text).find(quote) is not None


@given(st.text(max_size=200))
def test_no_text_breaks_the_search_and_a_span_lies_in_the_text(text: str) -> None:
    for quote in (text, harmless(text), text[3:50]):
        found = Quoted(text).find(quote)
        assert found is None or 0 <= found[0] < found[1] <= len(text)


@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "N", "P", "Zs")), min_size=1, max_size=80))
def test_what_the_model_was_shown_can_be_quoted_back(text: str) -> None:
    shown = harmless(text)
    if sum(map(str.isalnum, shown)) >= 4:
        assert Quoted(text).find(shown) is not None


def test_a_value_s_words_stand_in_the_evidence_or_not() -> None:
    assert stands_in("New York", "I'm moving to New York!")
    assert not stands_in("New York City", "I'm moving to New York!")
    assert not stands_in("York", "I love Yorkshire")
    assert stands_in("里斯本", "我住在里斯本。")
    assert stands_in("ลิสบอน", "ฉันอยู่ลิสบอน")
    assert not stands_in("café", "the cafétéria")
    assert not stands_in("", "anything")
    assert not stands_in("…", "anything")


def test_names_and_numbers_must_have_been_said() -> None:
    around = ["I have three cats and moved to Lisbon yesterday", "Ann"]
    days = [date(2023, 5, 8), date(2023, 5, 7)]
    assert is_borne_out("Ann has three cats in Lisbon.", around, days)
    assert is_borne_out("Ann has 3 cats.", around, days)
    assert is_borne_out("Ann moved on Sunday, 7 May 2023.", around, days)
    assert is_borne_out("The user moved.", around, days)
    assert is_borne_out("Ann pays 1200 at 3 PM on the 7th.", ["I pay $1,200 at 3pm"], days)
    assert is_borne_out("Ann pays $1,200.", ["I pay 1200"], days)
    assert not is_borne_out("Ann pays 1,300.", ["I pay 1200"], days)
    assert not is_borne_out("Ann moved to Porto.", around, days)
    assert not is_borne_out("Ann has 4 cats.", around, days)
    assert not is_borne_out("Ann moved in June 2021.", around, days)


def test_a_day_is_taken_only_where_the_words_name_a_time() -> None:
    told = said("I started there last week.")
    assert day_told("2023-05-01", told) == datetime(2023, 5, 1, tzinfo=UTC)
    assert day_told("2023-05-01", said("I like tea.")) is None
    assert day_told("2023-05-08", said("I like tea.")) == datetime(2023, 5, 8, tzinfo=UTC)
    assert date(2023, 5, 7) in days_named(said("I came yesterday."))


@pytest.mark.parametrize("text", ["", "soon", "2023-02-30", "2023-5-1", "08.05.2023", "2023-05", "0000-01-01"])
def test_what_is_no_day_is_none(text: str) -> None:
    assert day_told(text, said("It was yesterday.")) is None


def test_turns_are_shown_in_runs_of_bounded_length() -> None:
    turns = [said("word " * 10, n) for n in range(7)]
    shown = list(runs(turns, most=120))
    assert [len(run) for run in shown] == [2, 2, 2, 1]
    assert [each.said.n for run in shown for each in run] == list(range(7))
    assert [len(run) for run in runs([said("yes indeed")] * (MOST_TURNS + 1))] == [MOST_TURNS, 1]
    assert list(runs([said(" \n")])) == []


@given(st.text(alphabet="ab. \n", max_size=400), st.integers(10, 60))
def test_a_long_turn_is_cut_and_nothing_of_it_is_lost(text: str, most: int) -> None:
    pieces = [each.text for run in runs([said(text)], most=most) for each in run]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= most for piece in pieces)
