"""The order of results about the same thing: a current statement comes before one that may not hold, even if that one
shares more words with the question.

Scores stay as they are; a hit that was moved says in front of which one, and why.
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
"""Returns the statements that a later result belongs in front of, if any."""


def in_order(found: Sequence[Found], grounds: Grounds) -> list[Found]:
    """Return the results with those moved up that belong before a possibly outdated or only announced one."""
    ordered = list(found)
    for result in found:
        rule = _better_than(result, grounds)
        if rule is not None:
            _move_up(ordered, result, rule)
    return ordered


def _better_than(hit: Found, grounds: Grounds) -> Better | None:
    """Return the rule for what may be moved before a result, or None."""
    if Mark.OUTDATED in hit.shown.marks:
        outdated_by = {
            newer.id: atom.id
            for atom in hit.shown.says
            for newer in grounds.newer(atom)
            if not _is_only_likely(newer, atom)
        }
        return lambda later: _said(later, outdated_by, REPLACED)
    if Mark.ANNOUNCED in hit.shown.marks:
        current = {predecessor.id: atom.id for atom in hit.shown.says for predecessor in grounds.replaced(atom)}
        return lambda later: () if is_flagged(later.shown.marks) else _said(later, current, ANNOUNCED)
    return None


def _is_only_likely(newer: Atom, older: Atom) -> bool:
    """Return whether only a model noticed that a statement may replace another: that is shown as a mark, and recall's
    ranker orders it."""
    link = link_between(newer, older)
    return link is not None and link.confidence <= LIKELY_CHANGE


def _said(later: Found, wanted: Mapping[AtomId, AtomId], why: str) -> tuple[Before, ...]:
    statement_ids = (atom.id for atom in (*later.shown.says, *later.statements))
    return tuple(Before(wanted[atom_id], why) for atom_id in dict.fromkeys(statement_ids) if atom_id in wanted)


def _move_up(ordered: list[Found], hit: Found, better: Better) -> None:
    place = next(n for n, candidate in enumerate(ordered) if candidate.key == hit.key)
    for later in ordered[place + 1 :]:
        moved_before = better(later)
        if moved_before:
            ordered.remove(later)
            ordered.insert(place, replace(later, before=(*later.before, *moved_before)))
            place += 1
