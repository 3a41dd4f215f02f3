"""The words of a sentence that say something, as two sentences are compared by them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lamina.capture.rules.vague import EVALUATIVE, LIGHT, VAGUE
from lamina.text.analyse import analyse
from lamina.text.closed import (
    DETERMINERS,
    FIRST_PERSON,
    FUNCTION_WORDS,
    KIN,
    MONTHS,
    NUMBER_WORDS,
    PREPOSITIONS,
    WEEKDAY_PLURALS,
    WEEKDAYS,
    word_set,
)
from lamina.text.tokens import Token, TokenKind, tokens
from lamina.text.verbs import KNOWN, base_form, is_gerund, looks_finite

ME = "\0me"
"""Who speaks, whatever word stands for it."""
CONTACT = frozenset({TokenKind.EMAIL, TokenKind.PHONE, TokenKind.URL})

_LEAST, _LESS, _PLAIN = 0.25, 0.5, 1.0
_NOISE = word_set("""
    already lately mostly think especially anyway btw note side ps oh well yeah yes okay ok so then again now nowadays
    finally actually just still really quite currently recently officially apparently new old different other another
    former previous current latest same whole entire proper good great big news update fyi turns out happens change
    changed changes switch switched plan plans decision decided instead longer more any anymore back over away else
    back days moment present today tonight tomorrow yesterday please sorry oops wait correction mistake typo wrong
    mr mrs ms miss dr prof st called named name's thanks hello hi hey right sure guess also too well
    onwards forward effect effective immediately afterwards mind mean meant
""")
_VAGUE_KEYS = VAGUE | LIGHT | word_set("use go become keep like want need start begin move set stand run")
_AGENTLESS = word_set("""
    letter matter butter better dinner summer member number corner offer flower tower shower water river meter master
    sister brother mother father daughter paper order under over after other never ever later former quarter layer
    answer wonder remember december september november october monster center centre counter buffer folder sticker
    weather leather feather cover discover power user doctor motor floor door color error mirror minor major
""")
_VERBS_TOO = word_set("own owns like likes")
"""Verbs that are small words elsewhere."""
_OWNERS = word_set("my our your his her its their 's be is are was were looks look seems feels sounds just more")
_ORDINALS = {
    "first": "1.", "second": "2.", "third": "3.", "fourth": "4.", "fifth": "5.", "sixth": "6.", "seventh": "7.",
    "eighth": "8.", "ninth": "9.", "tenth": "10.",
}  # fmt: skip
_SHORTEST_PARTICIPLE = 4
_LONGEST_CALL = 5
_HOURS = word_set("noon midnight midday")
_DIGITS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15",
    "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """A word that says something: what it is compared by, its sort, what it counts as part of a key, and its place.

    `opens`: it stands at the beginning with a capital, so it may be a name or not. `at` is its place among the words,
    small ones included, `led` the preposition before it; `owns`: what follows is said to be its own; `article`: it is
    one of a sort (a, an); `joined`: "and" or "of" ties it to what stands before.
    """

    root: str
    kind: TokenKind
    weight: float
    start: int
    end: int
    at: int
    opens: bool = False
    led: str = ""
    owns: bool = False
    article: bool = False
    joined: bool = False
    participle: bool = False

    @property
    def is_key(self) -> bool:
        """Whether sharing it tells that two sentences are about one thing."""
        return self.root != ME and self.root not in _VAGUE_ROOTS

    @property
    def is_verb(self) -> bool:
        return self.kind is TokenKind.WORD and (self.participle or self.root in _VERB_ROOTS)

    @property
    def is_typed(self) -> bool:
        return self.kind is not TokenKind.WORD

    def fits(self, other: Item) -> bool:
        """Whether it could stand in the other's place: a name for a name, a number for a number."""
        own, theirs = self._sorts, other._sorts
        return bool(own & theirs)

    @property
    def _sorts(self) -> frozenset[TokenKind]:
        return frozenset({TokenKind.NAME, TokenKind.WORD}) if self.opens else frozenset({self.kind})


