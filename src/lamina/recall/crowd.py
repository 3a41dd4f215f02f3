"""A flood of similar untrusted texts takes one place: repeating a text a thousand times gains nothing.

Two sentences that differ in one word may be two facts, so trusted texts keep their places. Four or more untrusted texts
that are nearly alike are a flood; the one that fits the question best represents them.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.recall.collapse import Collapsed
from lamina.text.analyse import analyse

FEWEST = 4
"""This many similar texts are a flood."""
LEAST_WORDS = 6
ALIKE_TENTHS = 7


def thinned(slots: Collapsed, unvouched: Sequence[str | None]) -> Collapsed:
    """Return the places with every flood in one place. `untrusted_texts` holds the text of each hit from an untrusted
    origin, None for the others."""
    stems = {n: frozenset(analyse(text)) for n in slots.kept if (text := unvouched[n]) is not None}
    floods: list[list[int]] = []
    for n, tokens in stems.items():
        if len(tokens) < LEAST_WORDS:
            continue
        flood = next((existing for existing in floods if _alike(stems[existing[0]], tokens)), None)
        if flood is None:
            floods.append([n])
        else:
            flood.append(n)
    folded = {n: flood[0] for flood in floods if len(flood) >= FEWEST for n in flood[1:]}
    if not folded:
        return slots
    groups = {n: [*slots.folded.get(n, ())] for n in slots.kept if n not in folded}
    for n, first in folded.items():
        groups[first] += [n, *slots.folded.get(n, ())]
    return Collapsed(tuple(groups), {n: group for n, group in groups.items() if group})


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two token sets overlap enough to be similar."""
    return 10 * len(one & other) >= ALIKE_TENTHS * len(one | other)
