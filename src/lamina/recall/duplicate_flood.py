"""A flood of similar untrusted texts takes one place: repeating a text a thousand times gains nothing.

Two sentences that differ in one word may be two facts, so trusted texts keep their places. Four or more untrusted texts
that are nearly alike are a flood; the one that fits the question best represents them.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.recall.duplicate_folding import FoldedHits
from lamina.text.analyser import analyse

MIN_FLOOD_SIZE = 4
"""This many similar texts are a flood."""
MIN_WORDS = 6
SIMILAR_TENTHS = 7


def fold_floods(folding: FoldedHits, untrusted_texts: Sequence[str | None]) -> FoldedHits:
    """Return the places with every flood in one place. `untrusted_texts` holds the text of each hit from an untrusted
    origin, None for the others."""
    stems = {n: frozenset(analyse(text)) for n in folding.places if (text := untrusted_texts[n]) is not None}
    floods: list[list[int]] = []
    for n, tokens in stems.items():
        if len(tokens) < MIN_WORDS:
            continue
        flood = next((existing for existing in floods if _are_similar(stems[existing[0]], tokens)), None)
        if flood is None:
            floods.append([n])
        else:
            flood.append(n)
    folded = {n: flood[0] for flood in floods if len(flood) >= MIN_FLOOD_SIZE for n in flood[1:]}
    if not folded:
        return folding
    groups = {n: [*folding.folded.get(n, ())] for n in folding.places if n not in folded}
    for n, first in folded.items():
        groups[first] += [n, *folding.folded.get(n, ())]
    return FoldedHits(tuple(groups), {n: group for n, group in groups.items() if group})


def _are_similar(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether two token sets overlap enough to be similar."""
    return 10 * len(first & second) >= SIMILAR_TENTHS * len(first | second)