def items(text: str, speaker: str | None = None) -> tuple[Item, ...]:
    """The words of a sentence that say something, in order; who speaks is one of them."""
    return items_of(tokens(text), speaker)


def items_of(found: list[Token] | tuple[Token, ...], speaker: str | None = None) -> tuple[Item, ...]:
    """The same of tokens that were made already."""
    own = frozenset((speaker or "").lower().split())
    first = next((n for n, token in enumerate(found) if not token.is_mark), 0)
    made = (_item(token, n, own, found, opens=n == first) for n, token in enumerate(found))
    return tuple(each for each in made if each is not None)


def _item(
    token: Token, at: int, own: frozenset[str], found: list[Token] | tuple[Token, ...], *, opens: bool
) -> Item | None:
    word = token.lower.lower()
    if token.is_mark:
        return None
    if token.kind is TokenKind.NAME and _is_called(found, at):
        return None
    if word in FIRST_PERSON or word in own:
        return Item(ME, TokenKind.WORD, _LESS, token.start, token.end, at)
    if word in WEEKDAYS or word in WEEKDAY_PLURALS or (word in MONTHS and token.text[0].isupper()):
        return Item(word.rstrip("s"), TokenKind.DATE, _PLAIN, token.start, token.end, at, led=_led(found, at))
    if word == "rather" and at and found[at - 1].lower in ("'d", "would"):
        return Item(root_of("prefer"), TokenKind.WORD, _LESS, token.start, token.end, at)
    if word in _ORDINALS and at and found[at - 1].lower in DETERMINERS and at + 1 < len(found):
        return Item(_ORDINALS[word], TokenKind.NUMBER, _PLAIN, token.start, token.end, at, led=_led(found, at))
    if word in _HOURS:
        return Item(word, TokenKind.TIME, _PLAIN, token.start, token.end, at, led=_led(found, at))
    if word in NUMBER_WORDS and _is_part_of(found, at):
        return None
    if word in NUMBER_WORDS and token.kind is TokenKind.WORD:
        return Item(_DIGITS.get(word, word), TokenKind.NUMBER, _PLAIN, token.start, token.end, at, led=_led(found, at))
    verb = word in _VERBS_TOO and at > 0 and found[at - 1].lower not in _OWNERS
    if token.kind is TokenKind.WORD and not verb and (word in FUNCTION_WORDS or word in _NOISE):
        return None
    if token.kind is not TokenKind.WORD:
        root = _written(token)
        if token.kind is TokenKind.NAME and word in _NOISE:
            return None
        return Item(
            root, token.kind, _PLAIN, token.start, token.end, at, led=_led(found, at), owns=_owns(found, at),
            joined=_joined(found, at),
        )  # fmt: skip
    root = root_of(word)
    capital = opens and token.text[0].isupper() and _may_be_a_name(found, at)
    weight = _LEAST if root in _LIGHT_ROOTS else _LESS if root in _VERB_ROOTS or root in _VAGUE_ROOTS else _PLAIN
    article = bool(at) and found[at - 1].lower in ("a", "an")
    return Item(
        root, token.kind, weight, token.start, token.end, at, capital, _led(found, at), _owns(found, at), article,
        _joined(found, at), word.endswith("ed") and len(word) > _SHORTEST_PARTICIPLE,
    )  # fmt: skip


def _is_called(found: list[Token] | tuple[Token, ...], at: int) -> bool:
    """Whether a name only calls somebody: it stands between a comma and the end, or at the beginning before one."""
    before, after = found[at - 1].text if at else "", found[at + 1].text if at + 1 < len(found) else "."
    last = all(each.is_mark for each in found[at + 1 :])
    more = found[at + 2].lower if at + 2 < len(found) else ""
    first = at == 0 and after == "," and more not in DETERMINERS and more not in ("who", "which", "and")
    return (before == "," and last and at <= _LONGEST_CALL) or first


