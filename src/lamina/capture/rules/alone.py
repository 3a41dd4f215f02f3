"""Whether a clause can be read alone: no pronoun without what it stands for, no "that" for what was shown before."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.capture.rules.concrete import is_typed, weight
from lamina.capture.rules.vague import VAGUE
from lamina.text.closed import (
    AUXILIARIES,
    DEMONSTRATIVES,
    DETERMINERS,
    FUNCTION_WORDS,
    NUMBER_WORDS,
    PEOPLE,
    PETS,
    PREPOSITIONS,
    word_set,
)
from lamina.text.frames import Frame, Subject
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import base_form, looks_finite

_POINTERS = word_set("it its they them their theirs he she him his her hers himself herself itself")
_OWNERS = word_set("his her their its theirs hers")
_HUMAN = word_set("he she him his her hers himself herself")
_PERSONS = PEOPLE | PETS | word_set("guy woman man girl boy lady baby student kid")
_SUBJECTS = word_set("it they he she")
_INVERTED = word_set("was am were did do have had will")
_NOTHINGS = word_set("something everything anything stuff someone somebody anyone whatever")
_COMPARED = word_set("same such similar so-called latter others")
_INTRODUCING = word_set("a an the my our some his her their new 's") | NUMBER_WORDS
_PARTING = frozenset({"and", "but", ",", "so", "because", ":", ";", "when"})
_LEADING = _PARTING | {"to", "that", "for"}
_UNITS = word_set("day week weekend month year hour minute night")
_TIMES = word_set("week weekend month year morning evening afternoon days summer spring winter fall autumn season term")

Days = Sequence[tuple[int, int]]
"""Where a sentence names days."""


def stands_alone(found: Sequence[Token], frame: Frame, days: Days = ()) -> bool:
    """Whether no word in it points outside it; `days` are where it names days."""
    own = {token.start for token in frame.subject} if frame.kind is not Subject.PRONOUN else set()
    return not any(
        token.kind is not TokenKind.NAME and _points_outside(found, at, frame, own, days)
        for at, token in enumerate(found)
    )


def _points_outside(found: Sequence[Token], at: int, frame: Frame, own: set[int], days: Days) -> bool:
    word = found[at].lower
    if word in _POINTERS:
        anticipates = word == "it" and at == 0 and frame.kind is Subject.PRONOUN and frame.verb == "be"
        return not anticipates and not _has_antecedent(_earlier(found, at, own), human=word in _HUMAN)
    if word in DEMONSTRATIVES:
        return _shows(found, at, frame)
    match word:
        case "i" | "we":
            return at > 1 and found[at - 1].lower in _INVERTED
        case "there" | "here":
            return not _has_place(found[:at]) and not _is_existential(found, at)
        case "one" | "ones":
            return at > 0 and not _counts(found, at)
        case "later" | "earlier" | "ago" | "back" | "afterward" | "afterwards":
            return _is_counted_from(found, at, days)
        case "last" | "next":
            return not _is_ordinal(found, at, days)
        case "both":
            return not any(token.lower in ("and", "of") for token in found[at + 1 : at + 6])
        case "option":
            return not _ends(found, at) and found[at + 1].kind is TokenKind.NUMBER
        case "another" | "other":
            return _ends(found, at) or found[at + 1].lower in NUMBER_WORDS
        case _:
            return word in _NOTHINGS or word in _COMPARED


def _earlier(found: Sequence[Token], at: int, own: set[int]) -> Sequence[Token]:
    """What a pronoun can stand for: all before the verb or joining word that leads to it."""
    word = found[at].lower
    if word in _OWNERS:
        return found[:at]
    before = found[at - 1] if at else None
    after = found[at + 1].lower if at + 1 < len(found) else ""
    governs = word in _SUBJECTS and (after in AUXILIARIES or looks_finite(after))
    if governs and before is not None and not before.is_mark and before.lower not in FUNCTION_WORDS:
        return ()
    for step in range(at - 1, 0, -1):
        each = found[step]
        if each.lower in _LEADING or (each.kind is TokenKind.WORD and base_form(each.lower)):
            if each.lower == "for":
                return ()
            parted = any(token.lower in _PARTING and token.start > max(own, default=0) for token in found[1:at])
            return found[:step] if parted else [token for token in found[:step] if token.start > max(own, default=-1)]
    return ()


def _has_antecedent(before: Sequence[Token], *, human: bool) -> bool:
    if human:
        return any(
            (token.kind is TokenKind.NAME and len(token.text) > 2) or token.lower in _PERSONS for token in before
        )
    return any(_is_introduced(before, at) or _is_object(before, at) for at in range(1, len(before)))


def _is_introduced(before: Sequence[Token], at: int) -> bool:
    """Whether a thing is named here, by a name, a number after a noun, or a noun after its determiner."""
    token, led = before[at], before[at - 1]
    if token.kind is TokenKind.NAME or (token.kind is TokenKind.NUMBER and led.kind is TokenKind.WORD):
        return True
    return led.lower in _INTRODUCING and token.kind is TokenKind.WORD and token.lower not in ("lot", "bit", "while")


def _is_object(before: Sequence[Token], at: int) -> bool:
    """Whether a plain noun ends its part of the clause: "I bake bread and ..."."""
    token = before[at]
    ends = at + 1 < len(before) and before[at + 1].lower in _PARTING
    verbal = looks_finite(token.lower) or token.lower.endswith("ing")
    return ends and token.kind is TokenKind.WORD and weight(token) >= 1 and not verbal


def _has_place(before: Sequence[Token]) -> bool:
    """Whether a place was named: after at, in or to, or by a number."""
    for at, token in enumerate(before):
        after = before[at + 1] if at + 1 < len(before) else None
        if token.lower in ("at", "in", "to", "near") and after and (after.is_typed or after.lower in _INTRODUCING):
            return True
        if token.lower in NUMBER_WORDS and at > 1:
            return True
    return False


def _shows(found: Sequence[Token], at: int, frame: Frame) -> bool:
    """Whether this or that points at something shown or said before."""
    word = found[at].lower
    after = found[at + 1].lower if at + 1 < len(found) else ""
    if after in _TIMES:
        return word in ("that", "those")
    if word == "that" and at:
        return _shows_that(found, at, after)
    inside = word in ("this", "these") and at > 0 and not _ends(found, at) and found[at - 1].lower in PREPOSITIONS
    return not (inside and frame.kind not in (Subject.SPEAKER, Subject.PRONOUN) and is_typed(frame.rest))


def _shows_that(found: Sequence[Token], at: int, after: str) -> bool:
    """Whether that is no joining word."""
    before = found[at - 1]
    if before.lower == "," or before.lower in PREPOSITIONS:
        return True
    if before.lower in ("and", "but", "so"):
        return False
    governed = base_form(before.lower) and before.lower not in VAGUE and before.kind is TokenKind.WORD
    if governed and not (after in DETERMINERS or after in ("i", "we", "there")):
        return not (after in AUXILIARIES or looks_finite(after) or after.endswith("s"))
    return _ends(found, at)


def _ends(found: Sequence[Token], at: int) -> bool:
    return at + 1 >= len(found) or found[at + 1].is_mark or found[at + 1].lower in PREPOSITIONS


def _is_existential(found: Sequence[Token], at: int) -> bool:
    after = found[at + 1].lower if at + 1 < len(found) else ""
    return after in ("is", "are", "was", "were", "'s") and at <= 2


def _is_counted_from(found: Sequence[Token], at: int, days: Days) -> bool:
    """Whether a time is counted from another that is not here: "two weekends later", "afterwards"."""
    if any(start <= found[at].start < end for start, end in days):
        return False
    word, before = found[at].lower, found[at - 1].lower if at else ""
    if word == "ago":
        return before not in ("years", "year")
    return word not in ("later", "earlier", "back") or before.removesuffix("s") in _UNITS


def _is_ordinal(found: Sequence[Token], at: int, days: Days) -> bool:
    """Whether last or next needs no today: it is resolved, or it is a last name or the next village."""
    after = found[at + 1].lower if at + 1 < len(found) else ""
    if any(start <= found[at].start < end for start, end in days) or after in ("name", "to", "door", ""):
        return True
    return at > 0 and found[at - 1].lower in ("my", "our", "the", "at", "his", "her")


def _counts(found: Sequence[Token], at: int) -> bool:
    """Whether one is a number and not a stand-in for a noun."""
    after = found[at + 1] if at + 1 < len(found) else None
    if after is None or after.is_mark:
        return False
    if after.lower == "of" or found[at].lower == "ones":
        return found[at].lower == "one"
    stood_for = found[at - 1].lower in ("this", "that", "the", "new", "first")
    return not stood_for and after.lower not in PREPOSITIONS and after.lower not in AUXILIARIES
