"""Grammatical person: whose state a sentence is about, by the closed set of English pronouns.

A sentence in another language shows no person here; then only names decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lamina.text.analyse import QUESTION_STOP, analyse

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, apostrophes inside them straightened."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


_I = frozenset(["i", "we", "im", "ive"])
_MY = frozenset(["my", "our", "me", "us", "mine", "ours", "myself", "ourselves"])
_YOU = frozenset(["you", "your", "yours", "yourself", "u", "ur"])
_THEY = frozenset(words_of("he she they him her them his hers their theirs himself herself themselves"))
_ANAPHORS = _THEY | frozenset(words_of("it its this that these those there then one ones here such same"))
_POSSESSIVES = frozenset(["my", "our", "your", "his", "her", "their"])
_LEADING = 3
"""A possessive among the first words of a clause tells whose thing the clause is about."""


@dataclass(frozen=True, slots=True)
class Persons:
    """Which grammatical persons occur; `has_first_subject`: "I" or "we" does, not only "my" or "me"."""

    is_subject: bool
    first: bool
    second: bool
    third: bool
    anaphor: bool


def persons_in(text: str) -> Persons:
    """Return the grammatical persons that the pronouns of a text name."""
    words = {_stem(word) for word in words_of(text)}
    return Persons(
        is_subject=bool(words & _I),
        first=bool(words & (_I | _MY)),
        second=bool(words & _YOU),
        third=bool(words & _THEY),
        anaphor=bool(words & _ANAPHORS),
    )


def possessed(clause: str) -> str | None:
    """Return the token of the thing that a clause is about: "sister" in "my sister lives in Porto"."""
    words = words_of(clause)
    for n, word in enumerate(words[:_LEADING]):
        if word in _POSSESSIVES or (word.endswith("'s") and _stem(word) not in QUESTION_STOP):
            return next((analyse(following)[0] for following in words[n + 1 :] if following not in QUESTION_STOP), None)
    return None


def _stem(word: str) -> str:
    """Return a word without its contraction: "i'm" is "i", "she's" is "she"."""
    return word.partition("'")[0]
