"""Searches of which only some candidates count: those that answer as it was at another time, or those that are not
stale. They widen until enough of them count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import passage_digest, passage_of
from lamina.atom.status import Status
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.candidate_search import CandidateSearch
from lamina.recall.recall_view import ONCE_CURRENT, RecallView, status_at, was_said
from lamina.recall.request_and_question import RecallRequest
from lamina.recall.result_selection import STALE
from lamina.store.encodings import PassageKey
from lamina.store.passages import PassageFilter

WIDEN_FACTOR = 4
"""The factor by which the search widens if too few results count."""
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


def build_historical_filter(request: RecallRequest, view: RecallView) -> PassageFilter:
    """Return the filter for the search. If the present state of the atoms decides, the index can filter by itself."""
    known_at = request.view_time.known_at
    current_then = ONCE_CURRENT if request.only_statuses is None else frozenset({Status.ACTIVE})
    if known_at is None and request.statuses <= current_then:
        return PassageFilter(
            scopes=request.scopes,
            statuses=ONCE_CURRENT,
            memory_types=request.memory_types,
            valid_at=view.at,
            true_at=view.at,
            agent=request.learnt_by,
            layers=request.layers,
        )
    return PassageFilter(
        scopes=request.scopes,
        statuses=frozenset(Status),
        memory_types=frozenset(MemoryType),
        valid_at=view.at,
        known_by=known_at or _END_OF_TIME,
        agent=request.learnt_by,
    )


def find_historical_candidates(
    search: CandidateSearch, view: RecallView, request: RecallRequest, enough: int
) -> list[Candidate]:
    """Return passages that answer as they were then. The search widens until there are enough or nothing more is
    found."""
    result_count = -1
    while True:
        candidates = search.find_candidates()
        historical_candidates = list(_select_historical_candidates(candidates, search.former_texts, view, request))
        result_count, previous_count = len(candidates) + len(search.former_texts), result_count
        if len(historical_candidates) >= enough or result_count == previous_count or len(candidates) < search.pool:
            return historical_candidates
        search.widen(WIDEN_FACTOR)


def _select_historical_candidates(
    candidates: Sequence[Candidate],
    former_texts: Mapping[PassageKey, Mapping[bytes, Candidate]],
    view: RecallView,
    request: RecallRequest,
) -> Iterator[Candidate]:
    """Yield the candidates whose atoms may answer as they were then."""
    candidates_by_key: dict[PassageKey, Candidate | None] = {
        **dict.fromkeys(former_texts),
        **{candidate.key: candidate for candidate in candidates},
    }
    atoms = {
        atom_id: atom
        for atom_id, atom in view.atoms(key[0] for key in candidates_by_key).items()
        if atom.is_searched and request.admits(view, atom)
    }
    for key, candidate in candidates_by_key.items():
        if key[0] in atoms:
            historical_candidate = _historical_candidate(atoms[key[0]], key, candidate, former_texts.get(key, {}), view)
            if historical_candidate is not None:
                yield historical_candidate


def _historical_candidate(
    atom: Atom, key: PassageKey, candidate: Candidate | None, former_texts: Mapping[bytes, Candidate], view: RecallView
) -> Candidate | None:
    """Return a candidate with the words it had then; one that was found by words of another time must also be similar
    in meaning."""
    passage = passage_of(atom, key[1])
    if passage is None or not was_said(view, atom, passage):
        return None
    digest = passage_digest(atom, passage)
    if candidate is None or (candidate.near.digest != digest and digest in former_texts):
        candidate = former_texts.get(digest)
    elif candidate.near.digest != digest or (former_texts and candidate.match is None):
        candidate = replace(candidate, match=None) if candidate.near.cosine > 0 else None
    if candidate is not None:
        candidate.near = candidate.near._replace(digest=digest, status=status_at(view, atom), layer=atom.layer)
    return candidate


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


def _select_fresh(candidates: Sequence[Candidate], view: RecallView) -> list[Candidate]:
    ageing_states = view.ageing_states(candidate.key[0] for candidate in candidates)
    stale = {atom_id for atom_id, ageing in ageing_states.items() if ageing.state in STALE}
    stale |= {candidate.key[0] for candidate in candidates if candidate.near.status is Status.ARCHIVED}
    hidden = {atom_id for atom_id, atom in view.atoms(stale).items() if not atom.pinned}
    return [candidate for candidate in candidates if candidate.key[0] not in hidden]
