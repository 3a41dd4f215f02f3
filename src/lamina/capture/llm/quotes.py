"""Finding the words that a quote claims to repeat, whatever happened to spaces, quotes, dashes and case."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from lamina.text.sentences import find_sentences

QuoteSpan = tuple[int, int]

UNSPACED_SCRIPTS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0003ffff]")
"""Letters of scripts that put no spaces between words, or that join endings to them."""
_MIN_QUOTE_LETTERS = 4
"""Quotes with fewer letters occur in any text."""
_TRIMMED_CHARS = " .,;:!?…'()-"
_EQUIVALENT_CHARS = str.maketrans(
    dict.fromkeys('"“”„«»‘’‚`´', "'")
    | dict.fromkeys("<‹[({", "(")
    | dict.fromkeys(">›])}", ")")
    | dict.fromkeys("‐‑‒–—−", "-")
)


class QuoteFinder:
    """A text prepared for finding quotes in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        letters: list[str] = []
        self._places: list[int] = []
        for place, char in enumerate(text):
            for letter in _fold(char):
                if letter != " " or (letters and letters[-1] != " "):
                    letters.append(letter)
                    self._places.append(place)
        self._letters = "".join(letters)

    def find_sentences(self, quote: str) -> QuoteSpan | None:
        """Return the span of the whole sentences that contain the quote; None if the text lacks it."""
        span = self.find_quote(quote)
        return self._enclosing_sentences(*span) if span else None

    def find_quote(self, quote: str) -> QuoteSpan | None:
        """Return the span of the quote itself; None if the text lacks it."""
        folded_quote = " ".join("".join(map(_fold, quote)).split()).strip(_TRIMMED_CHARS)
        if sum(char.isalnum() for char in folded_quote) < _MIN_QUOTE_LETTERS:
            return None
        at = self._letters.find(folded_quote)
        while at >= 0 and not self._is_whole_words(at, at + len(folded_quote)):
            at = self._letters.find(folded_quote, at + 1)
        if at < 0:
            return None
        return self._places[at], self._places[at + len(folded_quote) - 1] + 1

    def _is_whole_words(self, start: int, end: int) -> bool:
        """Return whether no word is cut at either end; scripts without spaces have no such ends."""
        return not (
            _is_within_word(self._letters[start - 1 : start + 1]) or _is_within_word(self._letters[end - 1 : end + 1])
        )

    def _enclosing_sentences(self, start: int, end: int) -> QuoteSpan:
        enclosing = [span for span in find_sentences(self._text) if span[0] < end and start < span[1]]
        return (enclosing[0][0], enclosing[-1][1]) if enclosing else (start, end)


def _is_within_word(pair: str) -> bool:
    return len(pair) == 2 and pair.isalnum() and not UNSPACED_SCRIPTS.search(pair)


@lru_cache(maxsize=8192)
def _fold(char: str) -> str:
    if char.isspace():
        return " "
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return ""
    return unicodedata.normalize("NFKD", char.casefold()).casefold().translate(_EQUIVALENT_CHARS)
