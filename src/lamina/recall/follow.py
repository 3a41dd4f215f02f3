"""Statements stand with the words they were taken from: one slot for both, ranked by the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.passage import Passage
from lamina.recall.candidate import Candidate, passages_read
from lamina.store.base import Store
from lamina.store.encodings import Key
from lamina.text.analyse import QUESTION_STOP, analyse

FOREIGN = 1
"""A statement that says more words than this which its source does not say stands for itself: somebody edited it."""


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its atom and passage, and the statements that were taken from it, best first."""

    candidate: Candidate
    atom: Atom
    passage: Passage
    statements: list[Atom]


def with_their_words(ordered: Sequence[Candidate], many: int, store: Store) -> list[Found]:
    """The best candidates, so far as they are still there.

    A statement whose own words are candidates too goes with them: said twice it would push others out, and its words
    are what the ranking was made for. One whose words are not at hand, or no longer say it, stands for itself.
    """
    known = {each.key: each for each in ordered}
    read: dict[Key, tuple[Atom, Passage]] = {}
    found: dict[Key, Found] = {}
    waiting: dict[Key, list[Atom]] = {}
    for start in range(0, len(ordered), many):
        batch = ordered[start : start + many]
        read |= passages_read([each for each in batch if each.key not in read], store)
        sources = {key for each in batch if each.key in read for key in _rests_on(read[each.key][0])} & known.keys()
        read |= passages_read([known[key] for key in sorted(sources - read.keys())], store)
        for candidate in (each for each in batch if each.key in read):
            atom, passage = read[candidate.key]
            words = [
                key for key in _rests_on(atom) if key in read and _says(read[key][1].text, atom.content, atom.subject)
            ]
            if not words:
                found[candidate.key] = Found(candidate, atom, passage, waiting.pop(candidate.key, []))
            for key in words:
                (found[key].statements if key in found else waiting.setdefault(key, [])).append(atom)
        if len(found) >= many:
            break
    return list(found.values())[:many]


@lru_cache(maxsize=4096)
def _says(words: str, statement: str, subject: str) -> bool:
    """Whether words say what a statement says: it may lose who speaks and gain a date, not much more."""
    foreign = frozenset(analyse(statement)) - frozenset(analyse(subject)) - frozenset(analyse(words)) - _NEVER_FOREIGN
    return sum(not token.isdecimal() for token in foreign) <= FOREIGN


def _rests_on(atom: Atom) -> list[Key]:
    return list(dict.fromkeys((AtomId(each.segment), each.passage) for each in atom.evidence))


_DATES = """
    january february march april may june july august september october november december
    week month year night morning evening
"""
_NEVER_FOREIGN = QUESTION_STOP | frozenset(analyse(_DATES))
