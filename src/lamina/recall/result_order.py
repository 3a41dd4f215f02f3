"""The order of results about the same thing: a current statement comes before one that may not hold, even if that one
shares more words with the question.

Scores stay as they are; a hit that was moved says in front of which one, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.pair import LIKELY_CHANGE_CONFIDENCE, find_pair_link
from lamina.recall.evidence_status import EvidenceStatus
from lamina.recall.marks import HitMark, MovedBefore, is_flagged
from lamina.recall.result_builder import ResultPassage

LIKELY_REPLACED, ONLY_ANNOUNCED = "which it may replace", "which is only announced"

MoveRule = Callable[[ResultPassage], tuple[MovedBefore, ...]]
"""Returns the statements that a later result belongs in front of, if any."""


def order_results(results: Sequence[ResultPassage], evidence: EvidenceStatus) -> list[ResultPassage]:
    """Return the results with those moved up that belong before a possibly outdated or only announced one."""
    ordered = list(results)
    for result in results:
        rule = _move_rule_for(result, evidence)
        if rule is not None:
            _move_up(ordered, result, rule)
    return ordered


def _move_rule_for(result: ResultPassage, evidence: EvidenceStatus) -> MoveRule | None:
    """Return the rule for what may be moved before a result, or None."""
    if HitMark.OUTDATED in result.rendered.marks:
        outdated_by = {
            newer.id: atom.id
            for atom in result.rendered.statements
            for newer in evidence.likely_successors_of(atom)
            if not _is_only_likely(newer, atom)
        }
        return lambda later: _moved_before(later, outdated_by, LIKELY_REPLACED)
    if HitMark.ANNOUNCED in result.rendered.marks:
        current = {
            predecessor.id: atom.id
            for atom in result.rendered.statements
            for predecessor in evidence.predecessors_of(atom)
        }
        return lambda later: () if is_flagged(later.rendered.marks) else _moved_before(later, current, ONLY_ANNOUNCED)
    return None


def _is_only_likely(newer: Atom, older: Atom) -> bool:
    """Return whether only a model noticed that a statement may replace another: that is shown as a mark, and recall's
    ranker orders it."""
    link = find_pair_link(newer, older)
    return link is not None and link.confidence <= LIKELY_CHANGE_CONFIDENCE


def _moved_before(later: ResultPassage, targets: Mapping[AtomId, AtomId], reason: str) -> tuple[MovedBefore, ...]:
    statement_ids = (atom.id for atom in (*later.rendered.statements, *later.statements))
    return tuple(
        MovedBefore(targets[atom_id], reason) for atom_id in dict.fromkeys(statement_ids) if atom_id in targets
    )


def _move_up(ordered: list[ResultPassage], result: ResultPassage, rule: MoveRule) -> None:
    place = next(n for n, candidate in enumerate(ordered) if candidate.key == result.key)
    for later in ordered[place + 1 :]:
        moved_before = rule(later)
        if moved_before:
            ordered.remove(later)
            ordered.insert(place, replace(later, moved_before=(*later.moved_before, *moved_before)))
            place += 1
