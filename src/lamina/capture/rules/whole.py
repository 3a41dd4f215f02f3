"""Whether a clause says all that its verb and its quantities call for; half of a statement misleads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lamina.capture.rules.concrete import concrete, holds, is_typed
from lamina.capture.rules.occasions import is_event, is_untold_noun, one, person_word
from lamina.capture.rules.vague import EVALUATIVE, MENTAL, VAGUE
from lamina.text.closed import DETERMINERS, NUMBER_WORDS, PREPOSITIONS, word_set
from lamina.text.frames import Form, Frame, Subject
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import base_form, is_gerund

_QUANTITIES = word_set("some any several few many")
_JOINING = word_set("combine mix blend merge connect compare balance")
_HANDLING = word_set("use apply collect gather handle tackle implement adapt tweak practice practise prep")
_STANDING_FOR = word_set("go-to pick choice jam escape outlet weakness rock lifeline everything happy favorites")
_HABITS = word_set("usually often sometimes normally typically generally")
_COMPANIONS = word_set("with when while during after before every each whenever together for to")
_PLURAL_POINTERS = word_set("they them their theirs themselves")
_LASTING = word_set("""
    live work move own switch change start join become adopt marry quit replace sell use decide
    retire close open hire appoint cancel drop buy rename launch set book
