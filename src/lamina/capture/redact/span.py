"""Where a secret stands in a text: what every finder yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPES = "nrtbfv"


class Span(NamedTuple):
    """A secret's place and what it is called; never the secret itself."""

    start: int
    end: int
    name: str


Finder = Callable[[str], Iterator[Span]]


def stands_alone(text: str, at: int) -> bool:
    """Whether no word runs into this place; the letter of an escape such as `\\n`, `%3D` or `\\u003d` is no word."""
    if at == 0 or not (text[at - 1].isalnum() and text[at - 1].isascii()):
        return True
    before = text[max(0, at - 6) : at]
    escaped = before[-2:-1] == "\\" and before[-1] in ESCAPES
    return escaped or before[-3:-2] == "%" or before[-4:-2] == "\\x" or before[:2] == "\\u"
