"""What a request is about: whether it can only be known, whose it is, and where it ends in the sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.change.wordings import (
    BECAUSE,
    CLAUSE,
    CONFIDED,
    COURTESY,
    HAVING,
    KEEPING,
    KEPT_ELSEWHERE,
    KNOWABLE,
    NP_END,
    OURS,
    POSSESSED,
    THINGS,
    YOURS,
)
from lamina.text.closed import AUXILIARIES, word_set
from lamina.text.verbs import KNOWN, base_form, looks_finite


def speaks_of_keeping(said: str) -> bool:
    """Whether a sentence speaks of something that is known here and perhaps should not be."""
    if is_of_things(said) or not (_OWNED.search(said) or (_TOLD_YOU.search(said) and CONFIDED.search(said))):
        return False
    return bool(KEEPING.search(said) or (HAVING.search(said) and any(is_somebodys(each) for each in _owned(said))))


def tells_a_fact(said: str) -> bool:
    """Whether a sentence says what somebody's number, age or illness is."""
    told = _TELLS.match(said)
    if told is None or is_of_things(said):
        return False
    return is_somebodys(told["what"]) and _VALUE.search(said, told.end()) is not None


def _owned(said: str) -> Iterator[str]:
    return (said[each.start() :] for each in _OWNED.finditer(said))


_TELLS = re.compile(r"\W*(?:(?:so|and|well|oh|btw|by the way|also),? )*(?P<what>[\w'. -]{3,60}?) (?:is|are|was|were)\b")
_TOLD_YOU = re.compile(r"\b(?:i|we)(?:'ve| have)?(?: just)? (?:told you|mentioned|said|shared|confided)\b")
_VALUE = re.compile(r"[\d@]|\b(?:called|named)\b")
_OWNED = re.compile(r"\b(?:(?:my|our|his|her|their)\b|[\w-]+(?:'s|s')\s)")
_MEMORY_PLACE = re.compile(rf"\b(?:{YOURS}|{OURS}|on (?:file|record)|the records?)\b")


def is_of_things(said: str) -> bool:
    """Whether it speaks of what lies somewhere else: a file, a page, a list."""
    words = re.findall(r"[\w-]+", _MEMORY_PLACE.sub(" ", said))
    return bool(KEPT_ELSEWHERE.search(said)) or any(THINGS.fullmatch(each) and each not in KNOWABLE for each in words)


def head(about: str) -> str:
    """The noun that what is named comes down to: "my old door code for the shed" is a code."""
    bare = re.sub(r"^\W*(?:about )?(?:the fact that )?", "", about)
    words = re.findall(r"[\w'-]+", NP_END.split(f"{bare} ", maxsplit=1)[0])
    return words[-1] if words else ""


def is_knowable(about: str) -> bool:
    """Whether what is named can only be known: a number, a date, an illness."""
    return head(about) in KNOWABLE


def is_somebodys(about: str, known: frozenset[str] = KNOWABLE) -> bool:
    """Whether it is a thing known of somebody."""
    return (POSSESSED.match(about) or _OF_SOMEBODY.match(about)) is not None and head(about) in known


_OF_SOMEBODY = re.compile(r"\W*(?:about )?the (?:[\w-]+ ){1,3}(?:of|for) (?:my|our|his|her|their|[\w-]+'s)\b")


def is_thing(about: str) -> bool:
    """Whether what is named lies somewhere else than in memory: a file, a photo, a list."""
    head = re.split(r"\b(?:of|from|in|on|at|about|for|with|that|please)\b|[,;.!?–—]", about, maxsplit=1)[0].split()
    return bool(head) and THINGS.fullmatch(head[-1]) is not None


def has_clause(about: str, *, reasoned: bool = False) -> bool:
    """Whether something else is asked or said behind what is to be forgotten: then it was only a turn of phrase.

    Where it is clear that memory is meant, what is said behind is a `reason`, and only what is asked counts.
    """
    for piece in CLAUSE.split(BECAUSE.split(about, maxsplit=1)[0])[1:]:
        words = re.findall(r"[\w'’]+", re.sub(r"^(?:(?:and|but|so|then|instead|just|simply|only)\s)+", "", piece))
        if not words or COURTESY.match(piece):
            continue
        joined = piece.startswith(("and ", "or "))
        asks = words[0] in _ASKING or (words[0] in KNOWN and not (joined and len(words) == 1))
        says = words[0] in _SUBJECTS or (not joined and len(words) > 4)
        if asks or (says and not reasoned):
            return True
    return False


def until_clause(said: str, start: int, end: int) -> int:
    """Where what is named ends because a reason, or anything else, is said behind it."""
    for joint in _JOINT.finditer(said, start, end):
        words = re.findall(r"[\w']+", _JOINT.split(said[joint.end() : end], maxsplit=1)[0])
        named = said[start : joint.start()].lstrip(" ,")
        if not words or not named or COURTESY.match(named) or COURTESY.match(said, joint.end(), end):
            continue
        if words[0] in _SUBJECTS or any(
            each in AUXILIARIES or (base_form(each) and looks_finite(each)) for each in words[1:]
        ):
            return joint.start()
    return end


_JOINT = re.compile(r"\s*[;:–—]+\s*|,\s+|\s+-\s+")
_ASKING = word_set("let's let what how why when where who is are do does can could would should instead use")
_SUBJECTS = _ASKING | word_set("""
    i i'm i'd i'll i've we we're you it it's that's there they he she everyone everybody nobody people someone
    we'll we'd you'll he'll she'll they'll it'll
""")
