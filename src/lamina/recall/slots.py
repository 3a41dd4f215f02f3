"""Who of the candidates has a slot among the hits: one for what says the same, none for what is to be left out."""

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
"""How many more candidates than asked for are read, in case some say the same."""


@dataclass(frozen=True, slots=True)
class Slots:
    """The best candidates with their words, in order, and the places of those that have a slot."""

    there: Sequence[Found]
    collapsed: Collapsed
    k: int
    left_out: Sequence[LeftOut] = ()

    @property
    def taken(self) -> tuple[int, ...]:
        """Those of the hits, in order."""
        return self.collapsed.kept[: self.k]

    def folded(self, n: int) -> tuple[Key, ...]:
        """What says the same as one of them."""
        return tuple(self.there[other].key for other in self.collapsed.folded.get(n, ()))


def slots(
    ordered: Sequence[Candidate], k: int, view: View, following: Following, *, filter_stale: bool = False
) -> Slots:
    """The first candidates and who of them has a slot; where a crowd took many, or many were left out, those behind
    are looked at too."""
    many = k + SPARE
    while True:
        found, grounds = with_their_words(ordered, many, view, following)
        kept, left_out = alive(found, ordered, view, history=following.history) if filter_stale else (found, [])
        there = in_order(kept, grounds)
        every = collapse([_said(each) for each in there])
        thin = thinned(every, [each.passage.text if statements_wait(each.atom.origin) else None for each in there])
        if len(thin.kept) >= k or len(found) < many or (len(thin.kept) == len(every.kept) and not left_out):
            return Slots(there, thin, k, left_out)
        many *= 2


def _said(found: Found) -> Said:
    atom, passage = found.atom, found.passage
    if not atom.is_segment:
        return Said(found.shown.text, atom.subject, atom.kind)
    at = passage.at or atom.observed_at
    return Said(found.shown.text, atom.subject, atom.kind, passage.speaker or "", at.date())
