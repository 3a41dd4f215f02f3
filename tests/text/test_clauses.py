"""Where a sentence falls into clauses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.text.clauses import clauses
from lamina.text.tokens import plain, tokens


def parts(text: str) -> list[tuple[str, str]]:
    return [(part.joiner, plain(part.tokens, text)) for part in clauses(tokens(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I went home and it rained", [("", "I went home"), ("and", "it rained")]),
        ("We dropped Acme; the printer is Inkwell", [("", "We dropped Acme"), (";", "the printer is Inkwell")]),
        ("I moved house, home is Umeå", [("", "I moved house"), (",", "home is Umeå")]),
        ("My GP is Dr Farrow, but my dentist is Dr Singh",
         [("", "My GP is Dr Farrow"), (", but", "my dentist is Dr Singh")]),
        ("I love it - it's great", [("", "I love it"), ("-", "it's great")]),
        ("I bake bread and sell it", [("", "I bake bread and sell it")]),
        ("I like figs, dates and plums", [("", "I like figs, dates and plums")]),
        ("When I was ten, we moved to Ghent", [("", "When I was ten, we moved to Ghent")]),
        ("We won, and Sam and I went out", [("", "We won"), (", and", "Sam and I went out")]),
    ],
)  # fmt: skip
def test_a_sentence_falls_where_a_new_subject_has_its_verb(text: str, found: list[tuple[str, str]]) -> None:
    assert parts(text) == found


@given(
    st.lists(
        st.sampled_from(
            [
                "I",
                "we",
                "it",
                "is",
                "was",
                "went",
                "and",
                "but",
                ",",
                ";",
                ":",
                "-",
                "(",
                ")",
                "because",
                "Ana",
                "the",
                "dog",
                "home",
                ".",
            ]
        ),
        max_size=30,
    )
)
def test_no_clause_is_empty_and_every_word_keeps_its_place(words: list[str]) -> None:
    found = tokens(" ".join(words))
    kept = [token for part in clauses(found) for token in part.tokens]
    assert all(part.tokens for part in clauses(found))
    assert kept == [token for token in found if token in kept]
