"""How people ask to be forgotten: orders, wishes and duties that speak of erasing and of memory, told from idioms."""

from __future__ import annotations

import re

from lamina.capture.change.matter import until_clause
from lamina.capture.change.order import Asked, ordered
from lamina.capture.change.wishes import begged, passed_on, wished
from lamina.capture.change.wordings import (
    ASKS_YOU,
    CUE,
    FICTION,
    FORGETS,
    GONE,
    LETS,
    MARKER,
    QUOTE,
    REPORTED,
    SORRY,
    SPARED,
    TAG,
    UNREAL,
)


def asked(said: str, *, kept: bool = False, told: bool = False) -> Asked | None:
    """The request to forget that a sentence, in lower case with straight apostrophes, makes; None if it makes none.

    A pronoun may mean what the sentence before it spoke of: as something that is `kept`, or that was just `told`.
    """
    if not CUE.search(said):
        return None
    text, places = _spelt_out(said)
    apart = SPARED.search(text)
    for core in (text[: apart.start()], text) if apart and apart.start() else (text,):
        if (found := _asked(core, kept=kept, told=told)) is not None:
            end = until_clause(core, found.start, found.end)
            spared = places[len(core)] if len(core) < len(text) else None
            return Asked(places[found.start], places[end], found.sure, spared)
    return None


def _asked(said: str, *, kept: bool, told: bool) -> Asked | None:
    if any(other.search(said) for other in (UNREAL, FICTION, QUOTE, SORRY)) or not _may_ask(said):
        return None
    if (found := passed_on(said)) is not None:
        return found
    if _is_reported(said):
        return None
    if kept and (meant := _MEANT_GONE.match(said)):
        return Asked(*meant.span("about"), True)
    return wished(said) or ordered(said, kept=kept or told) or begged(said)


_MEANT_GONE = re.compile(
    r"\W*(?:and |so |please )*i(?:'d| would)?(?: really| just| now)? (?:want|like|prefer|need) (?P<about>it|that|"
    r"this|them|those) "
    rf"(?:to be )?{GONE}(?: (?:of|from) there)?(?: please)?\W*$"
)
_SLIPS = {
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "wont": "won't", "cant": "can't", "wouldnt": "wouldn't",
    "couldnt": "couldn't", "shouldnt": "shouldn't", "isnt": "isn't", "wasnt": "wasn't", "neednt": "needn't",
    "im": "i'm", "ive": "i've", "u": "you", "ur": "your", "pls": "please", "plz": "please", "pleas": "please",
    "cld": "could", "wld": "would", "thx": "thanks", "ty": "thanks", "abt": "about", "4get": "forget",
}  # fmt: skip
_LOOSE = re.compile(
    rf"\b(?:{'|'.join(_SLIPS)})\b|\bid(?= (?:rather|like|prefer|love|appreciate|be)\b)"
    r"|\b(?:awfully|terribly|dreadfully|frightfully|possibly|ever so|very much|at all|in the least|if at all) "
    r"|\bvery (?=kindly)"
)


def _spelt_out(said: str) -> tuple[str, list[int]]:
    """The sentence as it is read, without softening words and slips of the pen, and where each character stood."""
    text, places, at = "", list[int](), 0
    for slip in _LOOSE.finditer(said):
        text += said[at : slip.start()]
        places += range(at, slip.start())
        word = _SLIPS.get(slip.group(), "i'd" if slip.group() == "id" else "")
        text += word
        places += [slip.start()] * len(word)
        at = slip.end()
    return text + said[at:], [*places, *range(at, len(said) + 1)]


_TOLD_ME = re.compile(
    r"\b(?:what|that|everything|anything|all)(?: [\w'-]+){1,3} (?:told|said to|confided to|confided in) (?:me|us)\b"
    r"|\bwould (?:really )?help (?:me|us) if you\b|\blet me (?:be (?:clear|honest|frank|plain)|ask you|withdraw|"
    r"retract|take back)\b"
    rf"|\b{FORGETS}(?: that)? (?:i|we)(?: ever| just| once)? (?:said|told|mentioned)(?: that| you)?\b"
)


def _is_reported(said: str) -> bool:
    """Whether somebody else says it. What is to be forgotten may well be something that somebody said."""
    if LETS.match(said) and not MARKER.search(said):
        return True
    return REPORTED.search(_TOLD_ME.sub(" ", said)) is not None


def _may_ask(said: str) -> bool:
    """A question asks for nothing to be done, unless it asks whether somebody would."""
    return not said.rstrip("\"')!.* ").endswith("?") or bool(ASKS_YOU.match(said) or TAG.search(said))
