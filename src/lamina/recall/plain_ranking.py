"""The plain ranking: fixed constants over words alone, without index or model, so that anyone can check it by hand.

An exact match of the question counts most, then shared words, then status, then age; each is too small to outweigh the
one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.status import Status
from lamina.text.analyser import analyse
from lamina.text.normal_form import to_nfkc

EXACT_MATCH = 100.0
CONTENT_OVERLAP = 24.0
METADATA_OVERLAP = 8.0
RECENCY = 0.25

STATUS_BONUS: dict[Status, float] = {
    Status.ACTIVE: 2.0,
    Status.CONSTRAINED: 1.0,
    Status.CHALLENGED: 1.0,
    Status.ARCHIVED: 1.0,
    Status.SUPERSEDED: 0.2,
    Status.MERGED: 0.2,
    Status.INVALIDATED: 0.0,
    Status.TOMBSTONED: 0.0,
}
"""Active 2, unconfirmed, disputed or archived 1, superseded .2, withdrawn 0."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PlainResult:
    """An atom and what each term adds to its score."""

    atom: Atom
    terms: tuple[tuple[str, float], ...]

    @property
    def score(self) -> float:
        """The sum of the terms."""
        return sum(value for _, value in self.terms)


def rank_plainly(atoms: Iterable[Atom], question: str) -> list[PlainResult]:
    """Return the atoms, best first; ties go to the newest by `recorded_at`, then by id.

    `exact`: the content contains the question, ignoring case. `summary` and `metadata`: the share of the question's
    words that the content, or a value of the metadata, contains. `status`: the bonus of its status. `recency`: 1 for
    the newest of these atoms and 1/n less for each that follows. No atom is left out for a low score.
    """
    by_age = sorted(atoms, key=lambda atom: (-(atom.recorded_at or atom.observed_at).timestamp(), atom.id))
    folded_question = _fold_case(question).strip()
    words = _word_set(folded_question)
    ranked = [
        PlainResult(
            atom,
            (
                ("exact", EXACT_MATCH * (bool(folded_question) and folded_question in _fold_case(atom.content))),
                ("summary", CONTENT_OVERLAP * _overlap(words, [atom.content])),
                ("metadata", METADATA_OVERLAP * _overlap(words, list(atom.metadata.values()))),
                ("status", STATUS_BONUS[atom.status]),
                ("recency", RECENCY * (1 - n / len(by_age))),
            ),
        )
        for n, atom in enumerate(by_age)
    ]
    return sorted(ranked, key=lambda result: -result.score)


def _overlap(words: frozenset[str], texts: Sequence[str]) -> float:
    """Return the share of the words that the texts contain."""
    if not words:
        return 0.0
    text_words = frozenset[str]().union(*(_word_set(_fold_case(text)) for text in texts))
    return len(words & text_words) / len(words)


def _word_set(text: str) -> frozenset[str]:
    """Return the words of a text. Words outside ASCII go through the analyser, which knows scripts without spaces."""
    words: set[str] = set()
    for word in _WORD.findall(text):
        words.update([word] if word.isascii() else analyse(word))
    return frozenset(words)


def _fold_case(text: str) -> str:
    return to_nfkc(to_nfkc(text).casefold())
