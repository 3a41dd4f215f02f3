"""Which earlier sentences a new one overtakes, and how surely: a decision list over what both say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Generic, TypeVar

from lamina.capture.change.items import CONTACT, ME, Item, root_of
from lamina.capture.change.meaning import Sense, best_filling
from lamina.capture.change.slots import TOWARDS, Difference, differ, may_be_more, may_be_one_of
from lamina.capture.change.told import Cue, Part, Told
from lamina.text.closed import AUXILIARIES, BE, DETERMINERS, PREPOSITIONS, word_set
from lamina.text.tokens import TokenKind
from lamina.text.verbs import looks_finite

P = TypeVar("P")


class Kind(StrEnum):
    """What became of the earlier sentence: it held until now, it was wrong, or what it tells of was given up."""

    CHANGED = "changed"
    CORRECTED = "corrected"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class Earlier(Generic[P]):
    """A sentence said before, where it stands, and whether it belongs to the same session."""

    told: Told
    place: P
    near: bool = False


@dataclass(frozen=True, slots=True)
class Link(Generic[P]):
    """A new sentence overtakes an earlier one. Only a sure link may withhold what was said."""

    place: P
    kind: Kind
    sure: bool
    old_value: tuple[str, ...]
    new_value: tuple[str, ...]
    old_text: str
    same_shape: bool = True
    pinned: bool = False
    exact: bool = False
    strict: float = 0.0
    told: bool = False
    way: str = ""

    @property
    def is_correction(self) -> bool:
        return self.kind is Kind.CORRECTED

    @property
    def is_another_value(self) -> bool:
        """Whether nothing but another value in the same place tells of the change."""
        return self.way in ("differs", "same opening") and not self.told


@dataclass(frozen=True, slots=True)
class _Found(Generic[P]):
    """A link with what it is worth beside others; `pinned`: names or numbers hold it, so that even a doubt is told."""

    link: Link[P]
    worth: float
    pinned: bool


SURE, DOUBT = 0.5, -0.5
"""The log odds from which what is meant withholds what was said, and from which it only casts a doubt on it."""
_BESIDE_THE_BEST = 0.6
_SHARED_ANYHOW = 2
"""Words that two sentences share, however little each of them tells."""
_OPENING_WORDS, _TAIL_WORDS = 3, 6
_CALLING = frozenset({"called", "named"})
_LONGEST_SURE = 28
_SHORT_OLD, _SHORT_NEW = 13, 16
_LONGEST_NEW = 22
_LONG_COVERAGE, _LONG_EXTRA, _CORRECTED = 0.75, 4, 0.4
_MOST_ITEMS_SURE = 14
_PLAIN_WORDS = 20
_FEELING = re.compile(
    r"\b(?:i think|i guess|excit\w+|awesome|amazing|great|glad|thank(?:s|ful)?(?! to)|sounds?|gonna|wanna|gotta|hope|"
    r"by the way|feel\w*|felt|can't wait|thinking|considering|interested|so (?:much|good|happy)|agree\w*|proud|"
    r"passion\w*|check out|wish|super|special|blast|fun|cool|lovely|luck|incredible|inspir\w+|appreciate|dream\w*|"
    r"worth|love(?:ly|d)?|beautiful|nice|perfect|cute|wow|aww|yum|yep|yeah|sorry|tough|keen|huge|stuff|a lot|"
    r"happen\w*|important|interesting)\b",
    re.IGNORECASE,
)
_REPLACING = re.compile(
    r"\b(?:instead|replac\w+|swapp\w+|traded|sold|no longer|any ?more|switched|got rid of|gave up|ditched|dropped)\b",
    re.IGNORECASE,
)
_TRANSITIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:switch|chang|mov|migrat|convert|shift|transfer|rais|increas|dropp|lower|bump|upgrad|downgrad|renam|"
        r"extend|"
        r"postpon|reschedul|cut|went|gone|go|grew|grown|reassign|push|brought|bring|reduc|relocat|hand|"
        r"pass)\w*\b[^.!?]{0,60}?"
        r"\bfrom (?P<a>[^,;.!?]{2,60}?) (?:over )?to (?P<b>[^,;.!?]{2,60})",
        r"\breplac(?:ed|es|ing) (?P<a>[^,;.!?]{2,60}?) (?:with|by) (?P<b>[^,;.!?]{2,60})",
        r"\b(?:swapp|trad|exchang|chang)(?:ed|ing) (?P<a>[^,;.!?]{2,60}?) for (?P<b>[^,;.!?]{2,60})",
        r"(?P<b>[^,;.!?]{2,60}?),? (?:instead of|rather than|in place of|took over from|takes over from|"
        r"succeed(?:s|ed)|"
        r"replac(?:ed|es)) (?P<a>[^,;.!?]{2,60})",
        r"\b(?:left|leaving|leave|ditched|dumped|dropped|swap|traded) (?P<a>[^,;.!?]{2,40}?) for (?P<b>[^,;.!?]{2,60})",
        r"\bout of (?P<a>[^,;.!?]{2,60}?),? and (?:[^,;.!?]{1,40}? )?(?:in|into|to|with|at) (?P<b>[^,;.!?]{2,60})",
        r"\bnot (?P<a>[^,;.!?]{2,40}?),? but (?P<b>[^,;.!?]{2,60})",
        r"(?P<b>[^,;.!?]{2,60}?), (?:and )?not (?P<a>[^,;.!?]{2,40})",
        r"\b(?P<a>[^,;.!?]{2,60}?) (?:handed|passed|gave) (?:\w+ ){0,4}?(?:over |on )?to (?P<b>[^,;.!?]{2,60})",
        r"\b(?P<a>[^,;.!?]{2,40}?) (?:is|are) out,? (?:and )?(?P<b>[^,;.!?]{2,40}?) (?:is|are) in\b",
        r"\bno longer (?P<a>[^,;.!?]{2,40}?),? (?:but|it's|it is) (?P<b>[^,;.!?]{2,60})",
    )
)
_STEPPING = re.compile(
    r"\b(?:from|with|by|for|instead|rather|place|over|succeed\w*|replac\w*|not|handed|passed|gave|out|longer)\b",
    re.IGNORECASE,
)
_HAND_OVER = re.compile(
    r"\b(?:t[oa]ok over|tak(?:es|en|ing) over|replac\w+|stepp(?:ed|ing) (?:in|up|down)|succeed\w*|bow(?:ed|ing) out|"
    r"fill(?:ed|ing) in|jumped ship|resign\w*|retir\w+|pulled out|dropped out|went bust|moved on|ended up with|"
    r"instead)\b",
    re.IGNORECASE,
)
_GIVING_UP = re.compile(
    r"\b(?:sold|quit|gave up|given up|giv\w+ up|no longer|got rid of|cancell?ed|stopped|left|closed|dropped|"
    r"broke up with|"
    r"split up with|retired|scrapped|done with|ended(?! up)|resigned|returned|gave away|given away|donated|abandoned|"
    r"discontinued|shut|moved out of|withdrew|unsubscribed|deleted|ditched|called off|wound up|parted with|let go of|"
    r"(?:do|does|did|am|is|are|was|were)(?:n't| not)\b[^.!?]{1,60}?\bany ?more)\b",
    re.IGNORECASE,
)
_FOND = re.compile(
    r"\b(?:like|likes|love|loves|loved|enjoy|enjoys|adore|adores|prefer|prefers|favou?rite|fan of|keen on|fond of|into|"
    r"crazy about|can't get enough of|swear by)\b",
    re.IGNORECASE,
)
_AVERSE = re.compile(
    r"\b(?:hate|hates|dislike|dislikes|avoids?|steer clear of|had enough of|detest|loathe|"
    r"can't stand|cannot stand|can't bear|gone off|went off|sick of|"
    r"tired of|fed up with|allergic|(?:do|does|did)(?:n't| not)(?: really)? (?:like|enjoy|love|care for)|"
    r"not (?:into|keen "
    r"on|fond of|a fan of)|no longer (?:like|love|enjoy|fond|into|keen)\w*|stopped (?:liking|enjoying|loving)|"
    r"off (?!the|to|on|at|in)|lost (?:my|the) (?:taste|appetite|love) for|over (?=it|that))\b",
    re.IGNORECASE,
)
_FAVOURITE = frozenset(map(root_of, ("favourite", "favorite")))
_REACHING = frozenset(map(root_of, word_set("""
    email e-mail mail phone number mobile contact address line write reach call text ring message send get hold use
    new today now private personal
