"""Things that only the talk before tells apart: "the trip" or "their routine", where nothing says which one."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.capture.rules.vague import EVALUATIVE, NEUTRAL
from lamina.text.closed import FUNCTION_WORDS, PEOPLE, PETS, word_set
from lamina.text.frames import Form, Frame, Subject
from lamina.text.tokens import Token, TokenKind
from lamina.text.verbs import is_past

_PASSING = word_set("""
    trip hike walk ride tour tournament tourney competition contest race match game event show party meeting gathering
    celebration ceremony wedding festival concert gig performance conference convention workshop seminar lecture
    parade fair fundraiser auction drive campaign retreat vacation visit outing picnic reunion playdate
    feast dinner lunch meal interview appointment exam test session practice rehearsal shot goal score result award
    prize trophy shoot stream season final round level challenge task exercise experience incident accident fire
    flood storm injury surgery marathon triathlon move
""")
_PLANS = word_set("""
    routine strategy list schedule plan plot recipe technique method approach step idea topic theme concept rule tip
    advice suggestion feedback decision reason problem issue bug hurdle error question answer story tale note sketch
    drawing draft photo picture pic video message letter email article post info information detail review result
    process progress research paperwork industry feature update deal offer opportunity chance
""")
_WORKS = word_set("""
    book novel series movie film song album track poem script screenplay painting piece project assignment course
    class lesson program programme app site website tool system group team club band crew cast audience crowd league
    place spot character quest castle view scenery road trail dish dessert cake flavor flavour
""")
_ANYWHERE = word_set("road trail view scenery team group class")
_UNTOLD = _PASSING | _PLANS | _WORKS
_OWN = (_PASSING | _PLANS) - word_set("season injury surgery wedding letter email video progress research")
EVENTS = (_PASSING - {"drive", "shot", "goal"}) | word_set("""
    class course lesson call deadline date night day weekend chat talk session get-together
""")
"""Nouns of what one has without owning it."""

_TELLING = word_set("of for about from with against between where that which who called named by titled on")
_PLACING = word_set("in at to during after before")
_ORDERING = word_set("need book order buy reserve hire rent")
_COUNTED = word_set("two three four five six")
_PORTIONS = word_set("aspect part side portion section option")
_TO_DO = word_set("chance opportunity decision plan idea goal offer")
_KINDS = NEUTRAL | EVALUATIVE | word_set("road whole final last next first second other main entire game big actual")
_MASSES = word_set("some several few lots many")
_AGENTS = word_set("me us")
_TRAILING = 5


def untold(said: Sequence[Token], frame: Frame) -> bool:
    """Whether a clause rests on an occasion, plan or work that is named as known and told nowhere in it."""
    if frame.kind is Subject.SPEAKER or frame.subject[0].lower == "me":
        ordered = frame.verb in _ORDERING
        return any(_is_bare(said, at, ordered=ordered) for at in range(len(said))) or _is_some(frame.rest)
    told = frame.form is Form.PAST or any(token.lower in _AGENTS for token in frame.rest)
    typed = any(token.kind in (TokenKind.TIME, TokenKind.DATE, TokenKind.MONEY) for token in frame.rest)
    if not told or typed or (frame.passive and frame.verb not in ("call", "name")):
        return False
    first = next(at for at, token in enumerate(said) if token.start == frame.subject[0].start)
    return frame.subject[0].lower in ("the", "my", "our") and _is_bare(said, first) and len(frame.subject) <= 2


def is_untold_noun(noun: Sequence[Token]) -> bool:
    """Whether a noun by itself leaves open of what or for what it is: "recipe"."""
    return len(noun) == 1 and one(noun[0].lower) in _PLANS


def has_bare(said: Sequence[Token]) -> bool:
    """Whether words name as known what they tell nowhere."""
    return any(_is_bare(said, at) for at in range(len(said)))


def one(word: str) -> str:
    """A noun in the singular, as its ending tells."""
    if word.endswith("ies") and len(word) > 4 and word not in ("series", "movies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "series")) else word


def is_event(noun: Sequence[Token]) -> bool:
    """Whether a noun phrase names something that takes place and cannot be owned."""
    end = next((at for at, token in enumerate(noun) if at and token.lower in FUNCTION_WORDS), len(noun))
    return any(one(token.lower) in EVENTS for token in noun[:end])


def person_word(word: str) -> bool:
    """Whether a word stands for people or animals."""
    return word in _FOLK or one(word) in PEOPLE or one(word) in PETS or one(word) in _FOLK


def is_people(word: str) -> bool:
    """Whether a word stands for several people."""
    return word in _MANY or (word.endswith("s") and person_word(word))


_MANY = word_set("people folks others guys children women men everyone youth")
_FOLK = _MANY | word_set("""
    fan player student owner kid neighbor neighbour member volunteer guest visitor customer
    friend stranger teen veteran family child woman man girl boy somebody someone
    pup pooch resident crowd audience viewer reader follower
