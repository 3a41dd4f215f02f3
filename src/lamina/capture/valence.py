"""Valence: how pleasant or unpleasant the words of a statement are, by a small list of words in seven languages.

Text in other languages has no valence, and neither has text without a word of the list. A caller who knows better gives
the valence with the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from math import sqrt

from lamina.text.analyser import to_nfkc

SCANNED_CHARS = 4000
SPREAD = 15.0
"""How slowly the sum of the words approaches 1: one strong word gives about 0.6."""
NEGATED = -0.6
"""What a negation before a word leaves of its score."""
NEGATION_REACH = 3
"""The number of words that a negation has an effect on."""
STRENGTHENED = 1.4

_WORD = re.compile(r"[^\W\d_]+|[\u2764\U0001f300-\U0001faff]")
_APOSTROPHE = re.compile(r"['’]")
_NEGATION_LIST = """
    not no never dont didnt doesnt isnt wasnt arent werent cant couldnt wont wouldnt without hardly neither nor
    nicht kein keine keinen nie niemals ohne pas jamais sans sin nunca non senza mai não sem niet geen nooit
"""
_NEGATIONS = frozenset(_NEGATION_LIST.split())
_STRENGTHENER_LIST = """
    very so really extremely absolutely totally incredibly deeply sehr total wirklich très tellement vraiment muy
    tan molto davvero muito tão heel zo echt
"""
_STRENGTHENERS = frozenset(_STRENGTHENER_LIST.split())


def score_valence(text: str) -> float:
    """Return how pleasant a text is, from -1 to 1; 0 if none of its words is in the list."""
    total = sum(_word_scores(text))
    return round(total / sqrt(total * total + SPREAD), 2)


def _word_scores(text: str) -> Iterator[float]:
    """Yield the score of each word of the list, changed by the words before it."""
    words = _WORD.findall(_APOSTROPHE.sub("", to_nfkc(text[:SCANNED_CHARS]).casefold()))
    for n, word in enumerate(words):
        score = _score_of(word)
        if not score:
            continue
        before = words[max(0, n - NEGATION_REACH) : n]
        if before and before[-1] in _STRENGTHENERS:
            score *= STRENGTHENED
        yield score * NEGATED if _NEGATIONS.intersection(before) else score


def _score_of(word: str) -> float:
    scores, beginnings = _load_words()
    if word in scores:
        return scores[word]
    return next((beginnings[word[:n]] for n in range(len(word), 2, -1) if word[:n] in beginnings), 0.0)


@cache
def _load_words() -> tuple[dict[str, float], dict[str, float]]:
    """Return the scores of whole words, and of beginnings of words."""
    scores: dict[str, float] = {}
    beginnings: dict[str, float] = {}
    lines = files("lamina.capture").joinpath("valence_words.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        score, *words = line.partition("#")[0].split() or [""]
        for word in words:
            target = beginnings if word.endswith("*") else scores
            target.setdefault(word.rstrip("*").casefold(), float(score))
    return scores, beginnings