""")))  # fmt: skip
_EMPTY = frozenset(map(root_of, word_set("see hear agree know say think wait stuff thing talk tell look meet time")))
_LIKING = frozenset(map(root_of, word_set("""
    like love enjoy adore prefer hate dislike detest loathe stand bear go sick tire feed fan keen fond into taste bit
    care swear crazy get appetite lose any stop favour favourite favorite
""")))  # fmt: skip
_MEASURES = frozenset(map(root_of, word_set("""
    minute hour day week month year time people person dollar euro pound mile km kilometre kilometer percent page
    inch foot feet meter metre gram kg kilo cup step point part place thing way money item
""")))  # fmt: skip
_UNIT_AFTER = 2
_FEW = 5
_SUM = re.compile(
    r"\b(?:that makes|(?:we|i|they)(?:'re| are|'m| am) (?:now )?(?:up |down )?(?:to|at)|brings? (?:it|us|me|"
    r"the total) to)\b",
    re.IGNORECASE,
)
_HAVING = frozenset({"have", "got"})


def decide(new: Told, earlier: Sequence[Earlier[P]], sense: Sense | None = None) -> list[Link[P]]:
    """The earlier sentences that a new one overtakes; none where it only adds, or tells of the past.

    With a `sense` of what words mean, one that says it in other words is found as well.
    """
    if not may_overtake(new):
        return []
    able = [each for each in earlier if comparable(each.told, new, near=each.near)]
    found = [each for old in able if (each := _link(old, new) or (_means(old, new, sense) if sense else None))]
    if not found and new.cue is Cue.CORRECTION:
        found = _bare_correction(new, able)
    best = max((each.worth for each in found), default=0.0)
    return [each.link for each in found if each.worth >= _BESIDE_THE_BEST * best]


def may_overtake(new: Told) -> bool:
    """Whether a sentence may overtake another at all: one that only adds, or tells of the past, does not. What was
    is corrected like what is."""
    return not new.additive and (not new.past or new.cue is Cue.CORRECTION)


def _share_a_key(old: Told, new: Told) -> bool:
    shared = (old.roots & new.roots) | (old.roots & new.around)
    if len(shared) >= _SHARED_ANYHOW or (shared and new.cue >= Cue.STRONG):
        return True
    return bool(shared) and any(each.root in shared and (each.is_key or each.is_typed) for each in old.whole.items)


def _both_tell_where(old: Told, new: Told) -> bool:
    return _where_reached(old) is not None and _where_reached(new) is not None


def comparable(old: Told, new: Told, *, near: bool) -> bool:
    """Whether two sentences are worth comparing: they share words that tell something, or a session, and one person
    says both."""
    past = (old.past or old.for_good) and new.cue is not Cue.CORRECTION
    if past or old.pronoun or not (near or _share_a_key(old, new) or _both_tell_where(old, new)):
        return False
    one, other = (old.speaker or "").lower(), (new.speaker or "").lower()
    return not one or not other or one == other


def _link(old: Earlier[P], new: Told) -> _Found[P] | None:
    """The first way in which the new sentence overtakes the old one."""
    for way in (_flipped, _stepped, _same_opening, _filled, _differs, _reached, _handed_over, _gave_up, _counted):
        found = way(old, new)
        if found is None:
            continue
        loose = (old.told.loose or new.loose) and way in (_differs, _gave_up, _counted)
        passing = old.told.passing and way is not _flipped and new.cue is not Cue.CORRECTION
        passing = passing or (new.passing and new.cue < Cue.STRONG and way not in (_differs, _gave_up))
        felt = not (_is_plain(old.told) and _is_plain(new)) and new.cue is not Cue.CORRECTION and way is not _stepped
        sure = found.link.sure and not loose and not passing and not (felt and way is not _flipped)
        if sure or found.pinned:
            return replace(
                found,
                link=replace(
                    found.link,
                    sure=sure,
                    pinned=found.pinned,
                    told=new.cue >= Cue.STRONG,
                    way=way.__name__.strip("_").replace("_", " "),
                ),
            )
    return None


def _means(old: Earlier[P], new: Told, sense: Sense) -> _Found[P] | None:
    """Both fill one slot with different values, in whatever words; only of what was stated plainly and briefly."""
    if old.told.loose or new.loose or old.told.passing or not (_is_plain(old.told) and _is_plain(new)):
        return None
    found = best_filling(old.told, new, sense)
    if found is None or found.likely < DOUBT or (may_be_one_of(found.old, old.told) and new.cue < Cue.STRONG):
        return None
    told = new.cue >= Cue.STRONG or found.new[0].led in TOWARDS or found.names_old
    typed = any(each.is_typed for each in found.old) and found.of_one_sort
    shown = (typed and (told or new.cue is Cue.WEAK)) or (told and found.alike_placed)
    made = _made(old, _kind(new), found.likely >= SURE and shown, found.old, found.new, 0.5)
    if not made.link.sure and not (made.pinned and found.of_one_sort and new.cue > Cue.NONE):
        return None
    return replace(made, link=replace(made.link, pinned=made.pinned, told=told, way="means"))


@lru_cache(maxsize=4096)
def _is_plain(told: Told) -> bool:
    """Whether a sentence tells how things stand, and not how somebody feels about it."""
    return told.whole.words <= _PLAIN_WORDS and not _FEELING.search(told.text) and told.text[0] not in "\"'"


def _kind(new: Told) -> Kind:
    return Kind.CORRECTED if new.cue is Cue.CORRECTION else Kind.CHANGED


def _made(old: Earlier[P], kind: Kind, sure: bool, was: Sequence[Item], now: Sequence[Item], worth: float) -> _Found[P]:
    roots, instead = tuple(each.root for each in was), tuple(each.root for each in now)
    pinned = any(each.is_typed for each in was) and any(each.is_typed for each in now)
    return _Found(Link(old.place, kind, sure, roots, instead, _text(old.told, roots)), worth, pinned)


def _text(old: Told, roots: Sequence[str]) -> str:
    """The words of the old sentence that are its value, from the first to the last."""
    own = [each for each in old.whole.items if each.root in roots]
    return old.text[own[0].start : own[-1].end] if own else ""


def _flipped(old: Earlier[P], new: Told) -> _Found[P] | None:
    """The same thing liked and then not, or said and then denied."""
    for one in old.told.parts:
        for other in new.parts:
            there, here = _objects(one), _objects(other)
            shared = [each for each in there if each.root in {thing.root for thing in here}]
            telling = any(each.is_typed or (each.is_key and each.root not in _EMPTY) for each in shared)
            if not telling or len(shared) * 5 < len(there) * 3:
                continue
            before, now = _fondness(_words(old.told, one)), _fondness(_words(new, other))
            if before * now < 0:
                return _made(old, _kind(new), True, there, here, len(shared) + 1.0)
            same = {each.root for each in one.items} == {each.root for each in other.items}
            held = not (old.told.passing or new.passing) and _is_plain(old.told) and _is_plain(new)
            if same and held and one.denied != other.denied and not before and not now:
                return _made(old, _kind(new), True, there, here, len(shared) + 1.0)
    return None


def _words(told: Told, part: Part) -> str:
    return told.text[part.start : part.end]


def _objects(part: Part) -> list[Item]:
    """What is liked or not: of "my favourite drink is cider" the cider."""
    liked = [each for each in part.items if each.root != ME and each.root not in _LIKING]
    named = any(each.root in _FAVOURITE and each.at < part.verb_at for each in part.items)
    return [each for each in liked if each.at > part.verb_at] or liked if named else liked


@lru_cache(maxsize=1024)
def _tells(text: str, of: re.Pattern[str]) -> bool:
    return of.search(text.replace("’", "'")) is not None


@lru_cache(maxsize=4096)
def _fondness(text: str) -> int:
    plain = text.replace("’", "'")
    if _AVERSE.search(plain):
        return -1
    return 1 if _FOND.search(plain) else 0


def _stepped(old: Earlier[P], new: Told) -> _Found[P] | None:
    """An explicit step from one value to another: the first stands in the old sentence."""
    roots = {each.root for each in old.told.whole.items}
    for was, now in _steps(new):
        named = [each for each in was if each.is_typed or each.is_key]
        if not all(each.root in roots for each in named):
            continue
        if {each.root for each in now if each.is_key or each.is_typed} <= roots:
            continue
        others = {each.root for each in old.told.whole.items if each.is_key} - {each.root for each in was}
        shared = others & {each.root for each in new.whole.items}
        if any(each.is_typed for each in named) or shared or not others:
            return _made(old, _kind(new), True, was, now, 2.0 + len(shared))
    return None


@lru_cache(maxsize=256)
def _steps(new: Told) -> tuple[tuple[list[Item], list[Item]], ...]:
    """The steps a sentence tells of, each from something to something."""
    text = new.text.replace("’", "'")
    if not _STEPPING.search(text):
        return ()
    found = ((_within(new, match.span("a")), _within(new, match.span("b")))
             for pattern in _TRANSITIONS for match in pattern.finditer(text))  # fmt: skip
    return tuple((was, now) for was, now in found if now and any(each.is_typed or each.is_key for each in was))


def _within(told: Told, span: tuple[int, int]) -> list[Item]:
    return [each for each in told.whole.items if span[0] <= each.start < span[1] and each.root != ME]


def _same_opening(old: Earlier[P], new: Told) -> _Found[P] | None:
    """Word for word the same up to the value: "She is married to …", whatever stands there."""
    one, other = old.told.text.rstrip(".! ").split(), new.text.rstrip(".! ").split()
    length = _shared_words(one, other)
    rest, instead = one[length:], other[length:]
    if not (length >= _OPENING_WORDS and 0 < len(rest) <= _TAIL_WORDS and 0 < len(instead) <= _TAIL_WORDS):
        return None
    opening = [word.lower() for word in one[:length]]
    last = next((word for word in reversed(opening) if word not in DETERMINERS), "")
    start = len(" ".join(one[:length]))
    before = [each for each in old.told.whole.items if each.start < start and each.root != ME]
    led = (
        (last in PREPOSITIONS or last in BE or last in _CALLING)
        and _has_verb(opening[1:])
        and not _has_verb([*rest, *instead])
    )
    if not led or not any(each.is_key or each.is_typed for each in before) or any(map(may_be_more, before)):
        return None
    was = [each for each in old.told.whole.items if each.start >= start]
    now = [each for each in new.whole.items if each.start >= start]
    if not was or not now or old.told.whole.denied != new.whole.denied:
        return None
    thing = any(each.is_typed or (each.is_key and not each.is_verb) for each in before)
    sure = thing and old.told.whole.words <= _LONGEST_SURE and (was[0].fits(now[0]) or len(opening) > _OPENING_WORDS)
    found = _made(old, _kind(new), sure, was, now, 2.0 + len(before))
    return replace(found, pinned=found.pinned or sure, link=replace(found.link, exact=True))


def _has_verb(words: Sequence[str]) -> bool:
    return any(word.lower() in AUXILIARIES or looks_finite(word.lower()) for word in words)


def _shared_words(one: Sequence[str], other: Sequence[str]) -> int:
    alike = (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a.lower() != b.lower())
    return next(alike, min(len(one), len(other)))


def _handed_over(old: Earlier[P], new: Told) -> _Found[P] | None:
    """Somebody or something the old sentence names is out, and another of its sort is named in its stead."""
    if not _tells(new.text, _HAND_OVER):
        return None
    here = {each.root for each in new.whole.items} | new.around
    there = {each.root for each in old.told.whole.items}
    out = [each for each in old.told.whole.items if (each.kind is TokenKind.NAME or each.opens) and each.root in here]
    came = [each for each in new.whole.items if each.kind is TokenKind.NAME or each.opens]
    came = [each for each in came if each.root not in there]
    if not out or not came or any(each.owns for each in out):
        return None
    shared = [each for each in old.told.whole.items if each.is_key and each.root in here and each not in out]
    return _made(old, _kind(new), bool(shared) or len(old.told.whole.items) <= _FEW, out, came, 0.5 + len(shared))


def _filled(old: Earlier[P], new: Told) -> _Found[P] | None:
    """The old sentence is said again whole, and handed over to another of its value's sort."""
    if new.cue < Cue.STRONG:
        return None
    roots = {each.root for each in new.whole.items}
    if not all(each.root in roots for each in old.told.whole.items if each.root != ME):
        return None
    known = {each.root for each in old.told.whole.items}
    values = [each for each in old.told.whole.items if each.is_typed or each.opens]
    came = [each for each in new.whole.items if each.root not in known]
    if new.whole.words > _SHORT_NEW:
        return None
    for value in reversed(values):
        instead = [each for each in came if each.fits(value) and each.root != ME]
        if instead and not any(part.items and _says_whole(part, old.told) for part in new.parts[1:]):
            return _made(old, _kind(new), True, [value], instead, 1.0 + len(known))
    return None


