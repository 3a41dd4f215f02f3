"""Whether two sentences that look alike are about different people, owners or things of one sort."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lamina.capture.change.cues import Cue
from lamina.capture.change.items import ME, Item, root_of
from lamina.capture.change.told import Part
from lamina.text.closed import KIN, word_set
from lamina.text.tokens import TokenKind

_OFFICES = frozenset(map(root_of, word_set("""
    lead run manage coach train drive handle chair captain head supply sign host call hold clean look cater deliver do
    teach direct conduct edit organise organize supervise oversee staff open close cook bake serve print repair service
    keep guard answer cover
""")))  # fmt: skip
"""What usually one does for all: whoever does it next does it instead."""
_KIN_ROOTS = frozenset(root_of(word) for word in KIN)
_SUBJECT, _SUBJECT_WORDS = 2, 3
_ROLES = {"at": "in", "on": "in", "inside": "in", "during": "in"}
"""Prepositions that tell of a place or a time alike."""


def is_subject_of_another(value: Sequence[Item], part: Part, shared: Sequence[Item], cue: Cue) -> bool:
    """Whether the value is whom the sentence is about, and what it says of them is no office only one can hold: two
    people may live in one town."""
    if not part.verb_at or value[0].at > part.verb_at or cue >= Cue.STRONG:
        return False
    said = [each for each in part.items if each.at >= part.verb_at and each.root != ME]
    if not said or said[0].root in _OFFICES:
        return False
    return said[0].article or said[0].is_verb or any(each.is_typed and each in shared for each in said)


def is_number_of(value: Sequence[Item], part: Part) -> bool:
    """Whether a number tells which one is meant, not how many: room 12, tea number 3."""
    before = word_before(value[0], part)
    numbered = value[0].kind is TokenKind.NUMBER and before is not None and not before.is_verb and before.root != ME
    return numbered and value[0].at <= (part.verb_at or _SUBJECT_WORDS)


def cuts_a_name(value: Sequence[Item], among: Sequence[Item], shared: Sequence[Item]) -> bool:
    """Whether a value is only part of a longer name whose other part both sentences have."""
    names = {each.root for each in shared if each.kind is TokenKind.NAME}
    if value[0].kind is not TokenKind.NAME or not names:
        return False
    beside = {value[0].at - 1, value[-1].at + 1}
    return any(each.at in beside and each.root in names for each in among)


def is_about_another(
    one: Part, other: Part, value: Sequence[Item], shared: Sequence[Item], lost: Sequence[Item], extra: Sequence[Item],
    *, told: bool = False,
) -> bool:  # fmt: skip
    """Whether the two speak of different people, owners or things of one sort; what something has is another thing,
    unless a change is `told` of."""
    if not told and _is_of_it(one, other):
        return True
    first = {each.root for n, each in enumerate(other.items) if n < _SUBJECT or each.at < other.verb_at}
    named = any(each.kind is TokenKind.NAME or each.opens for each in shared)
    if not named and ({each.root for each in lost} & _KIN_ROOTS or {each.root for each in extra} & first & _KIN_ROOTS):
        return True
    if any(each.root == ME for each in lost) and any(each.kind is TokenKind.NAME or each.opens for each in extra):
        return True
    names = [each for each in lost if each.kind is TokenKind.NAME and each.at < value[0].at]
    if (names and any(each.kind is TokenKind.NAME for each in extra)) or any(each.owns for each in extra):
        return True
    if any(each.owns and each.at < value[0].at for each in lost) or _is_kin_of(one, other):
        return True
    if _is_swapped(lost, extra):
        return True
    return _other_modifier(one.items, other.items, shared, lost, extra)


def _is_of_it(one: Part, other: Part) -> bool:
    """Whether the new sentence is about what belongs to whom the old one is about: Ada goes swimming, Ada's teacher."""
    owning = {each.root for each in one.items if each.owns}
    for owner, owned in pairwise(other.items):
        if owner.owns and owner.root in one.roots and owner.root not in owning and owned.root not in one.roots:
            return True
    return False


def _is_kin_of(one: Part, other: Part) -> bool:
    """Whether the new sentence is about somebody who belongs to whom the old one is about: my aunt, my aunt's son."""
    owners = {each.root for each in other.items if each.owns} - {each.root for each in one.items if each.owns}
    mine = bool(owners & one.roots)
    return mine and bool({each.root for each in other.items} & _KIN_ROOTS - one.roots)


def _is_swapped(lost: Sequence[Item], extra: Sequence[Item]) -> bool:
    """Whether something else than the value stands behind the same preposition: in the loft, in the workshop."""
    gone = {_ROLES.get(each.led, each.led) for each in lost if each.led and not each.is_verb}
    return any(each.led and not each.is_verb and _ROLES.get(each.led, each.led) in gone for each in extra)


def _other_modifier(
    one: Sequence[Item], other: Sequence[Item], shared: Sequence[Item], lost: Sequence[Item], extra: Sequence[Item]
) -> bool:
    """Whether one head has one modifier there and another here: the north gate, the south gate."""
    for head in (each for each in shared if each.root != ME):
        before = _before(head.root, one)
        instead = _before(head.root, other)
        if before in lost and instead in extra:
            return True
    return False


def _before(root: str, found: Sequence[Item]) -> Item | None:
    for one, other in pairwise(found):
        if other.root == root and other.at - one.at == 1:
            return one
    return None


def word_before(item: Item, part: Part) -> Item | None:
    return next((each for each in part.items if each.at == item.at - 1), None)
