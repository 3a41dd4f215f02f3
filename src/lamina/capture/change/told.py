"""A sentence as it is compared with others: what it says, clause by clause, and what its words tell of change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from lamina.capture.change.items import ME, Item, items, items_of
from lamina.capture.change.runs import COUNTS
from lamina.capture.rules.classes import Sort, corrects, sort_of
from lamina.text.closed import AUXILIARIES, NEGATIONS, is_english, word_set
from lamina.text.tokens import Token, tokens
from lamina.text.verbs import base_form, is_past, looks_finite

MOST_WORDS = 40
_LONGEST_GUESS = 14


class Cue(IntEnum):
    """How strongly a sentence tells that something is no longer as it was."""

    NONE = 0
    WEAK = 1
    STRONG = 2
    CORRECTION = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence or one of its clauses: its words, whether it denies them, and where it stands in the sentence."""

    items: tuple[Item, ...]
    roots: frozenset[str]
    words: int
    denied: bool
    start: int
    end: int
    verb_at: int


@dataclass(frozen=True, slots=True)
class Told:
    """An asserted sentence. `loose`: only a piece of one that by itself asserts nothing; `passing`: it tells of nothing
    that holds; `for_good`: nothing but a correction changes it. `parts`: the whole first, then its clauses where it has
    several; `words`: all it is about, with the sentence it points back to; `around`: what the sentence before names."""

    text: str
    speaker: str | None
    words: str
    around: frozenset[str]
    parts: tuple[Part, ...]
    cue: Cue
    additive: bool
    past: bool
    ahead: bool
    pronoun: bool
    passing: bool
    for_good: bool
    roots: frozenset[str]
    loose: bool = False

    @property
    def whole(self) -> Part:
        return self.parts[0]


