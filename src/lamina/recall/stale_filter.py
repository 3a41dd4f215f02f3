"""Leaves out stale results, if the caller asks for that; ordinary recall ranks them lower and hides nothing.

Only what is shown is left out. A stale passage may still lead to its successor, and a fresh statement is shown by
itself if its source passage is stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.passage import passages_of
from lamina.atom.status import Status
from lamina.lifecycle.lifecycle_state import LifecycleState
from lamina.recall.candidate import Candidate
from lamina.recall.candidate_search import CandidateSearch
from lamina.recall.passage_rendering import RenderedPassage
from lamina.recall.past_candidates import WIDEN_FACTOR
from lamina.recall.recall_view import RecallView
from lamina.recall.result_builder import ResultPassage, render_atoms
from lamina.store.encodings import PassageKey

ARCHIVED = LifecycleState.ARCHIVED.value
STALE = frozenset({LifecycleState.STALE.value, ARCHIVED})


@dataclass(frozen=True, slots=True)
class OmittedHit:
    """A result that was left out: its place in the order of all candidates, and why."""

    place: int
    reason: str


def find_stale(atoms: Iterable[Atom], view: RecallView) -> dict[AtomId, str]:
    """Return the atoms that are stale or archived, with the reason; one that was written since the last dream looked at
    it counts as fresh."""
    atoms_by_id = {atom.id: atom for atom in atoms}
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


def find_fresh_candidates(search: CandidateSearch, view: RecallView, enough: int) -> list[Candidate]:
    """Return the candidates, and further ones if so many are stale that too few would be left."""
    first = candidates = search.find_candidates()
    fresh, previous_count = _select_fresh(candidates, view), -1
    while len(fresh) < min(enough, len(first)) and len(candidates) >= search.pool and len(candidates) > previous_count:
        previous_count = len(candidates)
        search.widen(WIDEN_FACTOR)
        candidates = search.find_candidates()
        fresh = _select_fresh(candidates, view)
    # The nearest stale candidates may lead to their successors; the others would be compared for nothing.
    keys = {item.key for item in (*first, *fresh)}
    return [candidate for candidate in candidates if candidate.key in keys]


def count_omitted(omitted: Iterable[OmittedHit], end: int | None) -> dict[str, int]:
    """Return how many results were left out before a place, by reason; None is the end."""
    return dict(
        sorted(Counter(omitted_hit.reason for omitted_hit in omitted if end is None or omitted_hit.place < end).items())
    )


def _select_fresh(candidates: Sequence[Candidate], view: RecallView) -> list[Candidate]:
    ageing_states = view.ageing_states(candidate.key[0] for candidate in candidates)
    stale = {atom_id for atom_id, ageing in ageing_states.items() if ageing.state in STALE}
    return [
        candidate
        for candidate in candidates
        if candidate.near.status is not Status.ARCHIVED and candidate.key[0] not in stale
    ]


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