def _says_whole(part: Part, old: Told) -> bool:
    """Whether one clause alone still says all of the old sentence, undenied."""
    roots = {each.root for each in part.items}
    return not part.denied and {each.root for each in old.whole.items if each.root != ME} <= roots


def _differs(old: Earlier[P], new: Told) -> _Found[P] | None:
    """Both fill one slot, with different values."""
    found = differ(old.told, new)
    if found is None or _holds_several(found, old.told, new):
        return None
    strong = sum(each.is_key or each.is_typed for each in found.shared)
    worth = found.coverage * (strong + 0.5) * (1.0 if found.same_shape else 0.5)
    made = _made(old, _kind(new), _is_sure(found, old.told, new), found.old, found.new, worth)
    return replace(made, link=replace(made.link, same_shape=found.same_shape, exact=found.exact, strict=found.strict))


def _reached(old: Earlier[P], new: Told) -> _Found[P] | None:
    """Where somebody is reached, said of nobody and nothing else, and then another address of that sort."""
    was, now = _where_reached(old.told), _where_reached(new)
    if was is None or now is None or was.kind is not now.kind or was.root == now.root or new.cue is Cue.NONE:
        return None
    return _made(old, _kind(new), True, [was], [now], 1.0)


def _where_reached(told: Told) -> Item | None:
    """The one address or number at which whoever speaks is reached, if that is all a sentence tells."""
    found = [each for each in told.whole.items if each.kind in CONTACT]
    others = [
        each for each in told.whole.items if each.is_key and each.kind not in CONTACT and each.root not in _REACHING
    ]
    mine = any(each.root == ME for each in told.whole.items)
    return found[0] if len(found) == 1 and mine and not others else None


