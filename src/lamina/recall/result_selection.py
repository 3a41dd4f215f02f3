"""Selects which candidates become hits, and their order.

Passages that say the same share one place, and so does a flood of similar untrusted texts. A current statement comes
before one that may not hold. If the caller asks for that, stale results are left out; ordinary recall ranks them lower
and hides nothing. Only what is shown is left out: a stale passage may still lead to its successor, and a fresh
statement is shown by itself if its source passage is stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lamina.atom.atom import Atom, AtomId
from lamina.atom.decisions import LIKELY_CHANGE_CONFIDENCE, find_pair_link
from lamina.atom.passage import passages_of
from lamina.atom.provenance import statements_need_review
from lamina.atom.status import Status
from lamina.lifecycle.standing import LifecycleState
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.duplicate_folding import FoldedHits, HitContent, fold_duplicates, fold_floods
from lamina.recall.evidence_status import EvidenceStatus
from lamina.recall.marks import HitMark, MovedBefore, is_flagged
from lamina.recall.passage_rendering import RenderedPassage
from lamina.recall.recall_view import RecallView
from lamina.recall.result_builder import ResultOptions, ResultPassage, build_results, render_atoms
from lamina.store.encodings import PassageKey

ARCHIVED = LifecycleState.ARCHIVED.value
STALE = frozenset({LifecycleState.STALE.value, ARCHIVED})
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


@dataclass(frozen=True, slots=True)
class OmittedHit:
    """A result that was left out: its place in the order of all candidates, and why."""

    place: int
    reason: str


SPARE_CANDIDATES = 5
"""How many more candidates than requested are read, in case some say the same."""


@dataclass(frozen=True, slots=True)
class SelectedResults:
    """The best candidates as results, in order, and the indexes of those that have a place."""

    results: Sequence[ResultPassage]
    folding: FoldedHits
    k: int
    omitted: Sequence[OmittedHit] = ()

    @property
    def selected(self) -> tuple[int, ...]:
        """The indexes of the hits, in order."""
        return self.folding.places[: self.k]

    def folded_into(self, n: int) -> tuple[PassageKey, ...]:
        """Return the keys of the results folded into one."""
        return tuple(self.results[index].key for index in self.folding.folded.get(n, ()))


def select_results(
    ordered: Sequence[Candidate], k: int, view: RecallView, options: ResultOptions, *, filter_stale: bool = False
) -> SelectedResults:
    """Select the first k results; if a flood took many places, or many were left out, more candidates are read."""
    count = k + SPARE_CANDIDATES
    while True:
        read_results, evidence = build_results(ordered, count, view, options)
        fresh, omitted = (
            drop_stale(read_results, ordered, view, include_history=options.include_history)
            if filter_stale
            else (read_results, [])
        )
        ordered_results = order_results(fresh, evidence)
        folding = fold_duplicates([_content_of(result) for result in ordered_results])
        thinned_folding = fold_floods(
            folding,
            [result.passage.text if statements_need_review(result.atom.origin) else None for result in ordered_results],
        )
        if (
            len(thinned_folding.places) >= k
            or len(read_results) < count
            or (len(thinned_folding.places) == len(folding.places) and not omitted)
        ):
            return SelectedResults(ordered_results, thinned_folding, k, omitted)
        count *= 2


def _content_of(result: ResultPassage) -> HitContent:
    """Return what a result says, for the comparison with others."""
    atom, passage = result.atom, result.passage
    if not atom.is_segment:
        return HitContent(result.rendered.text, atom.subject, atom.kind)
    at = passage.at or atom.observed_at
    return HitContent(result.rendered.text, atom.subject, atom.kind, passage.speaker or "", at.date())


def find_stale(atoms: Iterable[Atom], view: RecallView) -> dict[AtomId, str]:
    """Return the atoms that are stale or archived, with the reason; a pinned one never is, and one that was written
    since the last dream looked at it counts as fresh."""
    atoms_by_id = {atom.id: atom for atom in atoms if not atom.pinned}
    ageing_states = view.ageing_states(atoms_by_id)
    stale: dict[AtomId, str] = {}
    for atom in atoms_by_id.values():
        ageing = ageing_states.get(atom.id)
        if atom.status is Status.ARCHIVED:
            stale[atom.id] = ARCHIVED
        elif ageing is not None and ageing.revision == atom.revision and ageing.state in STALE:
            stale[atom.id] = ageing.state
    return stale


def drop_stale(
    results: Sequence[ResultPassage], ordered: Sequence[Candidate], view: RecallView, *, include_history: bool = False
) -> tuple[list[ResultPassage], list[OmittedHit]]:
    """Return the results that are not stale, in the order of their candidates, and what was left out."""
    stale = find_stale((atom for result in results for atom in (result.atom, *result.statements)), view)
    if not stale:
        return list(results), []
    place = {result.key: n for n, result in enumerate(ordered)}
    fresh = [_without_stale(stale, result) for result in results if result.atom.id not in stale]
    stale_results = [result for result in results if result.atom.id in stale]
    candidates = {candidate.key: candidate for candidate in ordered}
    fresh += _standalone_statements(
        [_without_stale(stale, result) for result in stale_results], fresh, candidates, view, include_history
    )
    omitted = [OmittedHit(place[result.candidate.key], stale[result.atom.id]) for result in stale_results]
    return sorted(fresh, key=lambda result: place[result.candidate.key]), omitted


def count_omitted(omitted: Iterable[OmittedHit], end: int | None) -> dict[str, int]:
    """Return how many results were left out before a place, by reason; None is the end."""
    return dict(
        sorted(Counter(omitted_hit.reason for omitted_hit in omitted if end is None or omitted_hit.place < end).items())
    )


def _without_stale(stale: Mapping[AtomId, str], result: ResultPassage) -> ResultPassage:
    return replace(result, statements=[statement for statement in result.statements if statement.id not in stale])


def _standalone_statements(
    stale_results: Sequence[ResultPassage],
    fresh_results: Sequence[ResultPassage],
    candidates: Mapping[PassageKey, Candidate],
    view: RecallView,
    include_history: bool,
) -> list[ResultPassage]:
    """Return the statements that were attached to stale passages as results of their own, unless another passage shows
    them."""
    shown_ids = {atom.id for result in fresh_results for atom in (result.atom, *result.statements)}
    statements = {
        atom.id: (atom, result)
        for result in reversed(stale_results)
        for atom in result.statements
        if atom.id not in shown_ids
    }
    rendered = render_atoms([atom for atom, _ in statements.values()], view, include_history=include_history)
    return [
        _standalone_result(atom, source, rendered_statement, candidates.get((atom.id, 1)))
        for (atom, source), rendered_statement in zip(statements.values(), rendered, strict=True)
    ]


def _standalone_result(
    atom: Atom, source: ResultPassage, rendered: RenderedPassage, candidate: Candidate | None
) -> ResultPassage:
    """Return a statement with its own score, or with that of its passage if no channel found it."""
    passage, replaced_passage = passages_of(atom)[0], source.replaced_passage if candidate is None else None
    return ResultPassage(candidate or source.candidate, atom, passage, rendered, [], replaced_passage)
