"""Candidates for a question of another time: gathered from all there is, kept if they answer as they were then."""

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
"""How many times as far is looked when too little of what was found counts."""
_EVER = datetime.max.replace(tzinfo=UTC)


def admitted_then(
    moments: Moments,
    view: View,
    scopes: tuple[Scope, ...],
    statuses: frozenset[Status],
    memory_types: frozenset[MemoryType],
) -> Admitted:
    """What has to be looked at. Where the present state of the atoms decides, the index filters by itself."""
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
    """Passages that answer as they were then: the search widens until there are enough or nothing more is found."""
    looked_at = -1
    while True:
        found = gathering.candidates()
        there = list(_as_they_were(found, gathering.former, view, statuses, memory_types))
        looked_at, before = len(found) + len(gathering.former), looked_at
        if len(there) >= enough or looked_at == before or len(found) < gathering.pool:
            return there
        gathering.widen(WIDER)


def _as_they_were(
    found: Sequence[Candidate],
    former: Mapping[Key, Mapping[bytes, Candidate]],
    view: View,
    statuses: Collection[Status],
    memory_types: Collection[MemoryType],
) -> Iterator[Candidate]:
    known: dict[Key, Candidate | None] = {**dict.fromkeys(former), **{each.key: each for each in found}}
    atoms = {
        atom_id: atom
        for atom_id, atom in view.atoms(key[0] for key in known).items()
        if atom.is_searched and atom.memory_type in memory_types and admits(view, atom, statuses)
    }
    for key, candidate in known.items():
        if key[0] in atoms:
            then = _as_it_was(atoms[key[0]], key, candidate, former.get(key, {}), view)
            if then is not None:
                yield then


def _as_it_was(
    atom: Atom, key: Key, candidate: Candidate | None, former: Mapping[bytes, Candidate], view: View
) -> Candidate | None:
    """A candidate with the words it had then; found by those of another time it must be near in meaning, too."""
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