def _is_part_of(found: list[Token] | tuple[Token, ...], at: int) -> bool:
    """Whether a number tells how many of them are meant: one of our hens."""
    after = [each.lower for each in found[at + 1 : at + 3]]
    return len(after) == 2 and after[0] == "of" and after[1] in DETERMINERS


def _led(found: list[Token] | tuple[Token, ...], at: int) -> str:
    """The preposition that leads up to a word, articles and the like between them."""
    before = at - 1
    while before >= 0 and found[before].lower in DETERMINERS:
        before -= 1
    return found[before].lower if before >= 0 and found[before].lower in PREPOSITIONS else ""


def _joined(found: list[Token] | tuple[Token, ...], at: int) -> bool:
    before = at - 1
    while before > 0 and found[before].lower in ("the", "a", "an"):
        before -= 1
    return before > 0 and found[before].lower in ("and", "&", "of", "'s", "de", "-")


def _owns(found: list[Token] | tuple[Token, ...], at: int) -> bool:
    """Whether a word is followed by the 's of an owner, not by that of a verb."""
    after = found[at + 1 : at + 3]
    return len(after) == 2 and after[0].lower == "'s" and after[1].lower not in FUNCTION_WORDS and not after[1].is_mark


def _may_be_a_name(found: list[Token] | tuple[Token, ...], at: int) -> bool:
    """Whether a capital at the beginning may be a name's: what follows is its verb or its possession."""
    word = found[at].lower
    after = found[at + 1].lower if at + 1 < len(found) else ""
    if is_gerund(word) or word in KNOWN or word in KIN:
        return False
    return after in ("is", "was", "has", "'s", "will", "and") or looks_finite(after)


def _written(token: Token) -> str:
    """How a name, a number or an address is compared: signs within it count, case does not."""
    if token.kind is TokenKind.PHONE:
        return re.sub(r"\D", "", token.text)
    if token.kind is TokenKind.NUMBER:
        return token.lower.replace(",", "")
    if token.kind is TokenKind.MONEY:
        return re.sub(r"[\s,]", "", token.lower)
    if token.kind is TokenKind.NAME:
        folded = analyse(token.text.replace("-", "").replace("/", "")) if token.text.isalpha() else []
        return folded[0] if len(folded) == 1 else token.lower
    return token.lower


@lru_cache(maxsize=16_384)
def root_of(word: str) -> str:
    """What a word is compared by: its stem, and the stem of the verb where it names who or what does it."""
    base = base_form(word) or _doer(word) or word
    if base.startswith("re") and base[2:] in KNOWN and len(base) > 5:
        base = base[2:]
    stems = analyse(base.replace("-", ""))
    return stems[0] if stems else base


def _doer(word: str) -> str | None:
    """The verb in a word for who does it or for doing it: owner, supplier, assignment."""
    if word in _AGENTLESS or len(word) < 5:
        return None
    tries: list[str] = []
    if word.endswith("ier"):
        tries = [word[:-3] + "y"]
    elif word.endswith(("er", "or")):
        tries = [word[:-2], word[:-1], word[:-2] + "e", word[:-3]]
    elif word.endswith("ment"):
        tries = [word[:-4]]
    elif word.endswith("ation"):
        tries = [word[:-5], word[:-5] + "e", word[:-3] + "e"]
    elif word.endswith("ion"):
        tries = [word[:-3], word[:-3] + "e"]
    return next((each for each in tries if each in KNOWN), None)


_VAGUE_ROOTS = frozenset(root_of(word) for word in _VAGUE_KEYS | EVALUATIVE)
_LIGHT_ROOTS = frozenset(root_of(word) for word in LIGHT | {"go", "move", "set", "run"})
_VERB_ROOTS = frozenset(root_of(word) for word in KNOWN)
