"""The one normal form by which two texts are called the same."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lamina.text.analyser import to_nfkc
from lamina.text.normal_form import is_same_text, name_form, normal_form, one_line


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Paris.", "  i LIVE in\nparis "),
        ("caf\u00e9", "cafe\u0301"),
        ("Straße", "STRASSE"),
        ("ﬁne", "fine"),
        ("ＡＢＣ１", "abc1"),
        ("ΣΟΦΟΣ", "σοφος"),
        ("Привет, мир!", "привет мир"),
        ("が", "か\u3099"),
        ("한", "\u1112\u1161\u11ab"),
    ],
)
def test_the_same_words_have_the_same_form(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)
    assert is_same_text(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我住在巴黎", "我住在柏林"),
        ("Я живу в Париже", "Я живу в Берлине"),
        ("أحب القهوة", "أحب الشاي"),
        ("मैं हिन्दी", "मैं हन्द"),
        ("ผมชอบแมว", "ผมชอบหมา"),
        ("résumé", "resume"),
        ("a b", "ab"),
    ],
)
def test_different_words_of_any_script_stay_different(one: str, other: str) -> None:
    assert normal_form(one) and normal_form(other)
    assert not is_same_text(one, other)


@pytest.mark.parametrize("text", ["", " ", "?!", "---", "\n", "…", "\u200b", "🙂"])
def test_a_text_without_words_never_equals_another(text: str) -> None:
    assert normal_form(text) == ""
    assert not is_same_text(text, text)


@given(st.text())
def test_the_normal_form_is_idempotent(text: str) -> None:
    form = normal_form(text)
    assert normal_form(form) == form


@given(st.text())
def test_a_text_with_a_letter_has_a_form_of_single_spaced_words(text: str) -> None:
    form = normal_form(text)
    assert form == " ".join(form.split())
    assert bool(form) or not any(char.isalpha() for char in text)


@given(st.text())
def test_composition_does_not_change_the_form(text: str) -> None:
    assert normal_form(unicodedata.normalize("NFD", text)) == normal_form(text)


@given(st.lists(st.text(min_size=1, max_size=50), min_size=1))
def test_a_long_text_is_composed_like_a_short_one(pieces: list[str]) -> None:
    text = "e\u0301 ｆｕｌｌ か\u3099 " * 500 + " ".join(pieces)
    assert to_nfkc(text) == unicodedata.normalize("NFKC", text)


def test_an_endless_run_of_combining_marks_takes_no_quadratic_time() -> None:
    started = time.thread_time()
    normal_form("a" + "\u0301\u0316" * 100_000)
    assert time.thread_time() - started < 10


@given(st.text())
def test_one_line_has_every_word_and_no_other_white_space(text: str) -> None:
    assert one_line(text).split() == text.split()
    assert "\n" not in one_line(text)
    assert one_line(one_line(text)) == one_line(text)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("C", "c"),
        ("C++", "c++"),
        ("c++.", "c++"),
        ("C#", "c#"),
        ("F# 4.5", "f# 4 5"),
        ("Notepad++", "notepad++"),
        ("\N{FULLWIDTH LATIN CAPITAL LETTER C}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH PLUS SIGN}", "c++"),
        ("Berg, Clara", "berg clara"),
        ("#1", "1"),
        ("+ 1", "1"),
        ("a+b", "a b"),
        ("", ""),
        ("++", ""),
    ],
)
def test_punctuation_after_a_word_distinguishes_names(name: str, form: str) -> None:
    assert name_form(name) == form


@given(st.text(alphabet=st.sampled_from("cC1 +#,.-é\u3099＋"), max_size=20) | st.text(max_size=60))
@example("1+\u3099")
def test_the_name_form_is_the_normal_form_with_punctuation_and_idempotent(name: str) -> None:
    form = name_form(name)
    assert normal_form(form) == normal_form(name)
    assert name_form(form) == form