""")
_SMALL_DEEDS = word_set("win meet add receive wear see watch find read hit score try visit eat drink enter do have")
_TAKING_IN = word_set("read watch play stream see finish enjoy")
_WORKS = word_set("book movie game film show series song novel story")
_PORTIONS = word_set("episode chapter page volume track video lesson level")
_PLACES = word_set("place spot")
_DETERMINED = DETERMINERS | NUMBER_WORDS
_TRIVIAL = word_set("wear whip chill relax nap stroll lounge cuddle lie")
_PLACEHOLDERS = word_set("project event activity thing task program platform company organization experience")
_ANYONE = word_set("dudes guys things stuff fellas ones")
_PARTING = word_set("return leave")
_PSYCHIC = word_set("mesmerize awe engross move touch inspire amaze impress surprise shock captivate overwhelm")


def is_whole(said: Sequence[Token], frame: Frame, *, dated: bool) -> bool:
    """Whether nothing is missing that the words themselves ask for; `dated` tells that a day is named."""
    rest = [token for token in frame.rest if not token.is_mark]
    if _counts_nothing(said) or _stands_for_nothing(frame, rest) or _is_halfway(rest) or _is_hollow(frame, rest):
        return False
    if frame.kind is not Subject.SPEAKER:
        return True
    return not (
        _lacks_aim(frame, rest)
        or (frame.negated and holds(said, ("recently", "lately")))
        or (not dated and _lacks_name(frame, rest))
        or _ends_open(said, dated=dated)
        or _lacks_point(frame, rest, dated=dated)
        or _lacks_custom(said, frame, rest)
        or _lacks_occasion(said, frame, rest, dated=dated)
        or _is_mixed_up(said, frame)
        or _names_a_stranger(frame, rest)
    )


def _counts_nothing(said: Sequence[Token]) -> bool:
    """ "Some for the stall", "a few in spring": a quantity whose noun is not there."""
    for token, nearest in pairwise(said):
        if token.lower in _QUANTITIES and nearest.lower in (PREPOSITIONS - {"of"}) | {"and", "but"}:
            return True
    for at, token in enumerate(said):
        after = said[at + 1] if at + 1 < len(said) else None
        numbered = at > 0 and said[at - 1].lower == "of" and token.kind is TokenKind.NUMBER
        if numbered and (after is None or after.is_mark or after.lower in PREPOSITIONS):
            return True
    return bool(said) and said[-1].lower in _QUANTITIES


def _stands_for_nothing(frame: Frame, rest: Sequence[Token]) -> bool:
    """ "My choice", "one of my favourites": of what, or when, is not said."""
    if frame.verb != "be" or not rest:
        return False
    if holds(frame.subject[:3], ("idea", "thing")) and frame.subject[0].lower == "one":
        return True
    at = next((step for step, token in enumerate(rest) if {token.lower, one(token.lower)} & _STANDING_FOR), None)
    if frame.subject[-1].lower in ("favorites", "favourites", "faves"):
        return True
    owned = at is not None and holds(rest[:at], ("my", "our"))
    if owned and at == len(rest) - 1:
        return True
    return holds(rest[:1], ("at", "on")) and rest[-1].lower == "list"


def _is_halfway(rest: Sequence[Token]) -> bool:
    words = [token.lower for token in rest[:4]]
    return words == ["in", "the", "middle", "of"]


def _is_hollow(frame: Frame, rest: Sequence[Token]) -> bool:
    """ "As soon as I begin ...", "Bruno has his cushion"."""
    if [token.lower for token in frame.lead[:2]] == ["as", "soon"]:
        return True
    if frame.verb == "be" and holds(rest[:1], ("like",)):
        return True
    if frame.kind is Subject.OWNED and frame.subject[-1].lower in _ANYONE:
        return True
    if frame.negated and frame.verb == "have" and holds(rest[:1], ("a", "an")) and is_untold_noun(rest[1:]):
        return True
    unknown = frame.form is Form.PRESENT and base_form(frame.verb) is None
    if unknown and frame.kind is Subject.SPEAKER and rest and is_gerund(rest[0].lower):
        return True
    return frame.verb == "have" and holds(rest[:1], ("his", "her", "its", "their")) and len(rest) <= 2


def _lacks_name(frame: Frame, rest: Sequence[Token]) -> bool:
    """ "I'm reading a book I enjoy", "I went to a place in Lund": which one is the very thing to tell."""
    if not holds(rest[:1], ("a", "an", "another", "one")) and not holds(rest[1:2], ("a", "an")):
        return False
    nouns = {one(token.lower) for token in rest[:4]}
    if frame.verb in ("go", "visit", "see", "find"):
        return bool(nouns & _PLACES)
    return frame.verb in _TAKING_IN and bool(nouns & _WORKS) and not is_typed(rest)


def _ends_open(said: Sequence[Token], *, dated: bool) -> bool:
    """Whether it ends in a word for anything or compares with all that was: "on a project", "more than ever"."""
    words = [token.lower for token in said if not token.is_mark]
    if words[-4:] == ["a", "lot", "of", "them"] or ("some", "more") in pairwise(words):
        return True
    if any(verb in _PARTING and then == "on" for verb, then in pairwise(words)) and "from" not in words:
        return True
    if words[-2:] == ["so", "far"] and not is_typed(said):
        return True
    if words[-2:] == ["than", "ever"] or (not dated and not is_typed(said) and _passes_time(words)):
        return True
    if len(words) > 3 and words[-2] == "and" and words[-1] in VAGUE and words[-3] in VAGUE and not dated:
        return True
    led = words[-3:-1] if words[-2:-1] in (["new"], ["big"], ["great"]) else words[-2:-1]
    return words[-1] in _PLACEHOLDERS and led[:1] in (["a"], ["an"], ["another"], ["one"])


def _passes_time(words: Sequence[str]) -> bool:
    return "time" in words and any(word in ("spend", "spending", "spent") for word in words)


def _lacks_point(frame: Frame, rest: Sequence[Token], *, dated: bool) -> bool:
    """Whether one only has had something good or bad, or something like games and outings."""
    if frame.verb not in ("have", "get") or dated or is_typed(rest) or not rest:
        return False
    if holds(rest[:4], EVALUATIVE) or holds(rest[:4], ("experience", "experiences", "idea", "feeling", "hunch")):
        return True
    if frame.form is not Form.PRESENT and holds(rest[:1], ("a", "an")) and holds(rest[1:2], VAGUE):
        return True
    return frame.form is Form.PRESENT and rest[0].lower not in _DETERMINED and is_event(rest[:2])


def _lacks_aim(frame: Frame, rest: Sequence[Token]) -> bool:
    """Whether a deed on something is told without what it is for, with whom or into what."""
    aimed = holds(rest, PREPOSITIONS - {"of", "up"}) or is_typed(rest)
    if frame.verb == "experiment" and holds(rest, ("different", "new")) and not is_typed(rest):
        return concrete(rest) < 2
    if _counts_parts(rest):
        return True
    if frame.verb in _JOINING:
        return not aimed and holds(rest, ("and",))
    if frame.verb in _HANDLING and frame.form not in (Form.PRESENT, Form.PERFECT):
        return not aimed
    if frame.verb in ("practice", "practise") and holds(rest[:1], ("and", "every", "daily", "a")):
        return True
    vague_work = frame.verb == "work" and holds(rest[:1], ("on",)) and len(rest) > 1 and is_gerund(rest[1].lower)
    return vague_work and not is_typed(rest) and not holds(rest[2:], ("for", "in", "with", "at"))


def _counts_parts(rest: Sequence[Token]) -> bool:
    """ "15 episodes": parts of a whole that is not named."""
    at = next((step for step, token in enumerate(rest) if one(token.lower) in _PORTIONS), None)
    counted = at is not None and any(token.kind is TokenKind.NUMBER for token in rest[max(0, at - 2) : at])
    named = any(token.kind is TokenKind.NAME for token in rest)
    return counted and not named and not holds(rest, ("of", "in", "from", "a", "per", "every"))


def _lacks_custom(said: Sequence[Token], frame: Frame, rest: Sequence[Token]) -> bool:
    """Whether it is done usually or often, and neither when nor with whom nor what in particular."""
    if not holds(said, _HABITS) or frame.lead or is_typed(rest):
        return False
    return concrete(rest) < 3 and not holds(rest, _COMPANIONS)


def _lacks_occasion(said: Sequence[Token], frame: Frame, rest: Sequence[Token], *, dated: bool) -> bool:
    """Whether it only adds to an occasion told before: what "we" did, or one small deed, without day or name."""
    if frame.form is not Form.PAST or dated or holds(said, ("recently",)):
        return False
    if frame.verb == "be" and not frame.passive and (not is_typed(rest) or holds(rest[:1], ("in", "at", "on"))):
        return not frame.lead
    joint = frame.subject[-1].lower == "we" and len(frame.subject) == 1
    if joint and frame.verb in _SMALL_DEEDS | {"play"} and not holds(rest[1:], ("with", "for", "to", "in", "at")):
        return True
    if frame.verb == "learn" and holds(rest[:2], ("lot",)) and not is_typed(rest):
        return True
    if frame.verb in _TRIVIAL or (frame.verb == "take" and holds(rest, ("walk",))):
        return True
    if is_typed(rest) or frame.verb in _LASTING:
        return False
    if frame.verb == "add" and not holds(rest, ("to",)):
        return True
    if frame.passive and frame.verb in MENTAL | _PSYCHIC:
        return True
    if joint and not (holds(rest[1:], ("with", "for", "to")) and concrete(rest) >= 2):
        return True
    return frame.verb in _SMALL_DEEDS and concrete(rest) < 2


def _is_mixed_up(said: Sequence[Token], frame: Frame) -> bool:
    """Whether "they" of others would read as the speaker, who is they as well once the sentence is told anew."""
    others = [at for at, token in enumerate(said) if token.lower in _PLURAL_POINTERS]
    if not others:
        return False
    start = frame.subject[-1].start
    own = any(token.lower in ("my", "our", "me", "us", "i", "we", "myself") for token in said if token.start > start)
    between = [token for token in said[: others[0]] if token.start > start]
    if own and any(said[at].lower != "them" for at in others):
        return True
    return not any(person_word(token.lower) or _is_plural(token) for token in between)


def _is_plural(token: Token) -> bool:
    word = token.lower
    return token.kind is TokenKind.WORD and len(word) > 3 and word.endswith("s") and not word.endswith("ss")


def _names_a_stranger(frame: Frame, rest: Sequence[Token]) -> bool:
    """ "I love Pilot": a single name, and nothing says who or what bears it."""
    fond = frame.verb in ("love", "like", "adore", "miss")
    return fond and len(rest) == 1 and rest[0].kind is TokenKind.NAME and rest[0].text.istitle()
