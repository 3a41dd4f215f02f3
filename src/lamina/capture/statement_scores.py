"""Scores of a new statement: its surprise, how little it resembles what is known, and its valence, how pleasant it is.

Valence is computed by a small list of words in seven languages; text without a word of the list has none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from math import exp, sqrt

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.provenance import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.models.embedder import Embedder
from lamina.store.base import Store
from lamina.store.passages import NearPassage, Partition, PassageFilter, VectorQuery
from lamina.text.analyser import to_nfkc
from lamina.vectors.integer_vectors import to_query_vector

NEAREST_STATEMENTS = 5
"""How many of the nearest statements are compared."""
MIDPOINT = 0.35
"""The distance at which surprise is one half."""
MODEL_MIDPOINTS = {"wordllama": 0.40}
"""The same for models with larger distances: about the median distance of a statement from its nearest neighbour."""
STEEPNESS = 10.0
IMPORTANCE_WEIGHT = 0.6
"""How much surprise changes the importance of a statement."""
URGENT_SURPRISE = 0.5
"""A queued turn with more surprise is read immediately."""
MIN_IMPORTANCE = 0.05
"""The importance that the most familiar statement keeps."""

_COMPARED_TYPES = frozenset({MemoryType.FACT, MemoryType.PROCEDURE})


@dataclass(frozen=True, slots=True)
class SurpriseScorer:
    """Scores the surprise of statements by an embedding model; without a model there is no score."""

    store: Store
    embedder: Embedder | None
    now: datetime

    def score(self, text: str, scope: Scope) -> float | None:
        """Return the surprise of a text from 0 (known) to 1, or None if there is nothing to compare with."""
        if self.embedder is None:
            return None
        nearest = self.store.passages.find_nearest(
            VectorQuery(
                filter=PassageFilter(
                    scopes=(scope,), statuses=frozenset(RECALL_WEIGHT), memory_types=_COMPARED_TYPES, valid_at=self.now
                ),
                model=self.embedder.model.id,
                query_vector=to_query_vector(self.embedder.encode_question(text).vector),
                limit=NEAREST_STATEMENTS,
                partition=Partition(statuses=tuple(frozenset({status}) for status in RECALL_WEIGHT)),
            )
        )
        nearest.sort(key=lambda passage: (-_weigh(passage), passage.key))
        distances = [1.0 - passage.cosine for passage in nearest[:NEAREST_STATEMENTS]]
        model_family = self.embedder.model.id.partition("-")[0]
        return surprise_from_distances(distances, MODEL_MIDPOINTS.get(model_family, MIDPOINT)) if distances else None

    def apply(self, atom: Atom) -> Atom:
        """Return the statement with its surprise and an importance adjusted by it."""
        surprise = self.score(atom.content, atom.scope)
        if surprise is None:
            return atom
        importance = min(1.0, max(MIN_IMPORTANCE, atom.importance + IMPORTANCE_WEIGHT * (surprise - 0.5)))
        return atom.with_(surprise=round(surprise, 3), importance=round(importance, 3))


def _weigh(passage: NearPassage) -> float:
    """Return the cosine of a statement with the weight of its status; less weight must not raise one below 0."""
    return passage.cosine * RECALL_WEIGHT[passage.status] if passage.cosine > 0 else passage.cosine


def surprise_from_distances(distances: Sequence[float], midpoint: float = MIDPOINT) -> float:
    """Return the surprise at these distances from the nearest known statements; a copy of one is no surprise."""
    mean, nearest = sum(distances) / len(distances), min(distances)
    return 1.0 / (1.0 + exp(-STEEPNESS * (min(mean, nearest) - midpoint)))


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
