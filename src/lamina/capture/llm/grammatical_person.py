"""Grammatical person: whose state a sentence is about, by the closed set of English pronouns.

A sentence in another language shows no person here; then only names decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lamina.text.analyser import STOP_WORDS, analyse

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, apostrophes inside them straightened."""
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


_FIRST_PERSON_SUBJECTS = frozenset(["i", "we", "im", "ive"])
_FIRST_PERSON_OBJECTS = frozenset(["my", "our", "me", "us", "mine", "ours", "myself", "ourselves"])
_SECOND_PERSON = frozenset(["you", "your", "yours", "yourself", "u", "ur"])
_THIRD_PERSON = frozenset(split_words("he she they him her them his hers their theirs himself herself themselves"))
_ANAPHORS = _THIRD_PERSON | frozenset(split_words("it its this that these those there then one ones here such same"))
_POSSESSIVES = frozenset(["my", "our", "your", "his", "her", "their"])
_LEADING_WORDS = 3
"""A possessive among the first words of a clause shows whose thing the clause is about."""


@dataclass(frozen=True, slots=True)
class PronounPersons:
    """The grammatical persons that occur; `has_first_subject`: "I" or "we" does, not only "my" or "me"."""

    has_first_subject: bool
    has_first: bool
    has_second: bool
    has_third: bool
    has_anaphor: bool


def find_pronoun_persons(text: str) -> PronounPersons:
    """Return the grammatical persons that the pronouns of a text name."""
    words = {_strip_contraction(word) for word in split_words(text)}
    return PronounPersons(
        has_first_subject=bool(words & _FIRST_PERSON_SUBJECTS),
        has_first=bool(words & (_FIRST_PERSON_SUBJECTS | _FIRST_PERSON_OBJECTS)),
        has_second=bool(words & _SECOND_PERSON),
        has_third=bool(words & _THIRD_PERSON),
        has_anaphor=bool(words & _ANAPHORS),
    )


def find_possessed_thing(clause: str) -> str | None:
    """Return the token of the thing that a clause is about: "sister" in "my sister lives in Porto"."""
    words = split_words(clause)
    for n, word in enumerate(words[:_LEADING_WORDS]):
        if word in _POSSESSIVES or (word.endswith("'s") and _strip_contraction(word) not in STOP_WORDS):
            return next((analyse(following)[0] for following in words[n + 1 :] if following not in STOP_WORDS), None)
    return None


def _strip_contraction(word: str) -> str:
    """Return a word without its contraction: "i'm" is "i", "she's" is "she"."""
    return word.partition("'")[0]
