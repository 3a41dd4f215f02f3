"""Whether the words that fill a slot are a value by themselves: a whole phrase that means the same read alone."""

from __future__ import annotations

import re

from lamina.capture.rules.slots import Slot
from lamina.capture.rules.vague import VAGUE
from lamina.text.closed import AUXILIARIES, CONJUNCTIONS, DETERMINERS, FIRST_PERSON, PREPOSITIONS, word_set
from lamina.text.verbs import KNOWN

_WORD = re.compile(r"[\w'’-]+")
_NO_END = (
    (PREPOSITIONS - word_set("in on off up down out over under inside outside near around through past"))
    | DETERMINERS
    | CONJUNCTIONS
    | AUXILIARIES
    | word_set("what who how when where why which because if than very so too not n't i we")
)
_CUT_OFF = re.compile(r"\w['’](?:re|m|ve|ll|d)\Z", re.IGNORECASE)
_RELATIVE = word_set("next last yesterday tomorrow today tonight")
_ASIDE = word_set("and or but for on")
_LONGEST_KEY = 6


def is_sound(slot: Slot) -> bool:
    """Whether the value is whole and nobody's "my" stands in it, and the attribute is a name and no sentence."""
    words = [word if word == "May" else word.lower() for word in _WORD.findall(slot.value or "")]
    if not words or words[-1] in _NO_END or _CUT_OFF.search(words[-1]):
        return False
    about = slot.subject.lower().split()
    if any(word in FIRST_PERSON for word in (*words, *about)) or words[0] in _RELATIVE | CONJUNCTIONS:
        return False
    if all(word in VAGUE for word in words) or '"' in (slot.value or ""):
        return False
    key = (slot.attribute or "").lower().split()
    infinitive = key[:1] == ["to"] and len(key) > 1 and key[1] in KNOWN
    return len(key) <= _LONGEST_KEY and not (len(key) > 1 and key[0] in _ASIDE) and not infinitive
