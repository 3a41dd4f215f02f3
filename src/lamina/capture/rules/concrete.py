"""How much particular there is in words: names, numbers and plain nouns, against praise and what fits anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lamina.capture.rules.vague import EVALUATIVE, LIGHT, MENTAL, NEUTRAL, VAGUE
from lamina.text.closed import FUNCTION_WORDS, KIN, NUMBER_WORDS, PEOPLE, PETS, SECOND_PERSON
from lamina.text.tokens import Token
from lamina.text.verbs import base_form

_ENOUGH = 6
_ABSTRACT = ("ness", "ity", "ment", "ance", "ence", "ship", "tion", "sion", "ful", "ive", "ous")
_LOOSE_NUMBERS = frozenset({"one", "half", "dozen"})


def concrete(words: Iterable[Token]) -> float:
    """The sum of the weights of the words, each counted once, up to as much as anything ever needs."""
    total = 0.0
    seen: set[str] = set()
    for token in words:
        if token.is_mark or token.lower in seen:
            continue
        seen.add(token.lower)
        total += weight(token)
        if total >= _ENOUGH:
            break
    return total


def weight(token: Token) -> float:
    """What a word adds: 2 for a name or number, 1 for a plain noun, a half for an abstract one, else nothing."""
    word = token.lower
    if token.is_typed:
        return 2.0
    if word in FUNCTION_WORDS or word in EVALUATIVE or word in NEUTRAL or len(word) < 3:
        return 0.0
    if word in NUMBER_WORDS:
        return 0.5 if word in _LOOSE_NUMBERS else 1.0
    base = base_form(word)
    if base in MENTAL or base in LIGHT:
        return 0.0
    if word in KIN or word in PETS or word in PEOPLE:
        return 1.0
    if word in VAGUE or word.endswith("ly"):
        return 0.0
    return 0.5 if len(word) > 6 and word.endswith(_ABSTRACT) else 1.0


def holds(words: Iterable[Token], any_of: Collection[str]) -> bool:
    """Whether one of the words is among these."""
    return any(token.lower in any_of for token in words)


def is_typed(words: Iterable[Token]) -> bool:
    """Whether one of the words is a name, a number or the like."""
    return any(token.is_typed for token in words)


def praises(words: Collection[Token]) -> bool:
    """Whether the words judge or feel and tell nothing else."""
    return holds(words, EVALUATIVE) and concrete(words) < 1


def addresses(words: Iterable[Token]) -> bool:
    """Whether somebody is spoken to."""
    return holds(words, SECOND_PERSON)
