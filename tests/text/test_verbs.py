"""English verb forms."""

from __future__ import annotations

import pytest

from lamina.text.verbs import base_form, is_gerund, is_ly_adverb, is_participle, is_past, looks_finite, third_person


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("baked", "bake"), ("bakes", "bake"), ("baking", "bake"), ("goes", "go"), ("went", "go"), ("carries", "carry"),
        ("retook", "retake"), ("stopped", "stop"), ("running", "run"), ("led", "lead"), ("'ve", "have"), ("is", "be"),
        ("table", None), ("grass", None),
    ],
)  # fmt: skip
def test_the_base_of_a_form(word: str, base: str | None) -> None:
    assert base_form(word) == base


@pytest.mark.parametrize(
    ("base", "form"),
    [("bake", "bakes"), ("go", "goes"), ("carry", "carries"), ("play", "plays"), ("watch", "watches"), ("have", "has"),
     ("am", "is"), ("fix", "fixes"), ("fly", "flies")],
)  # fmt: skip
def test_the_form_after_a_name(base: str, form: str) -> None:
    assert third_person(base) == form


def test_past_forms_are_told_from_present_ones() -> None:
    assert all(is_past(word) for word in ("went", "baked", "put", "retook"))
    assert not any(is_past(word) for word in ("go", "need", "feed", "bake"))


def test_endings_that_only_look_like_forms_are_not_taken_for_them() -> None:
    assert is_gerund("baking")
    assert not is_gerund("morning")
    assert is_ly_adverb("slowly")
    assert not any(is_ly_adverb(word) for word in ("fly", "family", "reply"))
    assert is_participle("kept")
    assert not looks_finite("baking")
