"""Passages: what is indexed, rendered as markdown a person can read and read back exactly."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lamina.atom import Atom, AtomId, Passage, Scope, passages_of
from lamina.atom.passage import parse_segment, render_passage

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

MARKS = [
    " ^p3",
    "^p3",
    "\\^p3",
    " \\\\^p3",
    "\t^p12  ",
    "**Bob** 2026-01-01T00:00:00Z",
    "**Bob**",
    "\\**Bob**",
    "**Bob** ",
    "\\",
    "\\\\",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "   ",
    "\t",
    "- item",
    "* x",
    "| a | b |",
    "```",
    "~~~",
    "> said",
    "# head",
    "1. one",
    "2) two",
    "    code",
    "word",
    "^",
    "^p",
    "**",
    "猫",
    "\u2028",
    "\x85",
    "|",
]
HOSTILE = st.one_of(
    st.lists(st.sampled_from(MARKS), max_size=8).map("".join),
    st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=6)), max_size=6).map("\n".join),
    st.text(),
)
WORDS = HOSTILE.filter(lambda text: bool(text.strip()) and text[0] not in "\r\n")
NAMES = st.text(alphabet="Bob Ann-Ж猫.12'", min_size=1).map(lambda name: " ".join(name.split())).filter(bool)
TIMES = st.none() | st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
)
TURNS = st.lists(st.one_of(st.tuples(WORDS, st.none(), st.none()), st.tuples(HOSTILE, NAMES, TIMES)), max_size=5)


@given(TURNS, st.sampled_from(["\n", "\n\n", "\n\n\n"]))
@example([("a ^p3", None, None), ("**Bob** 2026-01-01T00:00:00Z\nx", None, None)], "\n\n")
@example([("", "Bob", None), ("^p1", "Bob", NOON), ("- x\n", None, None)], "\n\n")
def test_a_segment_round_trips(turns: list[tuple[str, str | None, datetime | None]], between: str) -> None:
    content = between.join(render_passage(n, *turn) for n, turn in enumerate(turns, 1))
    passages = parse_segment(content)
    assert [(passage.n, passage.text, passage.speaker, passage.at) for passage in passages] == [
        (n, *turn) for n, turn in enumerate(turns, 1)
    ]


@given(TURNS)
def test_passages_are_stored_in_order_within_the_segment(turns: list[tuple[str, str | None, datetime | None]]) -> None:
    content = "\n\n".join(render_passage(n, *turn) for n, turn in enumerate(turns, 1))
    at = 0
    for passage in parse_segment(content):
        assert at <= passage.start < passage.end <= len(content)
        at = passage.end


@given(st.text(alphabet=st.sampled_from(list("ab^p1 \n*|\\-Z")) | st.characters()))
def test_any_hand_written_segment_is_parsed(content: str) -> None:
    for passage in parse_segment(content):
        assert 0 <= passage.start < passage.end <= len(content)
        assert content[passage.start : passage.end].strip()


def test_a_turn_is_rendered_as_one_readable_line() -> None:
    assert render_passage(7, "I moved to Lisbon.", "Ann", NOON) == (
        "**Ann** 2026-01-01T12:00:00Z\nI moved to Lisbon. ^p7"
    )


@pytest.mark.parametrize("text", ["- a\n- b", "| a |", "> said", "```\nx\n```", "1. one", "# head", "ends\n"])
def test_a_multi_line_turn_keeps_its_lines_after_a_mark_of_its_own(text: str) -> None:
    assert render_passage(2, text) == f"{text}\n\n^p2"


def test_a_speaker_name_cannot_break_out_of_the_header() -> None:
    rendered = render_passage(1, "hello", "*Eve*\n**Ann**", None)
    assert rendered == "**Eve Ann**\nhello ^p1"
    assert parse_segment(rendered)[0].speaker == "Eve Ann"


def test_a_missing_speaker_is_rendered_as_a_question_mark() -> None:
    assert parse_segment(render_passage(1, "hello", " * ", None))[0].speaker == "?"


def test_text_after_the_last_mark_is_a_passage() -> None:
    passages = parse_segment("One. ^p1\n\nTwo. ^p5\n\nA person added this.\n")
    assert [(passage.n, passage.text) for passage in passages] == [
        (1, "One."),
        (5, "Two."),
        (6, "A person added this.\n"),
    ]


def test_a_text_without_marks_is_one_passage() -> None:
    assert parse_segment("Just words.") == (Passage(1, "Just words.", 0, 11),)
    assert parse_segment(" \n") == ()


def test_an_impossible_time_is_ignored() -> None:
    passages = parse_segment("**Bob** 2026-99-99T00:00:00Z\nhello ^p1")
    assert (passages[0].speaker, passages[0].at, passages[0].text) == ("Bob", None, "hello")


def test_a_fact_is_one_passage_and_its_marks_are_plain_text() -> None:
    fact = Atom(id=AtomId("0" * 26), scope=Scope("org:local"), kind="fact", content="a ^p1\n\nb ^p2", observed_at=NOON)
    assert passages_of(fact) == (Passage(1, fact.content, 0, len(fact.content), at=NOON),)


def test_a_segment_has_a_passage_for_each_turn() -> None:
    content = "\n\n".join([render_passage(1, "Hi", "Ann", NOON), render_passage(2, "Hello", "Bob", NOON)])
    segment = Atom(
        id=AtomId("0" * 26),
        scope=Scope("org:local"),
        kind="narrative",
        content=content,
        observed_at=NOON,
        segment_id="s1",
    )
    assert [(passage.n, passage.speaker, passage.text) for passage in passages_of(segment)] == [
        (1, "Ann", "Hi"),
        (2, "Bob", "Hello"),
    ]


@pytest.mark.parametrize("piece", ["^p1 ", " ^p", "\\", "**", "**a**", " ", "|", "\n", "^p1\n", "\t^p1"])
def test_hostile_text_is_rendered_and_parsed_in_linear_time(piece: str) -> None:
    started = time.thread_time()
    parse_segment(render_passage(1, "x" + piece * 50_000))
    assert time.thread_time() - started < 10
