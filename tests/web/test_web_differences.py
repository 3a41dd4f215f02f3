"""The word diff gives both texts back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lamina.web.text_diff import MAX_WORDS, diff_words

TEXT = st.text(alphabet=st.sampled_from("ab \n.,é"), max_size=60)


@given(TEXT, TEXT)
def test_both_versions_can_be_read_from_the_stretches(before: str, after: str) -> None:
    found = diff_words(before, after)
    assert "".join(each.text for each in found if each.change != "in") == before
    assert "".join(each.text for each in found if each.change != "out") == after
    assert all(each.text for each in found)


def test_a_word_that_changed_is_the_only_one_marked() -> None:
    found = diff_words("The bakery opens at 8.", "The bakery opens at 7.")
    assert [(each.change, each.text) for each in found] == [
        ("same", "The bakery opens at "),
        ("out", "8"),
        ("in", "7"),
        ("same", "."),
    ]


def test_long_texts_are_compared_by_lines() -> None:
    before = "".join(f"word{n} and more\n" for n in range(MAX_WORDS))
    found = diff_words(before, before + "the end\n")
    assert [(each.change, len(each.text)) for each in found] == [("same", len(before)), ("in", 8)]
