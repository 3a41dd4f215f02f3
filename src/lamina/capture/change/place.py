"""Where a value stands in its clause: what two values have around them tells whether they fill one place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lamina.capture.change.another import word_before
from lamina.capture.change.items import ME, Item
from lamina.capture.change.told import Part
from lamina.text.closed import word_set

TOWARDS = word_set("to into onto")
PLACING = word_set("in at on behind outside near under over inside beside above below")
"""Prepositions that all tell where something is."""


def is_placed_alike(value: Sequence[Item], run: Sequence[Item], one: Part, other: Part) -> bool:
    """Whether two values stand behind the same preposition, or beside the same word; who speaks is beside anything."""
    if _head(value, one) in other.roots and _head(value, one) != _head(run, other):
        return False
    if value[0].led and value[0].led == run[0].led:
        return True
    return bool(_beside(value, one) & _beside(run, other))


def is_in_one_place(value: Sequence[Item], run: Sequence[Item], one: Part, other: Part) -> bool:
    """Whether nothing else could be meant by the place: the same word and preposition lead to both, or both stand
    before the same noun."""
    before, instead = _neighbour(value, one, -1), _neighbour(run, other, -1)
    led = value[0].led == run[0].led or {value[0].led, run[0].led} <= PLACING
    if before and instead and before.root == instead.root != ME and led:
        return True
    return _head(value, one) == _head(run, other) != ""


def is_said_again(root: str, one: Part, other: Part) -> bool:
    """Whether a word follows the same word in both: then the old value is only told once more."""
    return bool(_before(root, one) & _before(root, other) - {ME})


def _before(root: str, part: Part) -> set[str]:
    return {first.root for first, then in pairwise(part.items) if then.root == root}


def nearness(value: Sequence[Item], run: Sequence[Item], one: Part, other: Part) -> int:
    """How much speaks for a run's standing in the value's place: the word before it, the preposition, or a "to"."""
    before, instead = word_before(value[0], one), word_before(run[0], other)
    beside = 3 if before and instead and before.root == instead.root else 0
    led = 2 if value[0].led and value[0].led == run[0].led else 0
    return beside + led + (2 if run[0].led in TOWARDS else 0)


def _neighbour(run: Sequence[Item], part: Part, side: int) -> Item | None:
    """The word that says something before a run (-1) or behind it (1)."""
    at = part.items.index(run[0]) - 1 if side < 0 else part.items.index(run[-1]) + 1
    return part.items[at] if 0 <= at < len(part.items) else None


def _beside(run: Sequence[Item], part: Part) -> set[tuple[str, int]]:
    """The words around a run, and on which side each of them stands."""
    found = ((_neighbour(run, part, side), side) for side in (-1, 1))
    return {(each.root, side) for each, side in found if each is not None and (each.root != ME or side > 0)}


def _head(run: Sequence[Item], part: Part) -> str:
    """The noun that a run only describes: of "the night bus" the bus."""
    after = _neighbour(run, part, 1)
    describes = after is not None and after.at - run[-1].at <= 1 + run[-1].owns and not after.is_verb
    return after.root if after is not None and describes else ""
