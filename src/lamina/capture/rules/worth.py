"""Whether a statement is worth keeping: concrete and particular, not small talk, praise or a passing feeling."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.capture.rules.alone import Days
from lamina.capture.rules.concrete import concrete, holds, is_typed, praises, weight
from lamina.capture.rules.vague import EMPTY, EVALUATIVE, IMPRESSIONS, LIGHT, MENTAL, NEUTRAL, VAGUE
from lamina.text.closed import ADVERBS, AUXILIARIES, DETERMINERS, NUMBER_WORDS, PREPOSITIONS, word_set
from lamina.text.frames import Form, Frame, Subject
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import KNOWN, base_form, is_participle, is_past

_ENOUGH_ALONE = word_set("marry graduate move retire divorce quit swim run")
_TASTES = word_set("love like enjoy adore hate dislike prefer")
_HOURS = word_set("night morning mornings evening evenings")
_ASKING = word_set("that how what why if whether")
_CHANGED = word_set("up married engaged divorced promoted hired fired")
_ONGOING = word_set("learn study train live work")
_DAILY = word_set("work school home college church night")
_SETTLED = word_set("married retired engaged divorced widowed based interested")
_AIMS = word_set("aim goal dream plan favorite favourite idea")
_CLEFT = word_set("where what who how when")
_BEST = word_set("important best coolest biggest hardest greatest")
_NO_SUBJECTS = word_set("""
    something everything nothing anything mine someone everyone somebody everybody nobody what whatever all most
    many some much more
