"""When two labels name one thing."""

from __future__ import annotations

import pytest

from lamina.capture.existing_statements import is_same_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("maria lindqvist", "lindqvist maria"),
        ("maria lindqvist", "maria lindquist"),
        ("coffee preference", "coffee preferences"),
        ("harbour office", "harbor office"),
    ],
)
def test_another_order_a_typo_or_a_plural_is_the_same_name(one: str, other: str) -> None:
    assert is_same_name(one, other)
    assert is_same_name(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("north gate", "south gate"),
        ("taxi 11", "taxi 12"),
        ("cabinet b12", "cabinet b21"),
        ("oat milk", "goat milk"),
        ("anna", "anne"),
        ("maria", "maria lindqvist"),
        ("", ""),
        ("garden", ""),
    ],
)
def test_another_number_a_short_word_or_another_word_is_another_name(one: str, other: str) -> None:
    assert not is_same_name(one, other)
    assert not is_same_name(other, one)
