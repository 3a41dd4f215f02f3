"""Newest first among sentences that differ in one place only: to a question they say equally much, and only chance
similarity of the value would order them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import takewhile

from lamina.atom.passage import Passage
from lamina.atom.provenance import statements_need_review
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.recall_view import RecallView
from lamina.recall.state_terms import STATE_TERM
from lamina.text.analyser import analyse

NEWER_VALUE_TERM = "newer value"
COMPARED_COUNT = 10
"""How many of the best candidates are compared with each other."""
MATCH_TERMS = frozenset({"text", "vector", "light", "passage", "window", "session", "reranker"})
"""The terms that say how well the words match, beside those of the state model."""
MAX_WORDS, MAX_CHARACTERS = 24, 400
"""Longer passages say more than one thing."""
MIN_SHARED = 0.5
"""The least share of words that both sentences have in common, of the longer one."""


def add_newer_value_terms(candidates: Sequence[Candidate], question: str, view: RecallView) -> None:
    """Let the newer of two candidates that differ in one place exchange its match with the older one if that is better.

    A place that contains a word of the question tells them apart, so then nothing is exchanged. Links and times, which
    have terms of their own, count as before. What an untrusted source says takes no one's place.
    """
    best = sorted(candidates, key=lambda item: (-item.relevance, item.key))[:COMPARED_COUNT]
    passages = view.passages(candidate.key for candidate in best)
    asked = frozenset(analyse(question))
    short = [item for item in best if item.key in passages and len(passages[item.key][1].text) <= MAX_CHARACTERS]
    oldest_first = sorted(short, key=_said_at)
    words = {item.key: _words(passages[item.key][1]) for item in oldest_first}
    for place, older in enumerate(oldest_first):
        for newer in oldest_first[place + 1 :]:
            difference = _match(older) - _match(newer)
            if (
                difference > 0
                and older.near.speaker == newer.near.speaker
                and not statements_need_review(newer.near.origin)
                and _said_at(older) < _said_at(newer)
                and differ_in_one_place(words[older.key], words[newer.key], asked)
            ):
                for item, amount in ((newer, difference), (older, -difference)):
                    item.terms[NEWER_VALUE_TERM] = item.terms.get(NEWER_VALUE_TERM, 0.0) + amount


def differ_in_one_place(first: Sequence[str], second: Sequence[str], asked: Collection[str]) -> bool:
    """Return whether two sentences have the same words but for one place, and a question names neither variant."""
    if first == second or max(len(first), len(second)) > MAX_WORDS:
        return False
    pairs = list(zip(first, second, strict=False))
    before = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    backwards = zip(reversed(first[before:]), reversed(second[before:]), strict=False)
    after = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], backwards))
    if before + after < MIN_SHARED * max(len(first), len(second)):
        return False
    variants = {*first[before : len(first) - after], *second[before : len(second) - after]}
    shared = {*first[:before], *first[len(first) - after :]}
    return not (variants - shared) & set(asked)


def _words(passage: Passage) -> list[str]:
    return analyse(passage.text)


def _match(candidate: Candidate) -> float:
    return sum(
        amount
        for name, amount in candidate.terms.items()
        if name in MATCH_TERMS or name == NEWER_VALUE_TERM or name.startswith(STATE_TERM)
    )


def _said_at(candidate: Candidate) -> tuple[int, int, str, int]:
    near = candidate.near
    return near.at_ms, near.recorded_ms, near.session, near.position
