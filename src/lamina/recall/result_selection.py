"""Selects which candidates become hits: passages that say the same share one place, stale ones can be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.trust import statements_need_review
from lamina.recall.candidate import Candidate
from lamina.recall.duplicate_flood import fold_floods
from lamina.recall.duplicate_folding import FoldedHits, HitContent, fold_duplicates
from lamina.recall.recall_view import RecallView
from lamina.recall.result_builder import ResultOptions, ResultPassage, build_results
from lamina.recall.result_order import order_results
from lamina.recall.stale_filter import OmittedHit, drop_stale
from lamina.store.encodings import PassageKey

SPARE_CANDIDATES = 5
"""How many more candidates than requested are read, in case some say the same."""


@dataclass(frozen=True, slots=True)
class SelectedResults:
    """The best candidates as results, in order, and the indexes of those that have a place."""

    results: Sequence[ResultPassage]
    folding: FoldedHits
    k: int
    omitted: Sequence[OmittedHit] = ()

    @property
    def selected(self) -> tuple[int, ...]:
        """The indexes of the hits, in order."""
        return self.folding.places[: self.k]

    def folded_into(self, n: int) -> tuple[PassageKey, ...]:
        """Return the keys of the results folded into one."""
        return tuple(self.results[index].key for index in self.folding.folded.get(n, ()))


def select_results(
    ordered: Sequence[Candidate], k: int, view: RecallView, options: ResultOptions, *, filter_stale: bool = False
) -> SelectedResults:
    """Select the first k results; if a flood took many places, or many were left out, more candidates are read."""
    count = k + SPARE_CANDIDATES
    while True:
        read_results, evidence = build_results(ordered, count, view, options)
        fresh, omitted = (
            drop_stale(read_results, ordered, view, include_history=options.include_history)
            if filter_stale
            else (read_results, [])
        )
        ordered_results = order_results(fresh, evidence)
        folding = fold_duplicates([_content_of(result) for result in ordered_results])
        thinned_folding = fold_floods(
            folding,
            [result.passage.text if statements_need_review(result.atom.origin) else None for result in ordered_results],
        )
        if (
            len(thinned_folding.places) >= k
            or len(read_results) < count
            or (len(thinned_folding.places) == len(folding.places) and not omitted)
        ):
            return SelectedResults(ordered_results, thinned_folding, k, omitted)
        count *= 2


def _content_of(result: ResultPassage) -> HitContent:
    """Return what a result says, for the comparison with others."""
    atom, passage = result.atom, result.passage
    if not atom.is_segment:
        return HitContent(result.rendered.text, atom.subject, atom.kind)
    at = passage.at or atom.observed_at
    return HitContent(result.rendered.text, atom.subject, atom.kind, passage.speaker or "", at.date())
