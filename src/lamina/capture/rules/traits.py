"""What somebody likes and what somebody is: tastes, interests, skills and states; moods are left out."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.capture.rules.concrete import concrete, holds, is_typed
from lamina.capture.rules.judged import FACT, IMPLIED, Judged
from lamina.capture.rules.vague import VAGUE
from lamina.text.closed import ADVERBS, DETERMINERS, PREPOSITIONS, word_set
from lamina.text.frames import Form, Frame
from lamina.text.tokens import Token
from lamina.text.verbs import is_ly_adverb

_HOURS = word_set("morning mornings evening evenings night nights afternoon afternoons weekends weekdays")
_NO_OBJECTS = word_set("how that when what seeing hearing being your it knowing having getting")
_ANY_DEEDS = word_set("playing doing going having making working trying")
_SENSED = word_set("see hear know think be help")
_INTERESTS = word_set("fan lover into passionate interested keen obsessed fond hooked")
_LOOKING_ON = word_set("""
    learning exploring trying finding knowing hearing seeing getting checking looking adding using
""")
_MILD = word_set("interested keen passionate")
_DEGREES = ADVERBS | word_set("a an big huge really so very more also pretty")
_MOODS = word_set("game down over too able up all beyond about sucker")
_PASSING = word_set("at in on about off back here out with around")
_LONGEST_STATE = 7


def taste(frame: Frame, rest: Sequence[Token], *, dated: bool) -> Judged | None:
    """What somebody likes, where it is a thing and not how something was."""
    first = rest[0].lower if rest else ""
    timed = holds(rest, _HOURS)
    if not rest or first in _NO_OBJECTS or holds(rest[:5], ("look",)) or holds(rest[1:2], ("sound",)):
        return None
    if first in _ANY_DEEDS and concrete(rest[1:]) < 1:
        return None
    if first == "to" and ((concrete(rest[2:]) < 1 and not timed) or holds(rest[1:2], _SENSED)):
        return None
    if frame.form is Form.PAST:
        return Judged("event", claims=False) if concrete(rest) >= 2 and dated else None
    if (concrete(rest) < 1 and not timed) or (first in DETERMINERS and first not in ("my", "a", "an", "the")):
        return None
    return Judged("preference") if _is_particular(rest) else None


def _is_particular(rest: Sequence[Token]) -> bool:
    """Whether "the ..." needs nothing said before: it has a name, or says of or in what it is."""
    definite = sum(token.lower == "the" for token in rest)
    if rest[0].lower != "the" and not (rest[0].lower == "all" and definite):
        return True
    if holds(rest[:3], VAGUE):
        return False
    return is_typed(rest[:5]) or (definite == 1 and concrete(rest) >= 2 and holds(rest[2:], PREPOSITIONS))


def being(frame: Frame, rest: Sequence[Token]) -> Judged | None:
    """What somebody is."""
    words = [token.lower for token in rest if token.lower not in _DEGREES and not is_ly_adverb(token.lower)]
    head = words[0] if words else ""
    if head in _INTERESTS:
        return _interest(head, words, rest)
    if head == "over" and len(words) == 2 and words[1] not in VAGUE:
        return Judged("fact", claims=False, sure=True)
    if head in _MOODS or holds(rest[:1], ("too",)):
        return None
    if head in ("good", "great", "skilled") and words[1:2] == ["at"]:
        return Judged("skill", sure=concrete(rest) >= 1)
    if frame.form in (Form.PRESENT, Form.PAST) and head in _PASSING and not is_typed(rest):
        placed = head in ("on", "in", "at") and 3 <= len(words) <= _LONGEST_STATE and words[1] not in PREPOSITIONS
        lasting = placed and frame.form is Form.PRESENT
        return Judged("fact", IMPLIED) if lasting else None
    return FACT


def _interest(head: str, words: Sequence[str], rest: Sequence[Token]) -> Judged | None:
    joined = head == "into" or words[1:2] in (["in"], ["of"], ["on"], ["about"], ["with"], ["by"], ["to"])
    if len(words) < 2 or not joined or any(word in _LOOKING_ON for word in words[1:4]):
        return None
    needed = 2 if head in _MILD or (head in ("fan", "lover") and "of" not in words) else 1
    return Judged("interest", sure=concrete(rest[1:]) >= needed)
