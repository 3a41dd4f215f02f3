"""Plain text in pieces: at blank lines and sentence ends, with every word in its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.capture.pieces import PARAGRAPH_LIMIT, TextFormat, detect_format, split_paragraphs, split_text

HOSTILE = st.lists(
    st.sampled_from(
        [
            "\n",
            "\n\n",
            " ",
            "\t",
            "# ",
            "```\n",
            "~~~",
            "a",
            "Ann: ",
            "[12:03] Bob: ",
            "**Ann** 10:02\n",
            "def f():\n",
            "    ",
            "class A {\n",
            "}\n",
            "---\n",
            "===\n",
            "。",
            ". ",
            "é",
            "e\u0301",
            "👩\u200d🚀",
            "x" * 900,
            "猫" * 700,
            "2024-05-01 12:03 - Ann: ",
            "<ann> ",
            "| a |\n",
            "- ",
            "User:\n",
            "Assistant: ",
        ]
    ),
    max_size=60,
).map("".join)
FORMS = [TextFormat.MARKDOWN, TextFormat.CODE, TextFormat.PLAIN]


def letters(text: str) -> str:
    return "".join(text.split())


def test_paragraphs_are_split_at_blank_lines() -> None:
    assert [piece.text for piece in split_paragraphs("One,\ntwo.\n\n \t\n\n  Three.\n")] == ["One,\ntwo.", "  Three."]


def test_a_text_without_words_has_no_pieces() -> None:
    for form in TextFormat:
        assert split_text("", form) == []
        assert split_text(" \n\t\n\n ", form) == []


@pytest.mark.parametrize("sentence", ["Tea is better than coffee. ", "お茶はコーヒーより美味しい。", "क्या यह ठीक है? "])
def test_a_long_paragraph_is_split_at_sentence_ends(sentence: str) -> None:
    texts = [piece.text for piece in split_paragraphs(sentence * 1_000)]
    assert len(texts) > 1
    assert all(len(text) <= PARAGRAPH_LIMIT for text in texts)
    assert all(text.strip().endswith(sentence.strip()) and text.strip().startswith(sentence[0]) for text in texts)
    assert "".join(texts).split() == (sentence * 1_000).split()


def test_a_long_list_of_lines_is_split_between_lines() -> None:
    lines = [f"{n} some words without any stop" for n in range(1_000)]
    assert [line for piece in split_paragraphs("\n".join(lines)) for line in piece.text.split("\n")] == lines


def test_a_long_run_of_words_is_split_at_a_space_and_of_letters_anywhere() -> None:
    words = ["word"] * 3_000
    assert [word for piece in split_paragraphs(" ".join(words)) for word in piece.text.split()] == words
    assert "".join(piece.text for piece in split_paragraphs("x" * 9_001)) == "x" * 9_001


@pytest.mark.parametrize("cluster", ["e\u0301", "👩\u200d🚀", "👍🏽"])
def test_no_split_separates_a_letter_from_its_combining_marks(cluster: str) -> None:
    texts = [piece.text for piece in split_paragraphs("a" + cluster * 5_000)]
    assert all(text.startswith(("a", cluster)) and text.endswith(cluster) for text in texts)


@given(st.one_of(st.text(), HOSTILE), st.sampled_from(FORMS))
def test_no_word_is_lost_or_repeated(text: str, form: TextFormat) -> None:
    assert letters("".join(piece.text for piece in split_text(text, form))) == letters(text)


@given(st.one_of(st.text(), HOSTILE), st.sampled_from(list(TextFormat)))
def test_every_piece_is_in_the_text_and_has_words(text: str, form: TextFormat) -> None:
    for piece in split_text(text, form):
        assert piece.text.strip()
        assert form is TextFormat.CHAT or piece.text in text


@given(st.one_of(st.text(), HOSTILE))
def test_every_text_has_a_format(text: str) -> None:
    assert detect_format(text) in TextFormat


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.py", TextFormat.CODE),
        ("a.TS", TextFormat.CODE),
        ("a.md", TextFormat.MARKDOWN),
        ("a.txt", TextFormat.PLAIN),
        (None, TextFormat.PLAIN),
    ],
)
def test_a_file_name_determines_the_format(name: str | None, form: TextFormat) -> None:
    assert detect_format("Nothing to be seen here.", name) is form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("# Title\n\nSome words.", TextFormat.MARKDOWN),
        ("Run this:\n\n```\nmake\n```\n", TextFormat.MARKDOWN),
        ("import os\n\n# where we are\ndef here():\n    return os.getcwd()\n", TextFormat.CODE),
        ("func main() {\n\tfmt.Println(1)\n}\n", TextFormat.CODE),
        ("The class of 2020 met again; it was a joy.\n\nAnn", TextFormat.PLAIN),
        ("I prefer tea. My team uses Python.", TextFormat.PLAIN),
    ],
)
def test_text_alone_determines_the_format(text: str, form: TextFormat) -> None:
    assert detect_format(text) is form


@pytest.mark.parametrize(
    "piece", ["x", "\n", "\n ", ". ", "。", "# a\n", "```\n", "a\n---\n", "def f():\n", "Ann: a\n"]
)
def test_a_large_monotonous_text_keeps_every_word(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    for form in FORMS:
        assert letters("".join(piece.text for piece in split_text(text, form))) == letters(text)