""")
_NO_NOUNS = word_set("n't to how what here there being")
_ABSTRACT = ("ness", "ity", "tion", "ment", "ing", "ism", "ship", "ance", "ence", "ion")
_GOOD_TIMES = word_set("time fun blast times")
_LONGEST_THING = 18


def is_worth(frame: Frame, days: Days) -> bool:
    """Whether what a clause says is particular enough to be remembered; `days` are where it names days."""
    rest = [token for token in frame.rest if not token.is_mark and not _in(token, days)]
    told = concrete(rest) + concrete(frame.lead) * 0.5 + bool(days)
    if _is_cleft(frame, rest):
        return _cleft_worth(frame, rest)
    match frame.kind:
        case Subject.SPEAKER:
            return _has_substance(frame, rest, days) and _speaker_worth(frame, rest, told, bool(days))
        case Subject.OWNED:
            return _has_substance(frame, rest, days) and _owned_worth(frame, rest, told)
        case Subject.NAMED:
            known = told >= 1 or frame.verb == "live"
            tended = _tends(frame, rest)
            mused = (frame.verb in IMPRESSIONS and not tended) or (
                frame.verb in MENTAL and not is_typed(rest) and not tended
            )
            return known and not mused and not holds(rest, EVALUATIVE)
        case Subject.PRONOUN:
            return False
        case _:
            if days and frame.form in (Form.FUTURE, Form.PROGRESSIVE) and _is_noun(frame.subject):
                return frame.subject[-1].lower not in VAGUE and not holds(rest, EVALUATIVE)
            happened = bool(days) and frame.form is Form.PAST and frame.verb not in ("be", "have", "go", "take")
            if happened and frame.kind is Subject.DEFINITE and frame.subject[-1].lower not in VAGUE:
                return _is_noun(frame.subject) and not holds(rest, EVALUATIVE) and frame.verb not in IMPRESSIONS
            return _thing_worth(frame, rest, told)


def _tends(frame: Frame, rest: Sequence[Token]) -> bool:
    """ "Baz looks after the sound desk"."""
    return frame.verb == "look" and holds(rest[:1], ("after",))


def _in(token: Token, days: Days) -> bool:
    return any(start <= token.start < end for start, end in days)


def _has_substance(frame: Frame, rest: Sequence[Token], days: Days) -> bool:
    """Whether something is told beside the day it happened on."""
    bare = bool(days) and frame.form is not Form.PRESENT and concrete(rest) < 1
    return not bare or frame.verb in _ENOUGH_ALONE


def _is_cleft(frame: Frame, rest: Sequence[Token]) -> bool:
    """ "Oslo is where I live"."""
    copula = frame.verb == "be" and frame.form is Form.PRESENT and frame.kind is not Subject.PRONOUN
    return copula and len(rest) > 2 and rest[0].lower in _CLEFT and rest[1].lower in ("i", "we")


def _cleft_worth(frame: Frame, rest: Sequence[Token]) -> bool:
    felt = rest[-1].lower in EVALUATIVE or rest[2].lower in ("love", "need", "want", "mean", "feel")
    return not felt and concrete(frame.subject) >= 1 and not frame.subject[0].lower.endswith("ing")


def _speaker_worth(frame: Frame, rest: Sequence[Token], told: float, dated: bool) -> bool:
    verb = frame.verb
    first = rest[0].lower if rest else ""
    if frame.form is Form.MODAL:
        return told >= 1
    if first in _ASKING or (verb in MENTAL and not _is_deed(verb, rest, told, dated)):
        return False
    if verb == "be" and not frame.passive and frame.form not in (Form.PROGRESSIVE, Form.BEEN_DOING):
        return _being_worth(rest, told, frame)
    if verb in ("have", "get", "make", "take", "do") and _is_empty(rest):
        return False
    if verb in _TASTES:
        return told >= 1 or holds(rest, _HOURS)
    if _is_idle(frame, rest, told, dated):
        return False
    if frame.form in (Form.PAST, Form.PERFECT, Form.PROGRESSIVE, Form.BEEN_DOING):
        return told >= 2 or (told >= 1 and _is_simple(rest))
    if told < 1 and verb not in LIGHT and not frame.negated and first in ("to", "at", "on", "by") and len(rest) <= 3:
        return rest[-1].lower in _DAILY
    return told >= 1.5 or (told >= 1 and _is_simple(rest))


def _is_deed(verb: str, rest: Sequence[Token], told: float, dated: bool) -> bool:
    """Whether a verb of the mind is used of a thing: to keep a key somewhere, to keep kosher."""
    first = rest[0].lower if rest else ""
    if verb in ("keep", "find", "share", "call") and first in ("my", "our", "a", "an", "the"):
        return not dated
    return verb == "keep" and len(rest) == 1 and told >= 1 and not first.endswith("ing")


def _is_idle(frame: Frame, rest: Sequence[Token], told: float, dated: bool) -> bool:
    """Whether a deed says too little: one more game, a great time, getting better."""
    verb, first = frame.verb, rest[0].lower if rest else ""
    if told < 3 and holds(rest, EVALUATIVE) and ((not dated and holds(rest, VAGUE)) or holds(rest, _GOOD_TIMES)):
        return True
    if (first == "one" and (len(rest) <= 2 or rest[1].lower == "more")) or (verb == "get" and first == "to"):
        return True
    if verb in LIGHT and (
        first in EVALUATIVE or (frame.form is Form.PAST and concrete(rest) < 2 and first not in _CHANGED)
    ):
        return True
    passing = frame.form is Form.PROGRESSIVE and not dated and verb not in _ONGOING
    return passing and told < 2 and first not in ("in", "at", "for", "as", "with")


def _is_simple(rest: Sequence[Token]) -> bool:
    return len(rest) <= 7 and not holds(rest, EVALUATIVE) and not holds(rest, VAGUE)


def _is_empty(rest: Sequence[Token]) -> bool:
    """A great time, so much fun, a lot of hope: an object that is only a feeling."""
    for token in rest[:6]:
        if token.lower in EMPTY:
            return True
        if token.is_typed or (token.kind is TokenKind.WORD and weight(token) >= 1):
            return False
    return True


def _being_worth(rest: Sequence[Token], told: float, frame: Frame) -> bool:
    """What a speaker is: a thing, a place, a trait; not a mood."""
    skipped = ADVERBS | {"a", "an", "the", "so", "very", "more"}
    head = next((token.lower for token in rest if token.lower not in skipped), None)
    if head is None or head in EVALUATIVE:
        return False
    while len(rest) > 1 and rest[0].lower in ("still", "just", "now", "currently"):
        rest = rest[1:]
    if rest[0].lower in ("a", "an"):
        felt = holds(rest[:3], ("bit", "little", "lot")) or (holds(rest[1:5], EVALUATIVE) and told < 3)
        return told >= 1 and not felt
    if holds(rest[:3], EVALUATIVE):
        return False
    if rest[0].lower in PREPOSITIONS:
        return (told >= 1 and frame.form is not Form.PAST) or told >= 2
    if head.endswith(("ed", "ing")) and "-" not in head and head not in _SETTLED:
        return told >= 2
    return told >= 1 and (frame.form is not Form.PAST or told >= 2)


def _owned_worth(frame: Frame, rest: Sequence[Token], told: float) -> bool:
    """What is said of somebody's own: their dog, their shift, their sister."""
    if frame.verb in MENTAL and not is_typed(rest):
        return False
    if not _is_noun(frame.subject) or frame.subject[0].lower.endswith("ing") or frame.subject[0].lower == "all":
        return False
    if frame.form is Form.PAST and frame.verb == "be" and frame.subject[-1].lower in _AIMS:
        return False
    if praises(rest) or (frame.verb in IMPRESSIONS and not any(token.kind is TokenKind.NUMBER for token in rest)):
        return frame.verb in ("love", "give", "make") and told >= 2 and not holds(rest, EVALUATIVE)
    if frame.verb == "be" and holds(rest, EVALUATIVE) and not is_typed(rest):
        return False
    return told >= 1


