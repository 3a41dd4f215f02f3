"""The plain ranking: fixed constants over words alone, no index and no model; the same for whoever checks it by hand.

An exact find of the question, then shared words, then status, then age: each is smaller than what stands before it can
be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.status import Status
from lamina.text.analyse import analyse
from lamina.text.normal import compatible

EXACT = 100.0
SUMMARY = 24.0
METADATA = 8.0
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
"""Live 2, open or laid aside 1, replaced .2, withdrawn 0."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Ranked:
    """An atom and what each term adds to its score."""

    atom: Atom
    terms: tuple[tuple[str, float], ...]

    @property
    def score(self) -> float:
        return sum(value for _, value in self.terms)


def plain(atoms: Iterable[Atom], question: str) -> list[Ranked]:
    """The atoms, best first; ties by `recorded_at`, the youngest first, then by id.

    `exact`: the question stands in the content, whatever the case. `summary` and `metadata`: the part of the question's
    words that the content, or any value of the metadata, holds. `status`: the bonus of its status. `recency`: 1 for the
    youngest of these atoms and less by 1/n for each that follows. Nothing is left out for a low score.
    """
    by_age = sorted(atoms, key=lambda atom: (-(atom.recorded_at or atom.observed_at).timestamp(), atom.id))
    asked = _folded(question).strip()
    words = _words(asked)
    ranked = [
        Ranked(
            atom,
            (
                ("exact", EXACT * (bool(asked) and asked in _folded(atom.content))),
                ("summary", SUMMARY * _overlap(words, [atom.content])),
                ("metadata", METADATA * _overlap(words, list(atom.metadata.values()))),
                ("status", STATUS_BONUS[atom.status]),
                ("recency", RECENCY * (1 - n / len(by_age))),
            ),
        )
        for n, atom in enumerate(by_age)
    ]
    return sorted(ranked, key=lambda each: -each.score)


def _overlap(words: frozenset[str], texts: Sequence[str]) -> float:
    """The part of the words that stands in the texts."""
    if not words:
        return 0.0
    held = frozenset[str]().union(*(_words(_folded(text)) for text in texts))
    return len(words & held) / len(words)


def _words(folded: str) -> frozenset[str]:
    """The words of a text. What is not ASCII goes through the analyser, which knows scripts without spaces."""
    found: set[str] = set()
    for word in _WORD.findall(folded):
        found.update([word] if word.isascii() else analyse(word))
    return frozenset(found)


def _folded(text: str) -> str:
    return compatible(compatible(text).casefold())
