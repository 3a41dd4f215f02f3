"""Candidates for a question about another time: everything is searched, and what answers as it was then is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lamina.atom.atom import Atom
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import digest_of, passage_of
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.candidate import Candidate
from lamina.recall.gather import Admitted, Gathering
from lamina.recall.past import STOOD, Moments, admits, is_said, stood_as
from lamina.recall.view import View
from lamina.store.encodings import Key

WIDER = 4
"""The factor by which the search widens if too few results count."""
_EVER = datetime.max.replace(tzinfo=UTC)


def admitted_then(
    moments: Moments,
    view: View,
    scopes: tuple[Scope, ...],
    statuses: frozenset[Status],
    memory_types: frozenset[MemoryType],
) -> Admitted:
    """Return the filter for the search. If the present state of the atoms decides, the index can filter by itself."""
    if moments.known_at is None and statuses <= STOOD:
        return Admitted(scopes=scopes, statuses=STOOD, memory_types=memory_types, at=view.at, true_at=view.at)
    return Admitted(
        scopes=scopes,
        statuses=frozenset(Status),
        memory_types=frozenset(MemoryType),
        at=view.at,
        known_by=moments.known_at or _EVER,
    )


def candidates_then(
    gathering: Gathering, view: View, statuses: Collection[Status], memory_types: Collection[MemoryType], enough: int
) -> list[Candidate]:
    """Return passages that answer as they were then. The search widens until there are enough or nothing more is
    found."""
    result_count = -1
    while True:
        candidates = gathering.candidates()
        past_candidates = list(_as_they_were(candidates, gathering.former, view, statuses, memory_types))
        result_count, previous_count = len(candidates) + len(gathering.former), result_count
        if len(past_candidates) >= enough or result_count == previous_count or len(candidates) < gathering.pool:
            return past_candidates
        gathering.widen(WIDER)


def _as_they_were(
    found: Sequence[Candidate],
    former: Mapping[Key, Mapping[bytes, Candidate]],
    view: View,
    statuses: Collection[Status],
    memory_types: Collection[MemoryType],
) -> Iterator[Candidate]:
    """Yield the candidates whose atoms may answer as they were then."""
    candidates_by_key: dict[Key, Candidate | None] = {
        **dict.fromkeys(former),
        **{candidate.key: candidate for candidate in found},
    }
    atoms = {
        atom_id: atom
        for atom_id, atom in view.atoms(key[0] for key in candidates_by_key).items()
        if atom.is_searched and atom.memory_type in memory_types and admits(view, atom, statuses)
    }
    for key, candidate in candidates_by_key.items():
        if key[0] in atoms:
            past_candidate = _as_it_was(atoms[key[0]], key, candidate, former.get(key, {}), view)
            if past_candidate is not None:
                yield past_candidate


def _as_it_was(
    atom: Atom, key: Key, candidate: Candidate | None, former: Mapping[bytes, Candidate], view: View
) -> Candidate | None:
    """Return a candidate with the words it had then; one that was found by words of another time must also be similar
    in meaning."""
    passage = passage_of(atom, key[1])
    if passage is None or not is_said(view, atom, passage):
        return None
    digest = digest_of(atom, passage)
    if candidate is None or (candidate.near.digest != digest and digest in former):
        candidate = former.get(digest)
    elif candidate.near.digest != digest or (former and candidate.match is None):
        candidate = replace(candidate, match=None) if candidate.near.cosine > 0 else None
    if candidate is not None:
        candidate.near = replace(candidate.near, digest=digest, status=stood_as(view, atom), layer=atom.layer)
    return candidate
