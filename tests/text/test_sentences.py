"""Where sentences begin and end."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.text.sentences import find_sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in find_sentences(text)]


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        ["No stop at all"],
        ["One.", "Two!", "Three?", "Four?!", "Five…", "Six"],
        ["i went home.", "then i slept."],
        ["Dr. Smith met Mrs. Jones, e.g. at work, i.e. here.", "Fine."],
        ["J. R. R. Tolkien wrote it.", "We read it."],
        ["She lives in the U.S. today.", "I do too."],
        ["She moved to the U.S.", "She likes it."],
        ["He works for the U.S. Navy."],
        ["So do I.", "Then we agree."],
        ["Take vitamin C.", "It helps."],
        ["Apples, pears etc. are fruit.", "Nuts etc.", "Bob eats them."],
        ["It starts at 8 a.m. sharp.", "It ends at 5 p.m.", "The rest is free."],
        ["It costs 3.50 or $4.", "See no. 5 on p. 12.", "I said no.", "Then I left."],
        ["He came on Jan. 5, 2023.", "It was cold in Jan.", "We left."],
        ["In 2023.", "Then 2024."],
        ["See https://example.org/a?b=c.html.", "Open main.py and v1.2.3.", "Mail a.b@c.de now."],
        ['"Really?" she asked.', '"Go!" he said.', 'She said "Go."', "Then she left."],
        ["(It rained.)", "[We stayed.]", "“We slept.”", "Fine."],
        ["Well... maybe.", "Hmm… not sure.", "Wait...", "No."],
        ["1. Buy milk.", "Sell it."],
        ["Main St. is long.", "He lives on Main St.", "He likes it."],
    ],
)
def test_english_is_split_into_sentences(pieces: list[str]) -> None:
    assert split(" ".join(pieces)) == pieces


@pytest.mark.parametrize(
    "pieces",
    [
        ["今日は晴れ。", "明日は？", "「雨だ。」", "そう！"],
        ["你好！！", "真的吗？", "是的。"],
        ["हाँ।", "ठीक है॥"],
        ["كيف حالك؟", "بخير"],
        ["Привет.", "Как дела?", "Хорошо!"],
        ["z.B. so.", "Und d.h. anders."],
    ],
)
def test_other_scripts_are_split_at_their_own_stops(pieces: list[str]) -> None:
    assert split("".join(pieces) if ord(pieces[0][-1]) > 0x3000 else " ".join(pieces)) == pieces


def test_a_line_is_at_least_one_sentence() -> None:
    assert split("# Title\n\n- a\n- b\r\n1. c\n2. d\u2028e") == ["# Title", "- a", "- b", "1. c", "2. d", "e"]


def test_white_space_alone_is_no_sentence() -> None:
    assert find_sentences(" \n\t \u3000\n") == []


PIECES = [
    ".",
    "!",
    "?",
    "…",
    "。",
    "！",
    '"',
    "'",
    "”",
    ")",
    "]",
    "」",
    "\n",
    "\r",
    "\u2028",
    "\x1c",
    "\u3000",
    " ",
    "  ",
    "...",
    "a",
    "A",
    "1",
    "Dr",
    "U.S",
    "e.g",
    "etc",
    "No",
    "The",
    "猫",
]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(st.one_of(st.text(), HOSTILE))
def test_spans_are_ordered_not_blank_and_cover_every_word(text: str) -> None:
    spans = find_sentences(text)
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    for end, start in zip(ends, starts, strict=True):
        assert end <= start
        assert not text[end:start].strip()
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""


@given(st.one_of(st.text(), HOSTILE))
def test_no_sentence_crosses_a_line(text: str) -> None:
    for piece in split(text):
        assert "\n" not in piece


@pytest.mark.parametrize(
    "piece", [".", '")', ". ", "a. ", " ", ".)", ".x", '"', "。", "\n", '.)" ', "U.S. ", "… a", ". ("]
)
def test_hostile_text_is_split_in_linear_time(piece: str) -> None:
    started = time.thread_time()
    find_sentences(piece * (400_000 // len(piece)))
    assert time.thread_time() - started < 10
