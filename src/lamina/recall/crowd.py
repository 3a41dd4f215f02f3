"""A crowd of likenesses takes one slot: what nobody vouches for gains nothing by being said a thousand times.

Two sentences that differ in a word may be two facts, so that among trusted words each keeps its slot. Untrusted words
that come in fours and more, all nearly alike, are a flood: the one that fits the question best stands for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.recall.collapse import Collapsed
from lamina.text.analyse import analyse

FEWEST = 4
"""So many likenesses are a crowd."""
LEAST_WORDS = 6
ALIKE_TENTHS = 7


def thinned(slots: Collapsed, unvouched: Sequence[str | None]) -> Collapsed:
    """The slots with every crowd in one; `unvouched` holds the words of a hit where nobody vouches for them."""
    stems = {n: frozenset(analyse(text)) for n in slots.kept if (text := unvouched[n]) is not None}
    crowds: list[list[int]] = []
    for n, own in stems.items():
        if len(own) < LEAST_WORDS:
            continue
        crowd = next((each for each in crowds if _alike(stems[each[0]], own)), None)
        if crowd is None:
            crowds.append([n])
        else:
            crowd.append(n)
    folded = {n: crowd[0] for crowd in crowds if len(crowd) >= FEWEST for n in crowd[1:]}
    if not folded:
        return slots
    groups = {n: [*slots.folded.get(n, ())] for n in slots.kept if n not in folded}
    for n, first in folded.items():
        groups[first] += [n, *slots.folded.get(n, ())]
    return Collapsed(tuple(groups), {n: group for n, group in groups.items() if group})


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return 10 * len(one & other) >= ALIKE_TENTHS * len(one | other)
