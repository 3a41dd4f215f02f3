"""Selects which candidates become hits: passages that say the same share one place, stale ones can be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.trust import statements_wait
from lamina.recall.candidate import Candidate
from lamina.recall.collapse import Collapsed, Said, collapse
from lamina.recall.crowd import thinned
from lamina.recall.follow import Following, Found, with_their_words
from lamina.recall.order import in_order
from lamina.recall.stale import LeftOut, alive
from lamina.recall.view import View
from lamina.store.encodings import Key

SPARE = 5
"""How many more candidates than requested are read, in case some say the same."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The best candidates as results, in order, and the indexes of those that have a place."""

    there: Sequence[Found]
    collapsed: Collapsed
    k: int
    left_out: Sequence[LeftOut] = ()

    @property
    def taken(self) -> tuple[int, ...]:
        """The indexes of the hits, in order."""
        return self.collapsed.kept[: self.k]

    def folded(self, n: int) -> tuple[Key, ...]:
        """Return the keys of the results folded into one."""
        return tuple(self.there[index].key for index in self.collapsed.folded.get(n, ()))


def slots(
    ordered: Sequence[Candidate], k: int, view: View, following: Following, *, filter_stale: bool = False
) -> Slots:
    """Select the first k results; if a flood took many places, or many were left out, more candidates are read."""
    count = k + SPARE
    while True:
        read_results, evidence = with_their_words(ordered, count, view, following)
        fresh, omitted = (
            alive(read_results, ordered, view, history=following.history) if filter_stale else (read_results, [])
        )
        ordered_results = in_order(fresh, evidence)
        folding = collapse([_said(result) for result in ordered_results])
        thinned_folding = thinned(
            folding,
            [result.passage.text if statements_wait(result.atom.origin) else None for result in ordered_results],
        )
        if (
            len(thinned_folding.kept) >= k
            or len(read_results) < count
            or (len(thinned_folding.kept) == len(folding.kept) and not omitted)
        ):
            return Slots(ordered_results, thinned_folding, k, omitted)
        count *= 2


def _said(found: Found) -> Said:
    """Return what a result says, for the comparison with others."""
    atom, passage = found.atom, found.passage
    if not atom.is_segment:
        return Said(found.shown.text, atom.subject, atom.kind)
    at = passage.at or atom.observed_at
    return Said(found.shown.text, atom.subject, atom.kind, passage.speaker or "", at.date())
