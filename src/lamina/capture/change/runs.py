"""Words that stand together: a name of several words, a day with its hour, a number with what follows it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lamina.capture.change.items import CONTACT, ME, Item
from lamina.text.closed import word_set
from lamina.text.tokens import TokenKind

COUNTS = frozenset({TokenKind.NUMBER, TokenKind.MONEY, TokenKind.TIME, TokenKind.DATE}) | CONTACT
_WHENS = frozenset({TokenKind.DATE, TokenKind.TIME, TokenKind.NUMBER})
_NEAR_KINDS = (frozenset({TokenKind.DATE, TokenKind.TIME}), frozenset({TokenKind.NUMBER, TokenKind.MONEY}))
_AFTER_OWNER = 2
_WITHIN_NAMES = word_set("and & of the de la")


def runs_of(found: Sequence[Item], among: Sequence[Item]) -> list[tuple[Item, ...]]:
    """Items that stand side by side, only small words between them; what has a sort of its own stands by itself."""
    runs: list[list[Item]] = []
    after = dict(pairwise(among))
    for each in found:
        last = runs[-1][-1] if runs else None
        near = last is not None and after.get(last) == each and (each.at - last.at == 1 or each.joined)
        if last is not None and near and _go_together(last, each):
            runs[-1].append(each)
        else:
            runs.append([each])
    return [tuple(run) for run in runs]


def _go_together(one: Item, other: Item) -> bool:
    if one.root == ME or other.root == ME:
        return False
    if one.kind is other.kind or {one.kind, other.kind} <= _WHENS:
        return True
    if one.owns and one.kind is TokenKind.NAME and other.at - one.at == _AFTER_OWNER:
        return True
    if (one.opens or one.kind is TokenKind.NAME) and other.kind is TokenKind.NAME:
        return other.at - one.at == 1 or other.led in _WITHIN_NAMES
    named = {one.kind, other.kind} <= {TokenKind.NAME, TokenKind.WORD, TokenKind.NUMBER}
    return named and other.at - one.at == 1 and TokenKind.NAME in (one.kind, other.kind)


def is_near(item: Item, head: Item) -> bool:
    words = {TokenKind.NAME, TokenKind.WORD}
    return {item.kind, head.kind} <= words or any({item.kind, head.kind} <= near for near in _NEAR_KINDS)
