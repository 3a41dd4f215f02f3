"""Where the phrase that fills a slot ends: at a second verb, at what it is for, at how long it has been so."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.text.closed import AUXILIARIES, word_set
from lamina.text.frames import Form
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import KNOWN, is_past, looks_finite

_SPELLS = word_set("day week month year while hour minute decade age")


def agrees(word: str, form: Form) -> bool:
    """Whether a word could be a second verb of its clause: "enjoys rye and salted butter" holds only one."""
    return form is not Form.PRESENT or not word.endswith("ed")


def is_second_verb(word: str) -> bool:
    """Whether a word after and or but is another verb of the same subject."""
    return looks_finite(word) and (word.endswith("s") or is_past(word) or word in AUXILIARIES)


def is_infinitive(rest: Sequence[Token], at: int) -> bool:
    """Whether "to" with a verb stands here."""
    return rest[at].lower == "to" and at + 1 < len(rest) and rest[at + 1].lower in KNOWN


def is_duration(rest: Sequence[Token], at: int) -> bool:
    """ "For three months", "for about 4 years", "for a while"."""
    if rest[at].lower != "for":
        return False
    return any(token.lower.removesuffix("s") in _SPELLS for token in rest[at + 1 : at + 5])


def is_verbal(token: Token) -> bool:
    """Whether a phrase that begins so is a deed: to sail, sailing."""
    return token.lower == "to" or token.lower.endswith("ing")


def is_inner_colon(rest: Sequence[Token], at: int) -> bool:
    """Whether a colon stands inside a name."""
    named = 0 < at < len(rest) - 1 and rest[at - 1].kind is TokenKind.NAME and rest[at + 1].kind is TokenKind.NAME
    return rest[at].text == ":" and named


def joins_names(rest: Sequence[Token], token: Token, form: Form) -> bool:
    """Whether "and" goes on with a list and opens no second verb."""
    at = next(step for step, each in enumerate(rest) if each is token)
    return (
        token.lower == "and"
        and 0 < at < len(rest) - 1
        and rest[at + 1].lower not in AUXILIARIES
        and not (is_second_verb(rest[at + 1].lower) and agrees(rest[at + 1].lower, form))
    )