def _holds_several(found: Difference, old: Told, new: Told) -> bool:
    if not may_be_one_of(found.old, old):
        return False
    having = any(each.root in _HAVING for each in old.whole.items)
    return not _REPLACING.search(new.text) if having else found.cue < Cue.STRONG


def _is_sure(found: Difference, old: Told, new: Told) -> bool:
    """Whether the link may withhold what was said; the longer the sentences, the more must agree."""
    if old.whole.words > _LONGEST_SURE or len(old.whole.items) > _MOST_ITEMS_SURE:
        return False
    whole = found.lost == 0 and found.strict >= 0.95 and found.words <= _SHORT_NEW
    if old.passing or (new.passing and found.cue < Cue.STRONG and not whole):
        return False
    if new.cue is Cue.CORRECTION:
        return found.strict >= _CORRECTED and old.whole.words <= _SHORT_NEW
    if new.whole.words > _LONGEST_NEW and not found.led_to:
        return False
    long = old.whole.words > _SHORT_OLD or found.words > _SHORT_NEW
    if long and (found.strict < _LONG_COVERAGE or found.extra > _LONG_EXTRA or not found.typed):
        return False
    if found.old[0].kind in CONTACT:
        return True
    if found.typed:
        needed = 0.45 if found.led_to else 0.6 if found.cue >= Cue.STRONG else 0.7
        return found.coverage >= needed
    if not found.placed and not found.led_to:
        return False
    if found.cue >= Cue.STRONG:
        return found.coverage >= 0.7 and found.strict >= 0.6
    plain = not any(each.is_verb for each in (*found.old, *found.new))
    return plain and whole and found.extra <= 2


