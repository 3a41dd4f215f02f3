"""The word diff gives both texts back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lamina.web.atom_page import MAX_WORDS, diff_words

TEXT = st.text(alphabet=st.sampled_from("ab \n.,é"), max_size=60)


@given(TEXT, TEXT)
def test_both_versions_can_be_read_from_the_segments(before: str, after: str) -> None:
    spans = diff_words(before, after)
    assert "".join(span.text for span in spans if span.change != "in") == before
    assert "".join(span.text for span in spans if span.change != "out") == after
    assert all(span.text for span in spans)


def test_only_the_changed_word_is_marked() -> None:
    spans = diff_words("The bakery opens at 8.", "The bakery opens at 7.")
    assert [(span.change, span.text) for span in spans] == [
        ("same", "The bakery opens at "),
        ("out", "8"),
        ("in", "7"),
        ("same", "."),
    ]


def test_long_texts_are_compared_by_lines() -> None:
    before = "".join(f"word{n} and more\n" for n in range(MAX_WORDS))
    spans = diff_words(before, before + "the end\n")
    assert [(span.change, len(span.text)) for span in spans] == [("same", len(before)), ("in", 8)]