def _any(*cues: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w'])(?:" + "|".join(cues) + r")(?!\w)", re.IGNORECASE)


_STRONG = _any(
    r"now(?! that)", r"now that", r"these days", r"nowadays", r"switch(?:ed|ing)", r"chang(?:ed|ing)",
    r"change of (?:plans?|heart|mind)", r"replac(?:ed|ing|es)", r"swapp(?:ed|ing)", r"trad(?:ed|ing)", r"instead",
    r"no longer", r"any ?more", r"left", r"sold", r"quit", r"gave up", r"given up", r"back to", r"rather than",
    r"(?:from|as of) (?:today|now|tomorrow)", r"from (?:now|here) on", r"t[oa]k(?:es|en|ook|ing)? over", r"took over",
    r"convert(?:ed|ing)", r"done with", r"gone (?:off|over)", r"went (?:off|over|back|with)", r"dropped", r"ditched",
    r"migrat(?:ed|ing)", r"renamed", r"reassigned", r"relocated", r"succeeded", r"succeeds", r"handed (?:over|on|it)",
    r"stopped", r"cleared", r"from then on", r"got rid of", r"gave up", r"turned into", r"became",
    r"(?:has|have) become", r"reverted", r"in place of", r"out of the", r"at present", r"currently",
    r"going forward", r"out of (?!the|my|our|all|it)",
    r"re(?:wrote|written|built|did|cast|named|assigned|scheduled|hired)", r"until recently", r"used to",
    r"different", r"upgraded", r"downgraded", r"retired",
    r"ended up (?:with|going|using|at|in)", r"went (?:for|bust)", r"jumped ship", r"bowed out",
    r"stepped (?:down|in|up)",
    r"redeployed", r"transferred", r"packed (?:off|up|in)", r"pulled out", r"fell through", r"until further notice",
    r"for good", r"as it turns out", r"given to", r"was given", r"has been given",
    r"put (?:me|us|him|her|them|it) (?:on|with|in)",
    r"appointed", r"elected", r"promoted", r"hired", r"chosen", r"nominated",
)  # fmt: skip
_WEAK = _any(
    r"since", r"just", r"new", r"again", r"went (?:up|down)", r"raised", r"lowered", r"moved", r"moving", r"booked",
    r"decided", r"start(?:ed|ing|s)", r"grown", r"grew", r"rose", r"fell", r"shifted",
    r"reissued", r"updated?", r"bumped", r"cut", r"increased", r"decreased", r"extended", r"postponed", r"rescheduled",
    r"pushed", r"brought forward", r"joined", r"bought", r"got", r"reached", r"hit", r"up to",
    r"down to", r"passed", r"next", r"finally", r"at last", r"turns out", r"already",
)  # fmt: skip
_ADVERBIAL = re.compile(
    r"\b(?:(?:since|from|as of|starting|beginning|effective|until|till|by|ever since)\s+(?:the\s+)?"
    r"(?:(?:start|end|beginning|middle)\s+of\s+)?(?:(?:last|next|this|early|late|mid)[\s-]+)?"
    r"(?:today|tomorrow|yesterday|now|then|week(?:end)?|month|year|spring|summer|autumn|fall|winter|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|\d{4}|\d{1,2}(?:st|nd|rd|th)?(?:\s+(?:of\s+)?(?:january|february|march|april|may|june|"
    r"july|august|"
    r"september|october|november|december))?(?:\s+\d{4})?(?!\s*[:.]\d|\s*[ap]m))\b(?:\s+onwards?)?"
    r"|(?:(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few|\d+)\s+)"
    r"(?:day|week|month|year|hour|minute|night|morning)s?\s+(?:ago|back|earlier)"
    r"|for\s+the\s+(?:past|last)\s+(?:\w+\s+)?(?:day|week|month|year)s?"
    r"|(?:in|within)\s+(?:a|one|two|three|four|five|six|\d+)\s+(?:day|week|month|year)s?(?:['’]s?\s+time)?"
    r"|(?:last|next|this|the\s+other)\s+(?:week(?:end)?|month|year|night|evening|morning|spring|summer|autumn|fall|"
    r"winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|"
    r"october|november|december|day)"
    r"|(?:at|over|on)\s+the\s+weekend|these days|right now|at the moment|at present|for now|by the way|as it happens|"
    r"as of now|from now on|going forward|in the end|a while (?:ago|back)|earlier this (?:week|month|year)|"
    r"the other day|yesterday|today|tonight|tomorrow|nowadays|recently|lately)\b",
    re.IGNORECASE,
)
_EVENT_DAY = re.compile(
    r"\b(?:on|in)\s+(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?(?:\s+(?:of\s+)?"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december))?|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)(?:\s+\d{1,4})?)\b",
    re.IGNORECASE,
)
_CHANGING = re.compile(
    r"\b(?:moved|relocated|switched|changed|left|joined|started|quit|sold|bought|replaced|swapped|took over|retired|"
    r"resigned|migrated|became)\b",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"^\W*(?:thanks?(?! to)|thank you|great|awesome|cool|nice|perfect|sounds good|got it|okay|ok|sure|wow|"
    r"that(?:'s| is| was| "
    r"sounds)|i appreciate|hello|hi|hey|good (?:morning|evening|idea|point)|no problem|you're right)\b",
    re.IGNORECASE,
)
_TO_YOU = re.compile(
    r"^\W*(?:(?:and|but|so|yeah|yes|oh|wow|well|also)[\s,]+)*you(?:r|rs|'re|'ve|'ll|'d)?\b", re.IGNORECASE
)
_INTENT = re.compile(
    r"^\W*(?:(?:also|and|but|so|oh|by the way|actually|okay|now|then|anyway|well)[\s,]+)*"
    r"(?:i(?:'m| am) (?:(?:really|very|so|also|just|still|currently|now|actually|definitely|always|pretty|"
    r"quite) )*(?:looking (?:for|to|into|at)|planning|interested in|trying to|hoping|wondering|curious|"
    r"considering|thinking|trying|working on|excited|glad|happy|sure)|i(?:'ve| have) (?:(?:also|always|just|"
    r"really|actually|already) )*been (?:really |also )?(?:enjoying|loving|feeling|meaning|thinking|trying|wanting|"
    r"looking|considering|wondering)|i(?:'d| would) (?:like|love|prefer to|appreciate|rather)|i need|i want|"
    r"i'll|i will|i hope|i wish|can you|could you|would you|do you|please|let's|let me|i think|i guess)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"^\W*i (?:think|guess|reckon|believe)\b(?! (?:about|of|i (?:might|may|should|could|will)))", re.IGNORECASE
)
_ALSO = re.compile(r"^\W*(?:also|plus|besides|and)\b[\s,:]*", re.IGNORECASE)
_LAUGH = re.compile(r"\b(?:lol|haha+|lmao)\b", re.IGNORECASE)
_CONTACT = re.compile(r"[\w.+-]+@[\w-]+\.\w|\+?\d[\d\s().-]{6,}\d")
_STANDING_ORDER = re.compile(
    r"[\w.+-]+@[\w-]+\.\w|\+?\d[\d\s().-]{6,}\d|\bfrom (?:now|today|here) on\b|\b(?:these days|my favou?rite|"
    r"instead|now)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^\W*(?:please\s+)?(?:give|tell|write|translate|draft|remind|remove|turn|show|explain|suggest|recommend|help|list|"
    r"find|create|make|summari[sz]e|describe|compare|provide|generate)\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(
    r"\b(?:(?<!you )will|(?<!ou)'ll|shall|going to (?![A-Z])\w+|planning to|is moving|are moving|am moving|"
    r"'m moving|'re moving|about to)\b"
)
_MORE = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|ten|some|several|few|a couple) (?:more|extra|additional|other)\b",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"(?:[,;] (?:and )?(?:so|which means|meaning|that means|hence|therefore|that makes)|:) ", re.IGNORECASE
)
"""What follows tells what came of it: two more arrived, which means there are sixteen."""
_MOOD = re.compile(
    r"\bi(?:'m| am|'ve| have|'d| would|'ll| will)?\b(?: \w+){0,3}? (?:want(?:ed)? to|looking (?:forward|for|to|"
    r"into)|look forward|"
    r"interested|intrigued|curious|worried|concerned|excited|glad|happy|hoping|thinking|planning|considering|wondering|"
    r"need to|love to|like to (?!be called)|all set|ready|torn|research(?:ed|ing)|going to (?:start|try|check|"
    r"look|add|make|go|use)|"
    r"think i'll|remember(?:ed)?|realized?|realised?|noticed|struggling|trying)\b",
    re.IGNORECASE,
)
_AT_IT = re.compile(
    r"\b(?:have|'ve|has|'s) (?:\w+ )?been (?:\w+ )?(?!based|called|named|made|moved)\w+ing\b", re.IGNORECASE
)
_DEED = re.compile(
    r"\b(?:i|we)(?: (?:just|also|recently|already|finally|actually|even|really|once|did))* (\w+)\b", re.IGNORECASE
)
_THERE = re.compile(r"^\W*(?:[\w ]{0,30}\s)?there(?:'s| is| are| was| were)\b", re.IGNORECASE)
_DONE = re.compile(
    r"\b(?:i|we|(?:\w+ )?(?:has|have|had|'ve)) (?:\w+ )?(?:completed|finished|visited|seen|tried|watched|read|"
    r"attended|played|been "
    r"diagnosed|got diagnosed|got to|did \w+)\b|\bdiagnosed me\b",
    re.IGNORECASE,
)
_FOR_A_WHILE = re.compile(
    r"\b(?:on holiday|for (?:the|this) (?:day|night|weekend|afternoon|morning|evening|week)(?=[,.!;]|$)|just for|"
    r"for (?:an?|one|two|three|a few) (?:hours?|days?|nights?|weeks?)|temporarily|for the time being|"
    r"st(?:oo|an)d(?:s|ing)? in for|fill\w* in for)\b",
    re.IGNORECASE,
)
_VISITING = re.compile(
    r"\b(?:spent|visited|watched|attended|toured|dreamt|dreamed|tasted|saw|met|went (?:on|for|to (?:a|an|see)))\b",
    re.IGNORECASE,
)
_FOR_GOOD = re.compile(
    r"\b(?:born|grew up|graduated|trained|(?:was|were) (?:founded|built|established|named after))\b", re.IGNORECASE
)
_SETTLING = word_set("""
    move join start switch become change hire name choose settle sign enrol enroll register marry rename appoint elect
    put set go rent plant take relocate transfer convert migrate retire quit leave drop sell keep live work have be own
    get book
""")
_HANDED_BACK = re.compile(
    r"\b(?:handed|gave|given|sent|brought|took) (?:\w+ ){0,3}?(?:back|away|up|in)\b", re.IGNORECASE
)
_COMES_TO = re.compile(r"\b(?:up|down|over|back) to \W?\d", re.IGNORECASE)
_LONG_AGO = re.compile(
    r"\b(?:back (?:in (?:the|my|\d{4})|at|when|then)|in the (?:\d0s|\d{4}s|(?:sixt|sevent|eight|ninet)ies|noughties)|"
    r"in (?:19|200|201)\d\d?|"
    r"last (?:year|time|season|summer|winter|spring|autumn|christmas)\b[^.!?]*\b(?:was|were|held)|"
    r"(?:my|our|the) (?:old|former|previous|last) [\w ]{2,40}?(?:,[^,]*,)? was|in my \w+'s day|at (?:\d\d|the time) i|"
    r"years ago|decades ago|once upon|originally|in those days|at first|before (?:that|then|i was)|as a (?:kid|"
    r"child|student))\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"^\W*(?:it|they|that|this|he|she|those|these)\b", re.IGNORECASE)
_ELSEWHERE = frozenset({"fiction", "quoted", "hypothetical", "jest"})
"""What no piece of a sentence is taken out of."""
_COUNTED_CLAUSE = 2
_LONGEST_CALL = 3
_LOOSE = re.compile(r"[,;:–—()?]\s+|\s[-–—]\s|\s(?:and|but|so|because|while|which|speaking of which)\s")
_PIECE_WORDS, _PIECE_ITEMS = 4, 2
_BREAKS = frozenset(",;:–—!?.")
_JOINING = word_set("and but so while because since although though")


@lru_cache(maxsize=16_384)
def tellings(
    text: str, speaker: str | None = None, *, correcting: bool = False, before: str = "", guess: bool = False
) -> tuple[Told, ...]:
    """The sentence as it is compared; where it is a question, a wish or too long, those of its pieces that assert."""
    whole = told(text, speaker, correcting=correcting, before=before, guess=guess)
    if whole is not None:
        return (whole,)
    if sort_of(text.replace("’", "'")).why in _ELSEWHERE:
        return ()
    found = (told(piece.strip(), speaker) for piece in _LOOSE.split(text) if len(piece.split()) >= _PIECE_WORDS)
    said = (each for each in found if each is not None and len(each.whole.items) >= _PIECE_ITEMS)
    return tuple(replace(each, loose=True) for each in said)


@lru_cache(maxsize=16_384)
def told(
    text: str, speaker: str | None = None, *, correcting: bool = False, before: str = "", guess: bool = False
) -> Told | None:
    """The sentence as it is compared; None where it asserts nothing that could fill a slot.

    One that points back at the sentence `before` it is read together with that. A `guess` can be overtaken, though it
    asserts nothing itself.
    """
    plain = text.replace("’", "'")
    sort = sort_of(_ALSO.sub("", plain))
    ordered = _STANDING_ORDER.search(plain) is not None
    guessed = guess and sort.why == "hedge" and len(plain.split()) <= _LONGEST_GUESS
    if not sort.asserts and not guessed and not _asserts_after_all(plain, sort.why):
        return None
    if _SMALL_TALK.match(plain) and not ordered:
        return None
    if _TO_YOU.match(plain) and not ordered:
        return None
    if (_INTENT.match(plain) or _REQUEST.match(plain)) and not ordered and not guessed:
        return None
    blanked = without_dates(plain)
    found = tokens(blanked)
    words = [token.lower for token in found if not token.is_mark]
    if not words or len(words) > MOST_WORDS or not is_english(words):
        return None
    parts = _parts(found, speaker)
    points_back = bool(_POINTS_BACK.match(plain))
    leans = bool(before) and (points_back or len(parts[0].items) <= _COUNTED_CLAUSE)
    if leans:
        parts = (*parts, _part(tuple(tokens(f"{without_dates(before)} {blanked}")), speaker))
    cue = Cue.CORRECTION if correcting else cue_of(plain)
    if not parts[0].items or not (cue >= Cue.STRONG or _states(found, parts[0]) or guessed):
        return None
    return Told(
        text, speaker, f"{before} {text}" if leans else text, _named(before, speaker), parts,
        cue, _is_additive(plain, sort),
        sort.past_state or _is_past(plain), bool(_AHEAD.search(plain)), points_back, _is_passing(plain),
        _FOR_GOOD.search(plain) is not None,
        frozenset(each.root for part in parts for each in part.items) - {ME},
    )  # fmt: skip


def _states(found: list[Token], whole: Part) -> bool:
    """Whether words state something: they are more than a call, have a verb, a value behind a colon, or a number, a day
    or an address."""
    verbs = (token.lower in AUXILIARIES or looks_finite(token.lower) for token in found)
    counted = any(each.kind in COUNTS for each in whole.items)
    return whole.words > _LONGEST_CALL or counted or any(verbs) or any(token.text == ":" for token in found)


def _is_passing(text: str) -> bool:
    """Whether it tells of a mood, a wish, something done once or something one is just at: nothing that holds."""
    if _COMES_TO.search(text):
        return False
    if _MOOD.search(text) or _AT_IT.search(text) or _THERE.match(text):
        return True
    if _DONE.search(text) or _VISITING.search(text):
        return True
    deed = _DEED.search(text)
    return deed is not None and is_past(deed.group(1).lower()) and base_form(deed.group(1).lower()) not in _SETTLING


def _named(before: str, speaker: str | None) -> frozenset[str]:
    """What the sentence before names; of one that tells of a change, also what it is about."""
    if not before:
        return frozenset()
    ends = cue_of(before) >= Cue.STRONG or _HANDED_BACK.search(before) is not None
    return frozenset(each.root for each in items(before, speaker) if each.is_typed or (ends and each.is_key))


def _asserts_after_all(text: str, why: str) -> bool:
    """A matter of taste told as an opinion, or a new number in place of one to be forgotten."""
    if why == "hedge":
        return bool(_OPINION.match(text) and _STRONG.search(text))
    if why == "jest":
        return _LAUGH.search(text) is not None and not sort_of(_LAUGH.sub("", text)).why
    return why == "forget" and _CONTACT.search(text) is not None


def without_dates(text: str) -> str:
    """The sentence with what only tells when blanked out, every other character in its place."""
    blanked = _ADVERBIAL.sub(lambda found: " " * len(found.group()), text)
    if _CHANGING.search(blanked):
        kept = _EVENT_DAY.sub(lambda found: " " * len(found.group()), blanked)
        if any(token.is_typed for token in tokens(kept)):
            return kept
    return blanked


def _is_additive(text: str, sort: Sort) -> bool:
    """Whether it only adds to what is so; what comes to a number of its own does not, whatever was added for it."""
    if not sort.additive and _MORE.search(text) is None:
        return False
    return not _COMES_TO.search(text) and not _has_outcome(text)


def _has_outcome(text: str) -> bool:
    """Whether it tells what came of it, in so many names or numbers."""
    found = _OUTCOME.search(text)
    rest = text[found.end() :] if found else ""
    if not rest or sort_of(rest).additive or _MORE.search(rest):
        return False
    return any(token.is_typed for token in tokens(rest)) or any(each.is_typed for each in items(rest))


def _is_past(text: str) -> bool:
    """Whether a sentence only tells how it was, "back in the nineties our boat was the Gannet", or is for a while."""
    return bool(_LONG_AGO.search(text) and not _STRONG.search(text)) or _FOR_A_WHILE.search(text) is not None


def cue_of(text: str) -> Cue:
    """How strongly a sentence tells of a change."""
    if corrects(text):
        return Cue.CORRECTION
    if _STRONG.search(text):
        return Cue.STRONG
    return Cue.WEAK if _WEAK.search(text) else Cue.NONE


def _parts(found: list[Token], speaker: str | None) -> tuple[Part, ...]:
    whole = _part(tuple(found), speaker)
    cut = [_part(tuple(each), speaker) for each in _pieces(found)]
    said = [part for part in cut if len(part.items) >= _COUNTED_CLAUSE]
    return (whole, *said) if len(cut) > 1 else (whole,)


def _pieces(found: list[Token]) -> Iterator[list[Token]]:
    """The sentence cut wherever a clause may begin, rather too often than too rarely: the best piece counts."""
    piece: list[Token] = []
    for token in found:
        if piece and (token.text in _BREAKS or token.lower in _JOINING):
            yield piece
            piece = []
        else:
            piece.append(token)
    if piece:
        yield piece


def _part(found: tuple[Token, ...], speaker: str | None) -> Part:
    denied = any(token.lower in NEGATIONS for token in found) or any(
        one.lower == "no" and other.lower == "longer" for one, other in pairwise(found)
    )
    words = sum(not token.is_mark for token in found)
    said = items_of(found, speaker)
    roots = frozenset(each.root for each in said)
    return Part(said, roots, words, denied, found[0].start, found[-1].end, _verb_at(found))


def _verb_at(found: tuple[Token, ...]) -> int:
    """Where the predicate begins: at the first helper or finite verb; at the very beginning where there is none."""
    places = (n for n, token in enumerate(found) if n and (token.lower in AUXILIARIES or looks_finite(token.lower)))
    return next(places, 0)
