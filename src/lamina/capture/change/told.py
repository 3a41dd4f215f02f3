"""A sentence as it is compared with others: what it says, clause by clause, and what its words tell of change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from lamina.capture.change.blanks import without_dates
from lamina.capture.change.cues import STRONG, Cue, cue_of
from lamina.capture.change.items import CONTACT, ME, Item, items, items_of
from lamina.capture.change.lasting import COMES_TO, FOR_GOOD, is_over, is_passing
from lamina.capture.change.runs import COUNTS
from lamina.capture.rules.classes import Sort, sort_of
from lamina.text.closed import AUXILIARIES, NEGATIONS, is_english, word_set
from lamina.text.tokens import Token, tokens
from lamina.text.verbs import looks_finite

MOST_WORDS = 40
_LONGEST_GUESS = 14


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
    has_contact: bool
    roots: frozenset[str]
    loose: bool = False

    @property
    def whole(self) -> Part:
        return self.parts[0]


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
_SET = re.compile(
    r"^\s*(?:#{1,6}\s|->|\||//|/\*|\*/|<[/!\w]|[@$]\w|-- |\*\*[^*]+\*\*:?\s*$)|[{}\\`]|=>|[=!<>]=|:=|\+=|::|&&|\|\||"
    r"\w\(\)|\w\[\w|\w\.\w+\(|\w\([\w'\"]+[,)]|[\w)\]]\s?=\s?[\w'\"(\[{]|[;(\[{,]\s*$|</\w|^\s*[\"'][\w-]+[\"']\s*:|"
    r"^\s*(?:def|class|import|from \w[\w.]* import|return|const|let|var|function|public|private|elif|else:|try:|"
    r"except|raise|async|await|yield|SELECT|INSERT|CREATE|UPDATE|ALTER)\b(?! (?:the|my|our|is|are|was)\b)"
)
"""Headings, tables and code: set down and not said."""
_INLINE = re.compile(r"`[^`\n]{1,60}`")
"""A name of something in code, in the midst of a sentence."""
_MORE = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|ten|some|several|few|a couple) (?:more|extra|additional|other)\b",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"(?:[,;] (?:and )?(?:so|which means|meaning|that means|hence|therefore|that makes)|:) ", re.IGNORECASE
)
"""What follows tells what came of it: two more arrived, which means there are sixteen."""
_HANDED_BACK = re.compile(
    r"\b(?:handed|gave|given|sent|brought|took) (?:\w+ ){0,3}?(?:back|away|up|in)\b", re.IGNORECASE
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
    if text.lstrip().startswith("[") or sort_of(text.replace("’", "'")).why in _ELSEWHERE:
        return ()  # what stands in brackets tells of a picture or a sound, or was put there by a program
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
    if _SET.search(_INLINE.sub("code", plain)):
        return None
    if plain.lstrip().startswith("[") or (_SMALL_TALK.match(plain) and not ordered):
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
        sort.past_state or is_over(plain), bool(_AHEAD.search(plain)), points_back, is_passing(plain),
        FOR_GOOD.search(plain) is not None, any(each.kind in CONTACT for each in parts[0].items),
        frozenset(each.root for part in parts for each in part.items) - {ME},
    )  # fmt: skip


def _states(found: list[Token], whole: Part) -> bool:
    """Whether words state something: they are more than a call, have a verb, a value behind a colon, or a number, a day
    or an address."""
    verbs = (token.lower in AUXILIARIES or looks_finite(token.lower) for token in found)
    counted = any(each.kind in COUNTS for each in whole.items)
    return whole.words > _LONGEST_CALL or counted or any(verbs) or any(token.text == ":" for token in found)


def _named(before: str, speaker: str | None) -> frozenset[str]:
    """What the sentence before names; of one that tells of a change, also what it is about."""
    if not before:
        return frozenset()
    ends = cue_of(before) >= Cue.STRONG or _HANDED_BACK.search(before) is not None
    return frozenset(each.root for each in items(before, speaker) if each.is_typed or (ends and each.is_key))


def _asserts_after_all(text: str, why: str) -> bool:
    """A matter of taste told as an opinion, or a new number in place of one to be forgotten."""
    if why == "hedge":
        return bool(_OPINION.match(text) and STRONG.search(text))
    if why == "jest":
        return _LAUGH.search(text) is not None and not sort_of(_LAUGH.sub("", text)).why
    return why == "forget" and _CONTACT.search(text) is not None


def _is_additive(text: str, sort: Sort) -> bool:
    """Whether it only adds to what is so; what comes to a number of its own does not, whatever was added for it."""
    if not sort.additive and _MORE.search(text) is None:
        return False
    return not COMES_TO.search(text) and not _has_outcome(text)


def _has_outcome(text: str) -> bool:
    """Whether it tells what came of it, in so many names or numbers."""
    found = _OUTCOME.search(text)
    rest = text[found.end() :] if found else ""
    if not rest or sort_of(rest).additive or _MORE.search(rest):
        return False
    return any(token.is_typed for token in tokens(rest)) or any(each.is_typed for each in items(rest))


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