""")


def _is_bare(said: Sequence[Token], at: int, *, ordered: bool = False) -> bool:
    owner = said[at].lower
    if said[at].kind is not TokenKind.WORD or owner not in ("the", "my", "our", "this"):
        return False
    noun = _noun(said, at + 1)
    if not noun or any(token.is_typed for token in noun):
        return False
    head = one(noun[-1].lower)
    if owner == "the" and (noun[0].lower in _COUNTED or head in _PORTIONS):
        return not _is_told(said, at + 1 + len(noun), head)
    if head not in (_UNTOLD if owner in ("the", "this") else _OWN):
        return False
    if owner in ("my", "our") and len(noun) > 1:
        return False
    if ordered and at and said[at - 1].lower == "for" and any(token.is_typed for token in said[:at]):
        return False
    plain = all(token.lower in _KINDS or "-" in token.text for token in noun[:-1])
    return plain and not _is_told(said, at + 1 + len(noun), head)


def _noun(said: Sequence[Token], start: int) -> list[Token]:
    """The words of a noun phrase from its first word after the determiner."""
    noun: list[Token] = []
    for token in said[start : start + _TRAILING]:
        if token.is_mark or token.lower in FUNCTION_WORDS - {"other", "first"} or token.lower == "to":
            break
        noun.append(token)
        if one(token.lower) in _UNTOLD and not _goes_on(said, start + len(noun)):
            break
    return noun


def _goes_on(said: Sequence[Token], at: int) -> bool:
    """Whether another noun follows, so that this one only says of what kind it is: "the game night"."""
    if at >= len(said) or said[at].is_mark or said[at].lower in FUNCTION_WORDS:
        return False
    word = said[at].lower
    return said[at].kind is TokenKind.NAME or not (is_past(word) or word.endswith(("ing", "ly")))


def _is_told(said: Sequence[Token], at: int, head: str) -> bool:
    """Whether what follows says which one it is."""
    after = said[at].lower if at < len(said) else ""
    if after in ("i", "we") or (at < len(said) and said[at].kind is TokenKind.NAME):
        return True
    if after == "to" and head in _TO_DO:
        return True
    if after in _TELLING:
        return not (head in _ANYWHERE and after in ("for", "on", "with"))
    return after in _PLACING and any(token.is_typed for token in said[at + 1 : at + 4])


def _is_some(rest: Sequence[Token]) -> bool:
    """Whether what is done is to some of a plan or note, and of what is not said: "some drafts and letters"."""
    words = [token for token in rest if not token.is_mark]
    if words and words[0].lower == "a":
        words = words[1:]
    if not words or words[0].lower not in _MASSES:
        return False
    nouns = [token for token in words[1:] if token.lower not in ("of", "and", "more", "new")]
    return (
        bool(nouns)
        and one(nouns[0].lower) in _PLANS
        and not any(token.lower in _TELLING or token.lower == "to" or token.is_typed for token in nouns)
    )
