"""Which kind of memory a clause is; none where its verb and mood tell that it asserts nothing to keep."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lamina.capture.rules.concrete import concrete, holds, is_typed
from lamina.capture.rules.judged import EVENT, FACT, IMPLIED, Judged
from lamina.capture.rules.moods import is_ahead, is_lofty, of_ahead, of_modal, wish
from lamina.capture.rules.traits import being, taste
from lamina.capture.rules.vague import EVALUATIVE, LIGHT, MENTAL
from lamina.text.closed import KIN, NUMBER_WORDS, WEEKDAY_PLURALS, word_set
from lamina.text.frames import Form, Frame, Subject
from lamina.text.tokens import Token, TokenKind

_TASTES = word_set("love like enjoy adore prefer favour favor hate dislike avoid detest loathe despise")
_DECISIONS = word_set("decide choose agree settle opt pick resolve")
_GOALS = word_set("want plan aim hope intend dream wish")
_OFTEN = WEEKDAY_PLURALS | word_set("""
    usually always often every weekly daily regularly normally typically sometimes never rarely mornings nights
    weekends
""")
_REGULAR = word_set("every daily weekly mornings evenings")
_LASTING = word_set("learn study train work take write build run live move start")
_IDLE = word_set("""
    look sit wait try go get take do let see check give hang talk keep come make think hope feel struggle enjoy love
""")
_STATES = word_set("""
    live work move own have switch change start join become be adopt marry dislike drop quit replace leave sell
""")
_MUTUAL = word_set("together apart teammates friends both each all buddies classmates close")
_MUTUAL_DEEDS = word_set("connect bond hang chat catch laugh bounce")
_LONGEST_EXISTENCE = 14


def judge(said: Sequence[Token], frame: Frame, *, dated: bool, past: bool) -> Judged | None:
    """The kind of a clause, by whose it is and by the form of its verb; `past` are states that are over."""
    if frame.kind is Subject.PRONOUN:
        return _existence(frame)
    if holds(said, ("we",)) and holds(said, _MUTUAL):
        return None
    if frame.form is Form.MODAL:
        return of_modal(frame)
    if is_ahead(frame):
        return of_ahead(frame, dated=dated)
    if frame.kind is Subject.SPEAKER:
        return _of_speaker(said, frame, dated=dated, past=past)
    return _of_other(frame, dated=dated)


def _existence(frame: Frame) -> Judged | None:
    """ "Now there is a toad by our compost", "it's the Aquadrome where I swim"."""
    if frame.verb != "be":
        return None
    words = [token.lower for token in frame.tokens]
    if words[0] == "it" and is_typed(frame.rest):
        told = any(one in ("where", "that", "who") and two in ("i", "we") for one, two in pairwise(words))
        return Judged("fact", claims=False, sure=told)
    if (
        frame.subject[0].lower != "there"
        or frame.form is not Form.PRESENT
        or not holds(frame.tokens, ("my", "our", "now"))
    ):
        return None
    plain = not holds(frame.tokens, EVALUATIVE) and len(words) <= _LONGEST_EXISTENCE
    return Judged("fact", claims=False, sure=plain) if concrete(frame.rest) >= 2 else None


def _of_speaker(said: Sequence[Token], frame: Frame, *, dated: bool, past: bool) -> Judged | None:
    verb, rest = frame.verb, [token for token in frame.rest if not token.is_mark]
    if holds(frame.subject, ("we",)) and verb in _MUTUAL_DEEDS:
        return None
    if frame.negated and (frame.form is Form.PAST or verb == "get") and not is_typed(frame.rest):
        return None
    if verb in _TASTES:
        return taste(frame, rest, dated=dated)
    if verb == "be" and not frame.passive:
        return being(frame, rest)
    if _is_intent(frame, rest):
        return _intent(frame, rest)
    if frame.form is Form.PRESENT and not frame.negated and holds(said, _OFTEN):
        return Judged("habit", sure=holds(said, _REGULAR) and verb not in LIGHT and verb not in MENTAL)
    if frame.form is Form.PROGRESSIVE:
        return _under_way(frame, dated=dated)
    if frame.form is Form.PRESENT and verb in ("have", "own", "keep") and _counts(rest):
        return Judged("count")
    happened = frame.form is Form.PAST and not past and (dated or verb not in _STATES)
    return EVENT if happened else FACT


def _is_intent(frame: Frame, rest: Sequence[Token]) -> bool:
    """Whether the verb wants, needs, promises, decides or can, and what follows says what."""
    verb, first = frame.verb, rest[0].lower if rest else ""
    if verb in _GOALS or verb in ("wanna", "need"):
        return True
    if first == "to":
        return verb in ("look", "have", "promise") or verb in _DECISIONS
    if verb == "look":
        return first in ("forward", "for")
    return (verb == "know" and first == "how") or (verb in _DECISIONS and first in ("on", "that", "a", "the"))


def _intent(frame: Frame, rest: Sequence[Token]) -> Judged | None:
    verb, told = frame.verb, concrete(rest)
    to = bool(rest) and rest[0].lower == "to"
    if verb == "plan" and frame.form is Form.PROGRESSIVE:
        return Judged("goal", IMPLIED, claims=False) if told >= 2 and holds(rest[:1], ("to", "on", "a", "my")) else None
    if verb in _GOALS:
        return wish(rest[1:]) if to and frame.form is not Form.PAST and not frame.negated else None
    if verb in _DECISIONS:
        return Judged("decision", claims=False) if told >= 2 else None
    match verb:
        case "wanna":
            return wish(rest)
        case "need":
            return FACT if rest and rest[0].kind is TokenKind.NUMBER else None
        case "promise":
            return Judged("commitment", claims=False, sure=told >= 1)
        case "know":
            return Judged("skill", claims=False, sure=told >= 1)
        case _:
            return None


def _under_way(frame: Frame, *, dated: bool) -> Judged | None:
    """What somebody is doing: a passing deed says nothing without a day."""
    if dated:
        return EVENT
    return None if frame.verb in _IDLE and frame.verb not in _LASTING else FACT


def _counts(rest: Sequence[Token]) -> bool:
    return bool(rest) and (rest[0].kind is TokenKind.NUMBER or rest[0].lower in NUMBER_WORDS - {"one", "half"})


def _of_other(frame: Frame, *, dated: bool) -> Judged | None:
    """What is said of a person or thing that is not the speaker."""
    owned = frame.kind is Subject.OWNED
    named = any(token.kind is TokenKind.NAME for token in frame.rest)
    if owned and named and frame.verb in ("be", "call", "name") and holds(frame.subject, KIN):
        return Judged("relationship")
    if frame.form is Form.PAST and dated:
        return EVENT
    if frame.subject[-1].lower in ("goal", "dream", "plan"):
        return Judged("goal") if owned and concrete(frame.rest) >= 1.5 and not is_lofty(frame.rest) else None
    return Judged("preference") if holds(frame.subject, ("favorite", "favourite")) else FACT
