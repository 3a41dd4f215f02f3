"""Candidates for a question about another time: everything is searched, and what answers as it was then is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import passage_digest, passage_of
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.candidate import Candidate
from lamina.recall.candidate_search import CandidateFilter, CandidateSearch
from lamina.recall.query_time import ONCE_CURRENT, QueryTime, is_admitted, status_at, was_said
from lamina.recall.recall_view import RecallView
from lamina.store.encodings import PassageKey

WIDEN_FACTOR = 4
"""The factor by which the search widens if too few results count."""
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


def build_past_filter(
    query_time: QueryTime,
    view: RecallView,
    scopes: tuple[Scope, ...],
    statuses: frozenset[Status],
    memory_types: frozenset[MemoryType],
) -> CandidateFilter:
    """Return the filter for the search. If the present state of the atoms decides, the index can filter by itself."""
    if query_time.known_at is None and statuses <= ONCE_CURRENT:
        return CandidateFilter(
            scopes=scopes, statuses=ONCE_CURRENT, memory_types=memory_types, valid_at=view.at, true_at=view.at
        )
    return CandidateFilter(
        scopes=scopes,
        statuses=frozenset(Status),
        memory_types=frozenset(MemoryType),
        valid_at=view.at,
        known_by=query_time.known_at or _END_OF_TIME,
    )


def find_past_candidates(
    search: CandidateSearch,
    view: RecallView,
    statuses: Collection[Status],
    memory_types: Collection[MemoryType],
    enough: int,
) -> list[Candidate]:
    """Return passages that answer as they were then. The search widens until there are enough or nothing more is
    found."""
    result_count = -1
    while True:
        candidates = search.find_candidates()
        past_candidates = list(_select_past_candidates(candidates, search.past_texts, view, statuses, memory_types))
        result_count, previous_count = len(candidates) + len(search.past_texts), result_count
        if len(past_candidates) >= enough or result_count == previous_count or len(candidates) < search.pool:
            return past_candidates
        search.widen(WIDEN_FACTOR)


def _select_past_candidates(
    candidates: Sequence[Candidate],
    past_texts: Mapping[PassageKey, Mapping[bytes, Candidate]],
    view: RecallView,
    statuses: Collection[Status],
    memory_types: Collection[MemoryType],
) -> Iterator[Candidate]:
    """Yield the candidates whose atoms may answer as they were then."""
    candidates_by_key: dict[PassageKey, Candidate | None] = {
        **dict.fromkeys(past_texts),
        **{candidate.key: candidate for candidate in candidates},
    }
    atoms = {
        atom_id: atom
        for atom_id, atom in view.atoms(key[0] for key in candidates_by_key).items()
        if atom.is_searched and atom.memory_type in memory_types and is_admitted(view, atom, statuses)
    }
    for key, candidate in candidates_by_key.items():
        if key[0] in atoms:
            past_candidate = _past_candidate(atoms[key[0]], key, candidate, past_texts.get(key, {}), view)
            if past_candidate is not None:
                yield past_candidate


def _past_candidate(
    atom: Atom, key: PassageKey, candidate: Candidate | None, past_texts: Mapping[bytes, Candidate], view: RecallView
) -> Candidate | None:
    """Return a candidate with the words it had then; one that was found by words of another time must also be similar
    in meaning."""
    passage = passage_of(atom, key[1])
    if passage is None or not was_said(view, atom, passage):
        return None
    digest = passage_digest(atom, passage)
    if candidate is None or (candidate.near.digest != digest and digest in past_texts):
        candidate = past_texts.get(digest)
    elif candidate.near.digest != digest or (past_texts and candidate.match is None):
        candidate = replace(candidate, match=None) if candidate.near.cosine > 0 else None
    if candidate is not None:
        candidate.near = replace(candidate.near, digest=digest, status=status_at(view, atom), layer=atom.layer)
    return candidate