def _gave_up(old: Earlier[P], new: Told) -> _Found[P] | None:
    """What the old sentence tells of was sold, quit or is no longer so."""
    if not _tells(new.text, _GIVING_UP):
        return None
    told_of = [each for each in old.told.whole.items if each.root != ME]
    for part in new.parts:
        roots = {each.root for each in part.items}
        shared = [each for each in told_of if each.root in roots and (each.is_key or each.is_typed)]
        named = [each for each in told_of if each.kind is TokenKind.NAME]
        mine = any(each.root == ME for each in old.told.whole.items) <= any(each.root == ME for each in new.whole.items)
        mine = mine or any(each.kind is TokenKind.NAME for each in shared)
        whole = bool(named) and all(each.root in roots for each in named) and not any(each.owns for each in named)
        others = any(each.kind is TokenKind.NAME and each.root not in old.told.roots for each in part.items)
        if named and not whole and others:
            continue  # it is another's
        much = 2 * len(shared) - len([each for each in told_of if each.is_key])
        if shared and mine and (whole or much > 0 or (much == 0 and any(each.is_typed for each in shared))):
            sure = (whole or part.denied) and part.words <= _SHORT_NEW and not old.told.passing
            return _made(old, Kind.GIVEN_UP, sure, shared, (), 0.5 + len(shared))
    return None


