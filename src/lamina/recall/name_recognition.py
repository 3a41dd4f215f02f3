"""Tokens of a sentence with their positions, so that recall can follow names; e-mail addresses, amounts and times stay
whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class SentenceTokenKind(StrEnum):
    """The kind of a token; `typed` are numbers, amounts, times and addresses."""

    NAME = "name"
    WORD = "word"
    TYPED = "typed"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class SentenceToken:
    """A word or punctuation mark as written, its position, and its lower-case form."""

    text: str
    start: int
    end: int
    kind: SentenceTokenKind
    lower: str

    @property
    def is_mark(self) -> bool:
        return self.kind is SentenceTokenKind.MARK


_CURRENCY = "£$€¥₹"
_SCALE = r"(?:\s?(?:k|m|bn|million|thousand|billion)\b)?"
_TOKEN = re.compile(
    r"(?P<url>(?:https?://|www\.)[^\s<>()]{1,300}[^\s<>().,;:!?'\"])"
    r"|(?P<email>[\w.+-]{1,64}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,4})"
    rf"|(?P<money>[{_CURRENCY}]\s?\d(?:[\d,]{{0,14}}\d)?(?:\.\d{{1,2}})?{_SCALE}"
    r"|\d(?:[\d,]{0,14}\d)?(?:\.\d{1,2})?\s?(?:[£$€¥₹]|(?:dollars|euros?|pounds|bucks|pence|cents|usd|eur|gbp|francs|yen)\b))"
    r"|(?P<time>\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b|\d{1,2}\s?o'clock)"
    r"|(?P<phone>\+?\(?\d[\d\s().-]{5,18}\d(?![\w-]))"
    r"|(?P<date>\d{4}-\d{2}-\d{2}(?!\d)|\d{1,2}/\d{1,2}(?:/\d{2,4})?(?!\d)|\d{1,2}(?:st|nd|rd|th)\b)"
    r"|(?P<number>\d(?:[\d,]{0,14}\d)?(?:\.\d{1,6})?%?(?![\w]))"
    r"|(?P<negated>(?:do|does|did|is|are|was|were|has|have|had|wo|ca|could|would|should|need|must|ai)n['’]t\b)"
    r"|(?P<clitic>['’](?:s|m|re|ve|ll|d)\b)"
    r"|(?P<word>[^\W_]{1,60}(?:(?:[-/.&](?=[^\W_])|['’](?!(?:s|m|re|ve|ll|d|t)\b)(?=[^\W_]))[^\W_]{1,60}){0,6})"
    r"|(?P<mark>[^\s\w]|_)",
    re.IGNORECASE,
)
_WORDS = frozenset({"clitic", "negated", "word"})
_LONGEST_NAME_IN_ED = 4
"""Longer words in -ed that open a sentence are verbs: "Visited Ann" names one person, "Fred Hale" is a name."""


def tokenise_sentence(text: str) -> list[SentenceToken]:
    """Return the tokens of a sentence, with names marked.

    A capitalised word is a name; at the start of a sentence only if it is all capitals or another capitalised word
    follows.
    """
    tokens: list[SentenceToken] = []
    for match in _TOKEN.finditer(text):
        group, word, start = match.lastgroup, match.group(), match.start()
        kind = (
            SentenceTokenKind.WORD
            if group in _WORDS
            else SentenceTokenKind.MARK
            if group == "mark"
            else SentenceTokenKind.TYPED
        )
        if group == "negated":
            tokens.append(_make_token(word[:-3], start, kind))
            word, start = word[-3:], match.end() - 3
        tokens.append(_make_token(word, start, kind))
    return _mark_names(tokens)


def _make_token(word: str, start: int, kind: SentenceTokenKind) -> SentenceToken:
    return SentenceToken(word, start, start + len(word), kind, word.lower().replace("’", "'"))


def _mark_names(tokens: list[SentenceToken]) -> list[SentenceToken]:
    """Return the same tokens with names distinguished from words."""
    named: list[SentenceToken] = []
    at_start = True
    for at, token in enumerate(tokens):
        if token.kind is SentenceTokenKind.WORD and _is_name(tokens, at, at_start):
            lower = token.text if token.lower in ("may", "will") else token.lower
            token = SentenceToken(token.text, token.start, token.end, SentenceTokenKind.NAME, lower)
        at_start = token.is_mark and (at_start or token.text in '.!?:"“[(')
        named.append(token)
    return named


def _is_name(tokens: list[SentenceToken], at: int, at_start: bool) -> bool:
    text = tokens[at].text
    if any(char.isdigit() for char in text):
        return True
    if text in _ACRONYMS:
        return any(token.text[:1].islower() for token in tokens)
    if not text[0].isupper() or tokens[at].lower in NEVER_NAMES:
        return False
    if not at_start or (len(text) > 1 and text.isupper()):
        return True
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is None or after.is_mark or tokens[at].lower in _OPENING_WORDS:
        return False
    if tokens[at].lower.endswith("ed") and len(text) > _LONGEST_NAME_IN_ED:
        return False
    return after.text[0].isupper() and after.lower not in NEVER_NAMES


_NEVER_NAMES_LIST = """
    i i'm i've i'd i'll ok okay wow hey hi yeah yes no nope yep yup oh tv btw lol omg haha fyi diy pm am the a an
    and or but my our we he she it they you your his her their its this that these those what when where who how why
    if is are was were do does did can will so then there here
"""
NEVER_NAMES = frozenset(_NEVER_NAMES_LIST.split())
"""Words that are no names even with a capital."""

_ACRONYMS = frozenset({"IT", "US", "HR", "QA"})

_OPENING_WORD_LIST = """
    in on at for from with by to of as after before since until during about over under into last next every each
    some most many all both just now today yesterday tomorrow lately recently actually also plus however anyway
    thanks thank hello dear happy merry good great nice sorry congrats congratulations not never once always usually
    sometimes often currently please let's let sure well monday tuesday wednesday thursday friday saturday sunday
    uncle aunt
"""
_OPENING_WORDS = frozenset(_OPENING_WORD_LIST.split())
