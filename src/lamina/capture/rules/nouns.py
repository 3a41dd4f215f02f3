"""Noun phrases as keys and values: which one is meant, what type of value stands there, who does a thing."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.text.closed import AUXILIARIES, DETERMINERS, MONTHS, PETS, PREPOSITIONS, WEEKDAY_PLURALS, WEEKDAYS, word_set
from lamina.text.tokens import Token, TokenKind

_DULL = word_set("new current old main own latest next last first little big actual present former whole only")


def at_word(found: Sequence[Token], word: str) -> int | None:
    """Where a word stands that something follows."""
    return next((at for at, token in enumerate(found) if token.lower == word and at + 1 < len(found)), None)


def typed_part(rest: Sequence[Token]) -> Sequence[Token]:
    """The words of what is typed, without the small words that lead to it; of "from A to B" it is B."""
    at = next((step for step, token in enumerate(rest) if token.is_typed), 0)
    words = [token.lower for token in rest]
    if "from" in words and "to" in words[words.index("from") :]:
        return rest[len(words) - words[::-1].index("to") :]
    start = max((step + 1 for step in range(at) if words[step] in PREPOSITIONS or words[step] in _PERSONS), default=0)
    return rest[start:]


_PERSONS = frozenset({"me", "us", "him", "her", "them", "you"})


def by_type(value: Sequence[Token]) -> str | None:
    """The attribute that the type of a value names by itself."""
    counted = any(token.kind is TokenKind.NUMBER for token in value)
    if counted and any(token.lower in _CALENDAR or token.text == "May" for token in value):
        return "date"
    for kind, name in _TYPE_NAMES:
        if any(token.kind is kind for token in value):
            return name
    return "date" if any(token.lower in _CALENDAR for token in value) else None


_CALENDAR = WEEKDAYS | WEEKDAY_PLURALS | MONTHS


_TYPE_NAMES = (
    (TokenKind.MONEY, "price"),
    (TokenKind.TIME, "time"),
    (TokenKind.DATE, "date"),
    (TokenKind.NUMBER, "number"),
)


def names_one(subject: Sequence[Token]) -> bool:
    """Whether a subject is a name, or one word with a capital that may be."""
    return any(token.kind is TokenKind.NAME for token in subject) or (
        len(subject) == 1 and subject[0].text[0].isupper() and subject[0].lower not in DETERMINERS
    )


def agent(verb: str) -> str:
    """The noun for whoever does it: lead, leader."""
    return verb.removesuffix("ed") + ("r" if verb.endswith("e") else "er")


def key_of(found: Sequence[Token]) -> str:
    """The words of a noun phrase that tell which one it is, in lower case."""
    words: list[str] = []
    for token in found:
        if token.is_mark or token.lower in DETERMINERS or token.lower in _DULL or token.lower in AUXILIARIES:
            continue
        if token.lower in ("who", "which", "that", "from"):
            break
        words.append(token.lower)
    while words and words[-1] in PREPOSITIONS:
        words.pop()
    return " ".join(words[:6])


_MANY = (
    ("sibling", word_set("brother sister twin sibling")),
    ("child", word_set("son daughter child kid")),
    ("friend", word_set("friend pal buddy bestie")),
    ("colleague", word_set("colleague coworker co-worker teammate")),
    ("pet", PETS),
)
_UNCOUNTED = word_set("""
    aunt auntie uncle cousin niece nephew neighbour neighbor grandson granddaughter grandchild grandmother grandfather
    grandma grandpa client student tenant classmate roommate flatmate housemate godson goddaughter intern apprentice
""")


def relation_of(key: str) -> str | None:
    """The attribute for a relation: the word for all of those one may have several of; none where there is no such."""
    if key in _UNCOUNTED:
        return None
    return next((name for name, words in _MANY if key in words), key)
