"""The place of a secret in a text, which every finder yields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPES = "nrtbfv"


class Span(NamedTuple):
    """The place of a secret and its name; never the secret itself."""

    start: int
    end: int
    name: str


Finder = Callable[[str], Iterator[Span]]


def stands_alone(text: str, at: int) -> bool:
    r"""Return whether no word runs into this position; the letter of an escape such as `\n` or `%3D` is no word."""
    if at == 0 or not (text[at - 1].isalnum() and text[at - 1].isascii()):
        return True
    before = text[max(0, at - 6) : at]
    is_escape = before[-2:-1] == "\\" and before[-1] in ESCAPES
    return is_escape or before[-3:-2] == "%" or before[-4:-2] == "\\x" or before[:2] == "\\u"
