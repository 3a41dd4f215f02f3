"""Pasted transcripts are split into turns, and prose with colons is left alone.

Covers `lamina.capture.pieces.chat_transcript`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.capture.pieces import TURN_LIMIT, TextFormat, detect_format, split_text

DAY = date(2024, 5, 1)


def turns(text: str, on: date | None = None) -> list[tuple[str | None, str]]:
    return [(piece.speaker, piece.text) for piece in split_text(text, TextFormat.CHAT, on)]


def at(day: int, hour: int, minute: int, second: int = 0, month: int = 5) -> datetime:
    return datetime(2024, month, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Ann: hi\nBob: hello\nthere\nAnn: bye",
        "A talk.\n\nAnn: hi\nBob: hello\nAnn: bye",
        "**Ann** 10:02\nhi\n\n**Bob** 10:04\nhello",
        "**Ann:** hi\n**Bob:** hello\n**Ann:** bye",
        "[12:03] Ann: hi\n[12:04] Bob: hello",
        "User: what is tea?\nAssistant: a drink\nnote: hot",
        "## User\nwhat is tea?\n\n## Assistant\na drink",
        "5/1/24, 12:03 - Ann: hi\n5/1/24, 12:04 - Ann: only me here",
        "\u200e[1/5/24, 12:03:11\u202fPM] Ann: hi\n[1/5/24, 12:03:15\u202fPM] ~ Bob: hello",
        "<ann> hi\n<bob> hello",
        "Ann  10:02 AM\nhi\nBob  10:05 AM\nhello\nAnn  10:06 AM\nbye",
        "1/5/24, 12:03 - +44 7700 900123: hi\n1/5/24, 12:04 - 🌸 Ann 🌸: hello",
        "01.05.24, 12.03 - Ann: moi\n01.05.24, 12.05 - Bob: hei",
        "小明：你好\n小红：你好啊\n小明：再见",
        "Dr. Smith: How are you?\nPatient: Fine.\nDr. Smith: Good.",
    ],
)
def test_a_transcript_is_recognised(text: str) -> None:
    assert detect_format(text) is TextFormat.CHAT
    assert len({piece.speaker for piece in split_text(text, TextFormat.CHAT)}) >= (1 if "only me" in text else 2)


@pytest.mark.parametrize(
    "text",
    [
        "The recipe is simple: take flour.\nRemember: add water.\nOne thing more: salt.",
        "Note: use water.\n\nWarning: it is hot.\n\nNote: done.",
        "Name: Ann\nPhone: 12\n\nName: Bob\nPhone: 13",
        "Paris: capital of France\nRome: capital of Italy\nBerlin: capital of Germany",
        "key: value\nother: value\nkey: x\nother: y",
        "2024-05-01 12:03:11 INFO: started\n2024-05-01 12:03:12 ERROR: broken",
        "[2024-05-01 12:03:11] local.ERROR: broken\n[2024-05-01 12:03:12] local.INFO: well",
        "2024-05-01 12:03:11,123 - root - INFO - said: x\n2024-05-01 12:03:12,123 - root - INFO - said: y",
        "10:00 Opening: welcome\n10:30 Talk: tea\n11:00 Break: coffee",
        "Breakfast  8:00\nLunch  12:00\nBreakfast  9:00",
        "1.10 Fixed: a bug\n1.11 Added: a thing\n1.12 Fixed: another",
        "Long words about what the fields of such a file mean, and why.\n\nUser: who asks\nAssistant: who answers",
        "Monday: gym\nTuesday: swim\nMonday: gym again\nTuesday: rest",
        "I said: no.\nThen: maybe.\nI said: yes.\nThen: well.",
        "See https://example.org and https://example.com: both work.",
        "At 10:02 we met. At 10:04 we left.",
        "Wheel-Version: 1.0\nGenerator: x\nRoot: no\nTag: a\nTag: b\nTag: c",
        "Here is a long piece of advice on how to begin such a talk with them.\n\nAnn: hi\nBob: yes\nAnn: ok",
    ],
)
def test_prose_with_colons_is_no_transcript(text: str) -> None:
    assert detect_format(text) is not TextFormat.CHAT


def test_bold_labels_do_not_make_a_note_a_transcript() -> None:
    text = "**Tea:** green\n\n**Coffee:** black\n\n**Tea:** white\n"
    assert detect_format(text, "drinks.md") is TextFormat.MARKDOWN
    assert (
        detect_format("**Ann** 2024-05-01 10:02\nhi\n\n**Bob** 2024-05-01 10:04\nhello", "talk.md") is TextFormat.CHAT
    )
    assert detect_format("## User\nhi\n\n## Assistant\nhello", "talk.md") is TextFormat.CHAT


def test_a_turn_extends_to_the_next_one() -> None:
    assert turns("Ann: hi\nBob: one\n\n  two: three\nAnn: bye\n") == [
        ("Ann", "hi"),
        ("Bob", "one\n\n  two: three"),
        ("Ann", "bye"),
    ]


def test_code_in_a_turn_starts_no_turn() -> None:
    code = "```\nBob: not a turn\nAnn: nor this\n```"
    assert turns(f"Ann: hi\nBob: lo\nAnn: look\n{code}\nBob: fine") == [
        ("Ann", "hi"),
        ("Bob", "lo"),
        ("Ann", f"look\n{code}"),
        ("Bob", "fine"),
    ]


def test_text_before_the_first_turn_is_kept() -> None:
    assert turns("A talk.\n\nIn spring.\n\nAnn: hi\nBob: lo and behold, it works\nAnn: x") == [
        (None, "A talk."),
        (None, "In spring."),
        ("Ann", "hi"),
        ("Bob", "lo and behold, it works"),
        ("Ann", "x"),
    ]


def test_messages_of_the_chat_program_have_a_time_and_no_speaker() -> None:
    first, *_ = split_text(
        "1/5/24, 12:03 - You joined\n1/5/24, 12:04 - Ann: hi\n13/5/24, 12:05 - Bob: a", TextFormat.CHAT
    )
    assert (first.speaker, first.text, first.at) == (None, "You joined", at(1, 12, 3))


def test_a_time_with_its_date_becomes_a_field() -> None:
    text = "[2024-05-01 09:05] Ann: hi\n[2024-05-02T10:00:30Z] Bob: hello\n"
    assert [piece.at for piece in split_text(text, TextFormat.CHAT)] == [at(1, 9, 5), at(2, 10, 0, 30)]


def test_a_time_without_a_date_uses_the_given_date() -> None:
    text = "22:50 Ann: hi\n23:50 Bob: hm\n00:10 Ann: late"
    assert [piece.at for piece in split_text(text, TextFormat.CHAT, DAY)] == [
        at(1, 22, 50),
        at(1, 23, 50),
        at(2, 0, 10),
    ]


def test_a_time_without_any_date_stays_in_the_text() -> None:
    assert turns("[12:03] Ann: hi\n[12:04] Bob: hello") == [("Ann", "[12:03] hi"), ("Bob", "[12:04] hello")]


@pytest.mark.parametrize(
    ("stamps", "moments"),
    [
        (["1/5/24, 9:03", "13/5/24, 9:03"], [at(1, 9, 3), at(13, 9, 3)]),
        (["5/1/24, 9:03", "5/13/24, 9:03"], [at(1, 9, 3), at(13, 9, 3)]),
        (["01.05.24, 9:03", "02.05.24, 9:03"], [at(1, 9, 3), at(2, 9, 3)]),
        (["4/30/2024, 9:03 PM", "5/1/2024, 9:03 AM"], [at(30, 21, 3, month=4), at(1, 9, 3)]),
        (["5/1/24, 9:03", "5/2/24, 9:03", "6/1/24, 9:03"], [at(1, 9, 3), at(2, 9, 3), at(1, 9, 3, month=6)]),
        (["1/5/24, 9:03", "2/5/24, 9:03"], [at(1, 9, 3), at(2, 9, 3)]),
        (["5/1/24, 12:03 AM", "5/2/24, 12:03 PM"], [at(1, 0, 3), at(2, 12, 3)]),
    ],
)
def test_day_or_month_first_is_decided_by_all_dates(stamps: list[str], moments: list[datetime]) -> None:
    text = "\n".join(f"{stamp} - Ann: words" for stamp in stamps)
    assert [piece.at for piece in split_text(text, TextFormat.CHAT)] == moments


def test_an_impossible_date_stays_in_the_text() -> None:
    assert turns("31/02/24, 12:03 - Ann: hi\n13/02/24, 12:04 - Bob: x")[0] == ("Ann", "[31/02/24, 12:03] hi")


def test_a_turn_over_the_segment_limit_is_split_and_keeps_its_speaker() -> None:
    text = "Ann: " + "A sentence about tea. " * 2_000 + "\nBob: hm\nAnn: yes"
    pieces = split_text(text, TextFormat.CHAT)
    assert [piece.speaker for piece in pieces][-3:] == ["Ann", "Bob", "Ann"]
    assert all(len(piece.text) <= TURN_LIMIT for piece in pieces)
    assert "".join(piece.text for piece in pieces[:-2]).split() == ("A sentence about tea. " * 2_000).split()


def test_a_claimed_chat_that_is_none_is_stored_as_paragraphs() -> None:
    assert turns("Just words.\n\nMore words.") == [(None, "Just words."), (None, "More words.")]


WORDS = st.text(st.sampled_from("abc défü猫 ,.?!-\n"), min_size=1, max_size=60).filter(lambda text: bool(text.strip()))
TURNS = st.lists(st.tuples(st.sampled_from(["Ann", "Bob Lee", "José", "小明"]), WORDS), min_size=2, max_size=12)


@given(TURNS)
def test_rendered_turns_round_trip(turns: list[tuple[str, str]]) -> None:
    text = "\n".join(f"[2024-05-01 10:{n:02}] {who}: {words}" for n, (who, words) in enumerate(turns))
    pieces = split_text(text, detect_format(text))
    assert [(piece.speaker, piece.text.split()) for piece in pieces] == [(who, words.split()) for who, words in turns]
    assert [piece.at for piece in pieces] == [at(1, 10, n) for n in range(len(turns))]
