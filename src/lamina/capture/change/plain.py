"""Whether a sentence tells how things stand: not how somebody feels about it, what could be, or what to do."""

from __future__ import annotations

import re
from functools import lru_cache

from lamina.capture.change.told import Told
from lamina.text.closed import AUXILIARIES, MODALS, SECOND_PERSON, word_set
from lamina.text.tokens import tokens
from lamina.text.verbs import base_form, is_gerund, looks_finite

_PLAIN_WORDS = 20
_FEELING = re.compile(
    r"\b(?:i think|i guess|excit\w+|awesome|amazing|great|glad|thank(?:s|ful)?(?! to)|sounds?|gonna|wanna|gotta|hope|"
    r"by the way|feel\w*|felt|can't wait|thinking|considering|interested|so (?:much|good|happy)|agree\w*|proud|"
    r"passion\w*|check out|wish|super|special|blast|fun|cool|lovely|luck|incredible|inspir\w+|appreciate|dream\w*|"
    r"worth|love(?:ly|d)?|beautiful|nice|perfect|cute|wow|aww|yum|yep|yeah|sorry|tough|keen|huge|stuff|a lot|"
    r"happen\w*|important|interesting)\b",
    re.IGNORECASE,
)
_PRESENTED = re.compile(r"^\W*(?:(?:and|so|but|well|okay)\W+)?here(?:'s| is| are)\b", re.IGNORECASE)
_ANOTHERS = re.compile(r"^\W*(?:his|hers?|its|theirs?)\b", re.IGNORECASE)
_LEADING_IN = word_set("""
    well so and but oh yeah yes also anyway just really definitely still always never then ok okay please now actually
    sorry hey hi wow plus
""")
_WISHING = word_set("congrats congratulations cheers")
_POSSIBLE = MODALS - word_set("will 'll shall wo") | word_set("let lets")


@lru_cache(maxsize=4096)
def is_plain(told: Told) -> bool:
    """Whether a sentence tells how things stand, and not how somebody feels about it."""
    return told.whole.words <= _PLAIN_WORDS and not _FEELING.search(told.text) and told.text[0] not in "\"'"


@lru_cache(maxsize=4096)
def is_state(told: Told) -> bool:
    """Whether a sentence says of somebody or something how it is: it has a subject, and is no call, no advice, nothing
    that only could or should be, and not said of whom it is said to."""
    words = _words(told)
    return not (_lacks_subject(words) or any(word in _POSSIBLE or word in SECOND_PERSON for word in words))


def is_exclaimed(told: Told) -> bool:
    """Whether a sentence is called out."""
    return told.text.rstrip().endswith("!")


def is_unnamed(told: Told) -> bool:
    """Whether neither a sentence nor the one before it names what it shows, or whose it is what it tells of."""
    text = told.text.replace("’", "'")
    shows = _PRESENTED.match(text) is not None or text.rstrip().endswith(":")
    alone = told.words == told.text and not told.around
    return shows or (alone and _ANOTHERS.match(text) is not None)


def is_fragment(told: Told) -> bool:
    """Whether words have neither a verb nor a colon that would tell what they are said of."""
    return not told.whole.verb_at and ":" not in told.text


def _words(told: Told) -> list[str]:
    words = [each.lower for each in tokens(told.text.replace("’", "'")) if not each.is_mark]
    first = next((n for n, word in enumerate(words) if word not in _LEADING_IN), len(words))
    return words[first:]


def _lacks_subject(words: list[str]) -> bool:
    """Whether a verb comes first, as in "Keep going" or "Been busy"; one that another follows is a noun."""
    if not words or words[0] in AUXILIARIES or words[0] in _WISHING:
        return True
    first, then = words[0], words[1] if len(words) > 1 else ""
    if base_form(first) != first and not is_gerund(first):
        return False
    return not (then in AUXILIARIES or then in MODALS or (looks_finite(then) and base_form(then) != then))
