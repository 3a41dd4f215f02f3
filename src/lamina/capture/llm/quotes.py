"""Finding the words that a quote claims to repeat, whatever happened to spaces, quotes, dashes and case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from lamina.text.sentences import sentences

Span = tuple[int, int]

UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0003ffff]")
"""Letters of scripts that put no spaces between words, or that join endings to them."""
_LEAST = 4
"""Quotes with fewer letters occur in any text."""
_AROUND = " .,;:!?…'()-"
_SAME = str.maketrans(
    dict.fromkeys('"“”„«»‘’‚`´', "'")
    | dict.fromkeys("<‹[({", "(")
    | dict.fromkeys(">›])}", ")")
    | dict.fromkeys("‐‑‒–—−", "-")
)


class Quoted:
    """A text prepared for finding quotes in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        letters: list[str] = []
        self._places: list[int] = []
        for place, char in enumerate(text):
            for letter in _folded(char):
                if letter != " " or (letters and letters[-1] != " "):
                    letters.append(letter)
                    self._places.append(place)
        self._letters = "".join(letters)

    def find(self, quote: str) -> Span | None:
        """Return the span of the whole sentences that contain the quote; None if the text lacks it."""
        span = self.locate(quote)
        return self._sentences(*span) if span else None

    def locate(self, quote: str) -> Span | None:
        """Return the span of the quote itself; None if the text lacks it."""
        folded_quote = " ".join("".join(map(_folded, quote)).split()).strip(_AROUND)
        if sum(char.isalnum() for char in folded_quote) < _LEAST:
            return None
        at = self._letters.find(folded_quote)
        while at >= 0 and not self._whole(at, at + len(folded_quote)):
            at = self._letters.find(folded_quote, at + 1)
        if at < 0:
            return None
        return self._places[at], self._places[at + len(folded_quote) - 1] + 1

    def _whole(self, start: int, end: int) -> bool:
        """Return whether no word is cut at either end; scripts without spaces have no such ends."""
        return not (_joined(self._letters[start - 1 : start + 1]) or _joined(self._letters[end - 1 : end + 1]))

    def _sentences(self, start: int, end: int) -> Span:
        enclosing = [span for span in sentences(self._text) if span[0] < end and start < span[1]]
        return (enclosing[0][0], enclosing[-1][1]) if enclosing else (start, end)


def _joined(pair: str) -> bool:
    return len(pair) == 2 and pair.isalnum() and not UNSPACED.search(pair)


@lru_cache(maxsize=8192)
def _folded(char: str) -> str:
    if char.isspace():
        return " "
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return ""
    return unicodedata.normalize("NFKD", char.casefold()).casefold().translate(_SAME)
