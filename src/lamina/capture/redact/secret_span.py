"""The place of a secret in a text, which every finder yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPE_LETTERS = "nrtbfv"


class SecretSpan(NamedTuple):
    """The place of a secret and its name; never the secret itself."""

    start: int
    end: int
    name: str


SecretFinder = Callable[[str], Iterator[SecretSpan]]


def is_word_start(text: str, position: int) -> bool:
    r"""Return whether no word runs into this position; the letter of an escape such as `\n` or `%3D` is no word."""
    if position == 0 or not (text[position - 1].isalnum() and text[position - 1].isascii()):
        return True
    before = text[max(0, position - 6) : position]
    is_escape = before[-2:-1] == "\\" and before[-1] in ESCAPE_LETTERS
    return is_escape or before[-3:-2] == "%" or before[-4:-2] == "\\x" or before[:2] == "\\u"
