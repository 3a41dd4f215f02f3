"""The plain ranking: fixed constants over words alone, without index or model, so that anyone can check it by hand.

An exact match of the question counts most, then shared words, then status, then age; each is too small to outweigh the
one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lamina.atom.atom import Atom
from lamina.atom.metadata import iterate_texts
from lamina.atom.passage import Passage
from lamina.atom.provenance import is_summary, is_summary_outdated
from lamina.atom.status import Status
from lamina.recall.passage_rendering import RenderedPassage
from lamina.recall.recall_result import Hit, HitList
from lamina.recall.recall_view import RecallView, iterate_historical_atoms
from lamina.recall.request_and_question import RecallRequest
from lamina.recall.result_passages import render_atoms
from lamina.recall.result_selection import OmittedHit, count_omitted, find_stale
from lamina.store.base import AtomFilter
from lamina.text.analyser import analyse, to_nfkc

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
                ("metadata", METADATA_OVERLAP * _overlap(words, list(iterate_texts(atom.metadata)))),
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


def find_plain_hits(request: RecallRequest, view: RecallView) -> HitList:
    """Rank whole atoms with the plain ranking, without an index."""
    atom_filter = AtomFilter(
        scopes=request.scopes, memory_types=request.memory_types, layers=request.layers, agent=request.learnt_by
    )
    if view.is_historical:
        candidates = iterate_historical_atoms(view, atom_filter)
    else:
        candidates = iter(view.store.atoms.read(replace(atom_filter, statuses=request.statuses)))
    atoms = [atom for atom in candidates if request.admits(view, atom)]
    sources = view.atoms(source for atom in atoms if is_summary(atom) for source in atom.derived_from)
    outdated = {atom.id for atom in atoms if is_summary(atom) and is_summary_outdated(atom, sources)}
    searchable = [atom for atom in atoms if atom.is_searched and (atom.id not in outdated or request.includes_history)]
    ranked = rank_plainly(searchable, request.text)
    stale = find_stale((plain_result.atom for plain_result in ranked), view) if request.filter_stale else {}
    best = _select_plain_results(
        [plain_result for plain_result in ranked if plain_result.atom.id not in stale], request, view
    )
    hits = tuple(
        Hit(
            plain_result.atom,
            Passage(1, plain_result.atom.content, 0, len(plain_result.atom.content), at=plain_result.atom.observed_at),
            None,
            plain_result.terms,
            (),
            relevant=plain_result.terms[0][1] + plain_result.terms[1][1] > 0,
            marks=rendered.marks,
            shown_text=rendered.text if plain_result.atom.is_segment else None,
            transitions=rendered.transitions,
        )
        for plain_result, rendered in best
    )
    left_out = [
        OmittedHit(n, stale[plain_result.atom.id])
        for n, plain_result in enumerate(ranked)
        if plain_result.atom.id in stale
    ]
    return HitList(hits, count_omitted(left_out, ranked.index(best[-1][0]) if len(hits) == request.k else None))


def _select_plain_results(
    ranked: Sequence[PlainResult], request: RecallRequest, view: RecallView
) -> list[tuple[PlainResult, RenderedPassage]]:
    """Return the best k atoms that have text left after ended statements are removed."""
    selected: list[tuple[PlainResult, RenderedPassage]] = []
    for start in range(0, len(ranked), request.k):
        batch = ranked[start : start + request.k]
        rendered_batch = render_atoms(
            [plain_result.atom for plain_result in batch], view, include_history=request.includes_history
        )
        selected += [
            (plain_result, rendered)
            for plain_result, rendered in zip(batch, rendered_batch, strict=True)
            if rendered.has_text_left
        ]
        if len(selected) >= request.k:
            break
    return selected[: request.k]
