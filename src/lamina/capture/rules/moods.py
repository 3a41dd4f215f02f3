"""Clauses that tell what can, would or will be: a skill, a wish, a promise, where they say of what; else nothing."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.capture.rules.concrete import concrete, holds, is_typed
from lamina.capture.rules.judged import EXPLICIT, FACT, IMPLIED, Judged
from lamina.capture.rules.vague import EVALUATIVE, VAGUE
from lamina.text.closed import word_set
from lamina.text.frames import Form, Frame, Subject
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import base_form

_SKILLS = word_set("""
    speak play cook swim drive code ride knit sew ski dance sing paint draw bake write type program juggle surf sail
    read
""")
_REFUSED = word_set("eat drink have stand use")
_ASKED = word_set("know ask hear discuss understand add confirm clarify say thank explore mention focus make")
_VAGUE_DEEDS = word_set("see be have help share keep get check try join talk chat show do give find let lend")
_POLITE_DEEDS = word_set("let see check try remember think hope be look reach give start consider explore")
_BETWEEN = word_set("not n't also never")
_LOFTY = VAGUE | EVALUATIVE | {"positive"}
_WISH = Judged("goal", IMPLIED, claims=False)


def of_modal(frame: Frame) -> Judged | None:
    """Can, would, must."""
    helper = next((token.lower for token in frame.helpers if token.lower not in _BETWEEN), "")
    rest = [token for token in frame.rest if not token.is_mark]
    if frame.kind is not Subject.SPEAKER:
        if helper == "can" and any(token.kind in (TokenKind.EMAIL, TokenKind.PHONE) for token in rest):
            return FACT
        binding = helper in ("must", "should") and not frame.negated and frame.kind is Subject.DEFINITE
        return Judged("rule") if binding and concrete(rest) >= 2 else None
    if helper in ("can", "ca") and concrete(rest) >= 1:
        if frame.negated and (frame.verb in _REFUSED or frame.verb in _SKILLS):
            return Judged("constraint", claims=False)
        return Judged("skill") if frame.verb in _SKILLS else None
    if helper not in ("'d", "would"):
        return None
    if holds(frame.helpers, ("rather",)):
        return Judged("fact", claims=False, sure=0 < len(rest) <= 8)
    return wish(rest[1:]) if frame.verb in ("love", "like") and rest and rest[0].lower == "to" else None


def wish(deed: Sequence[Token]) -> Judged | None:
    """A wish that says what is wished for: a deed with a thing, not a state of mind or a word of talk."""
    verb = deed[0].lower if deed else ""
    told = concrete(deed[1:])
    if verb in _ASKED or is_lofty(deed):
        return None
    if verb in _VAGUE_DEEDS:
        return _WISH if told >= 3 or is_typed(deed) else None
    return _WISH if told >= 1 else None


def is_lofty(deed: Sequence[Token]) -> bool:
    """Whether it is all aspiration: "to make a positive difference in people's lives"."""
    loose = sum(token.lower in _LOFTY for token in deed)
    return loose >= 2 and not is_typed(deed)


def is_ahead(frame: Frame) -> bool:
    """Whether a clause tells what is to come."""
    if frame.form is Form.FUTURE:
        return True
    words = [token.lower for token in frame.rest[:2]]
    going = frame.form is Form.PROGRESSIVE and frame.verb == "go" and len(words) == 2
    return going and words[0] == "to" and base_form(words[1]) == words[1]


def of_ahead(frame: Frame, *, dated: bool) -> Judged | None:
    """What will be: kept where a day or a name pins it down."""
    own = frame.kind is Subject.SPEAKER
    deed = frame.rest[1].lower if frame.verb == "go" and len(frame.rest) > 1 else frame.verb
    if frame.negated or (own and not dated and deed in _POLITE_DEEDS):
        return None
    if not (dated or is_typed(frame.rest)) or concrete(frame.rest) < 1:
        return None
    return Judged("commitment" if own else "event", EXPLICIT if dated else IMPLIED, claims=dated)
