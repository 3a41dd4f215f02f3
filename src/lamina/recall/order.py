"""The order among hits that speak of the same: what holds stands before what may not, though that shares more words.

Each score stays what it is; a hit that was moved says in front of which, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.pair import LIKELY_CHANGE, link_between
from lamina.recall.follow import Found
from lamina.recall.grounds import Grounds
from lamina.recall.marks import Before, Mark, is_flagged

REPLACED, ANNOUNCED = "which it may replace", "which is only announced"

Better = Callable[[Found], tuple[Before, ...]]
"""In front of which statements a later hit stands, if it does."""


def in_order(found: Sequence[Found], grounds: Grounds) -> list[Found]:
    """Return the hits with those moved up that stand before what may be outdated or is only announced."""
    ordered = list(found)
    for each in found:
        better = _better_than(each, grounds)
        if better is not None:
            _move_up(ordered, each, better)
    return ordered


def _better_than(hit: Found, grounds: Grounds) -> Better | None:
    """What stands before a hit, if anything may."""
    if Mark.OUTDATED in hit.shown.marks:
        doubted = {
            newer.id: atom.id
            for atom in hit.shown.says
            for newer in grounds.newer(atom)
            if not _is_only_likely(newer, atom)
        }
        return lambda later: _said(later, doubted, REPLACED)
    if Mark.ANNOUNCED in hit.shown.marks:
        holding = {each.id: atom.id for atom in hit.shown.says for each in grounds.replaced(atom)}
        return lambda later: () if is_flagged(later.shown.marks) else _said(later, holding, ANNOUNCED)
    return None


def _is_only_likely(newer: Atom, older: Atom) -> bool:
    """Whether only a model noticed that a statement may replace another: that labels, and recall's ranker orders."""
    link = link_between(newer, older)
    return link is not None and link.confidence <= LIKELY_CHANGE


def _said(later: Found, wanted: Mapping[AtomId, AtomId], why: str) -> tuple[Before, ...]:
    said = (atom.id for atom in (*later.shown.says, *later.statements))
    return tuple(Before(wanted[fromkey], why) for fromkey in dict.fromkeys(said) if fromkey in wanted)


def _move_up(ordered: list[Found], hit: Found, better: Better) -> None:
    at = next(n for n, each in enumerate(ordered) if each.key == hit.key)
    for later in ordered[at + 1 :]:
        before = better(later)
        if before:
            ordered.remove(later)
            ordered.insert(at, replace(later, before=(*later.before, *before)))
            at += 1