def _thing_worth(frame: Frame, rest: Sequence[Token], told: float) -> bool:
    """Things that are not said to be anybody's: only plain, short and typed or a present state."""
    if any(token.is_typed and token.kind not in (TokenKind.NAME, TokenKind.NUMBER) for token in rest):
        return _is_noun(frame.subject)
    if holds(rest, EVALUATIVE) or holds(rest, ("so", "very", "too")) or len(frame.tokens) > _LONGEST_THING:
        return False
    if _is_state(frame, rest) or (holds(rest[:1], ("mine", "ours")) and is_typed(frame.subject)):
        return True
    if told < 1 or not _is_noun(frame.subject) or frame.subject[0].lower in _NO_SUBJECTS or _is_fragment(frame, rest):
        return False
    if is_typed((*rest, *frame.subject)):
        having = frame.verb in ("have", "get") and not is_typed(rest)
        return (frame.passive or frame.verb not in IMPRESSIONS) and not having
    if frame.verb == "take" and holds(rest[:2], NUMBER_WORDS):
        return True
    return frame.subject[-1].lower not in VAGUE and _untyped_worth(frame, rest)


def _is_state(frame: Frame, rest: Sequence[Token]) -> bool:
    """ "The audit is on hold", "the printer is broken"."""
    if frame.kind is not Subject.DEFINITE:
        return False
    lasting = frame.form is Form.PRESENT or holds(frame.helpers, ("has", "have"))
    if not lasting or (frame.form is not Form.PRESENT and not frame.passive):
        return False
    if frame.passive and not rest:
        return frame.verb not in MENTAL and frame.verb not in IMPRESSIONS and _is_noun(frame.subject)
    placed = 0 < len(rest) <= 4 and rest[0].lower in PREPOSITIONS - {"to", "like"}
    return frame.verb == "be" and placed and _is_noun(frame.subject)


def _is_fragment(frame: Frame, rest: Sequence[Token]) -> bool:
    """A noun with its participle, or a gerund, that only looks like a subject with its verb."""
    first = frame.subject[0].lower
    if first in KNOWN and frame.verb not in KNOWN and not frame.helpers:
        return True
    if first in ("a", "an", "some") and not frame.helpers:
        return is_participle(frame.tokens[frame.verb_at].lower)
    named = frame.helpers and any(token.kind is TokenKind.NAME for token in rest)
    return frame.kind is Subject.BARE and first.endswith("ing") and not (frame.passive or named)


def _untyped_worth(frame: Frame, rest: Sequence[Token]) -> bool:
    copula = frame.verb == "be" and not frame.passive
    placed = bool(rest) and rest[0].lower in PREPOSITIONS - {"like"}
    if (
        frame.kind is Subject.BARE
        and frame.verb == "be"
        and frame.form is Form.PRESENT
        and len(frame.subject) == 1
        and rest
    ):
        return placed or _holds_post(frame.subject[0], rest)
    if frame.form not in (Form.PRESENT, Form.PERFECT) and not frame.passive:
        return False
    if copula and frame.kind is Subject.BARE:
        return placed
    if copula and rest and not placed and frame.kind is Subject.DEFINITE:
        return frame.form is Form.PRESENT and len(rest) <= 4 and not frame.subject[-1].lower.endswith("s")
    weak = (frame.verb in IMPRESSIONS and not frame.passive and not _tends(frame, rest)) or frame.verb in (
        "have",
        "get",
        "become",
        "take",
    )
    return len(rest) <= 8 and not weak and not holds(rest, ("me", "us"))


def _holds_post(subject: Token, rest: Sequence[Token]) -> bool:
    """Whether one word with a capital is said to hold a post: "Maud is head baker at our place"."""
    if not subject.text[0].isupper() or subject.lower.endswith(_ABSTRACT) or weight(subject) < 1:
        return False
    return holds(rest, ("my", "our")) or rest[0].lower in ("the", "head", "chief", "captain")


def _is_noun(subject: Sequence[Token]) -> bool:
    """Whether words can be a subject at all: no lone adjective, no verb with its object."""
    first = subject[0]
    if first.kind is TokenKind.NAME:
        return True
    if len(subject) == 1 and "-" in first.text and not first.lower.endswith(("ing", "er", "up", "in", "off", "out")):
        return False
    if (first.lower not in ("my", "our") and holds(subject, _BEST)) or holds(subject, _NO_NOUNS):
        return False
    if first.lower in EVALUATIVE or (first.lower in NEUTRAL and len(subject) == 1):
        return False
    if first.lower in AUXILIARIES or holds(subject, ("do",)):
        return False
    verbal = base_form(first.lower) == first.lower or is_past(first.lower)
    second = subject[1].lower if len(subject) > 1 else ""
    object_like = second in DETERMINERS or second in PREPOSITIONS or second in NEUTRAL or second.endswith("ing")
    return not (verbal and second and object_like)