def _counted(old: Earlier[P], new: Told) -> _Found[P] | None:
    """Another number of the same things, in words that share something else: it may have gone up or down."""
    then, now = _counts(old.told.whole), _counts(new.whole)
    for unit in then.keys() & now.keys():
        if then[unit].root == now[unit].root or then[unit].kind is not now[unit].kind:
            continue
        there = {each.root for each in old.told.whole.items if each.is_key or each.is_typed} - {unit, then[unit].root}
        here = {each.root for each in new.whole.items if each.is_key or each.is_typed}
        if len(there & here) >= (2 if unit in _MEASURES else 1):
            return _made(old, _kind(new), False, [then[unit]], [now[unit]], len(there & here))
        if _sums_up(new) and unit not in _MEASURES and old.told.whole.words <= _SHORT_OLD:
            return _made(old, _kind(new), True, [then[unit]], [now[unit]], 1.0)
    return None


def _sums_up(new: Told) -> bool:
    """ "That makes 41 singers": whatever was counted before, this is the sum."""
    return _SUM.search(new.text) is not None and new.whole.words <= _SHORT_NEW


def _counts(part: Part) -> dict[str, Item]:
    """What is counted, by what it is counted in; a number behind a noun tells which one, not how many."""
    found: dict[str, Item] = {}
    for each in part.items:
        if each.kind is TokenKind.TIME:
            found.setdefault("time", each)
        elif each.kind in (TokenKind.NUMBER, TokenKind.MONEY) and not any(
            other.at == each.at - 1 and not other.is_verb and other.root != ME for other in part.items
        ):
            unit = next((other for other in part.items if 0 < other.at - each.at <= _UNIT_AFTER), None)
            if unit is not None and not unit.is_typed and not unit.is_verb:
                found.setdefault(unit.root, each)
    return found


def _bare_correction(new: Told, earlier: Sequence[Earlier[P]]) -> list[_Found[P]]:
    """A correction that names only a value goes to the last sentence of the session with one of its sort."""
    values = [each for each in new.whole.items if each.is_typed and each.root != "1"]
    if not values or len(new.whole.items) > len(values) + 1 or new.whole.words > _SHORT_OLD:
        return []
    for old in reversed([each for each in earlier if each.near]):
        was = [each for each in old.told.whole.items if each.is_typed and each.fits(values[0])]
        if was and values[0].root not in {each.root for each in old.told.whole.items}:
            return [_made(old, Kind.CORRECTED, True, was[-1:], values, 1.0)]
    return []
