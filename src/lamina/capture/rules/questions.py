"""Questions a person asks about their own affairs: what they have yet to decide is worth keeping, little else is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lamina.capture.rules.concrete import addresses, concrete
from lamina.capture.rules.occasions import has_bare
from lamina.text.closed import DEMONSTRATIVES, THIRD_PERSON
from lamina.text.tokens import Token

_OWN = re.compile(r"^\W*(?:so|and|but|well|hmm)?,?\s*should (?:i|we) (?=\w)", re.IGNORECASE)
_TURNED = {
    "my": "their",
    "our": "their",
    "me": "them",
    "us": "them",
    "i": "they",
    "we": "they",
    "myself": "themselves",
    "mine": "theirs",
    "am": "are",
    "'m": " are",
}
_POINTING = THIRD_PERSON | {"same", "one", "ones"}
_SHORTEST, _LONGEST = 3, 20
_LEAST = 2.0


def may_wonder(sentence: str) -> bool:
    """Whether a question opens as one that somebody puts to themselves."""
    return _OWN.match(sentence) is not None


def wondered(sentence: str, found: Sequence[Token], speaker: str) -> str | None:
    """The question as a statement, "Ana asks whether they should ...", if it is one of what to do and says what."""
    opening = _OWN.match(sentence)
    if opening is None:
        return None
    words = [token for token in found if token.start >= opening.end() and not token.is_mark]
    if not _SHORTEST <= len(words) <= _LONGEST or addresses(words) or concrete(words) < _LEAST:
        return None
    if any(token.lower in _POINTING or token.lower in DEMONSTRATIVES for token in words) or has_bare(words):
        return None
    said = "".join(
        (" " if at and words[at - 1].end < token.start else "") + _TURNED.get(token.lower, token.text)
        for at, token in enumerate(words)
    )
    return f"{speaker} asks whether they should {said}."
