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
from lamina.recall.follow import Found, as_whole
from lamina.recall.gather import Gathering
from lamina.recall.shown import Shown
from lamina.recall.then import WIDER
from lamina.recall.view import View
from lamina.store.encodings import Key

ARCHIVED = LifecycleState.ARCHIVED.value
STALE = frozenset({LifecycleState.STALE.value, ARCHIVED})


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A result that was left out: its place in the order of all candidates, and why."""

    place: int
    why: str


def stale_among(atoms: Iterable[Atom], view: View) -> dict[AtomId, str]:
    """Return the atoms that are stale or archived, with the reason; one that was written since the last dream looked at
    it counts as fresh."""
    atoms_by_id = {atom.id: atom for atom in atoms}
    ageing_states = view.lives(atoms_by_id)
    stale: dict[AtomId, str] = {}
    for atom in atoms_by_id.values():
        ageing = ageing_states.get(atom.id)
        if atom.status is Status.ARCHIVED:
            stale[atom.id] = ARCHIVED
        elif ageing is not None and ageing.revision == atom.revision and ageing.state in STALE:
            stale[atom.id] = ageing.state
    return stale


def alive(
    found: Sequence[Found], ordered: Sequence[Candidate], view: View, *, history: bool = False
) -> tuple[list[Found], list[LeftOut]]:
    """Return the results that are not stale, in the order of their candidates, and what was left out."""
    stale = stale_among((atom for result in found for atom in (result.atom, *result.statements)), view)
    if not stale:
        return list(found), []
    place = {result.key: n for n, result in enumerate(ordered)}
    fresh = [_without(stale, result) for result in found if result.atom.id not in stale]
    stale_results = [result for result in found if result.atom.id in stale]
    candidates = {candidate.key: candidate for candidate in ordered}
    fresh += _by_themselves([_without(stale, result) for result in stale_results], fresh, candidates, view, history)
    omitted = [LeftOut(place[result.candidate.key], stale[result.atom.id]) for result in stale_results]
    return sorted(fresh, key=lambda result: place[result.candidate.key]), omitted


def alive_candidates(gathering: Gathering, view: View, enough: int) -> list[Candidate]:
    """Return the candidates, and further ones if so many are stale that too few would be left."""
    first = candidates = gathering.candidates()
    fresh, previous_count = _fresh(candidates, view), -1
    while (
        len(fresh) < min(enough, len(first)) and len(candidates) >= gathering.pool and len(candidates) > previous_count
    ):
        previous_count = len(candidates)
        gathering.widen(WIDER)
        candidates = gathering.candidates()
        fresh = _fresh(candidates, view)
    # The nearest stale candidates may lead to their successors; the others would be compared for nothing.
    keys = {item.key for item in (*first, *fresh)}
    return [candidate for candidate in candidates if candidate.key in keys]


def counted(left_out: Iterable[LeftOut], until: int | None) -> dict[str, int]:
    """Return how many results were left out before a place, by reason; None is the end."""
    return dict(
        sorted(
            Counter(omitted_hit.why for omitted_hit in left_out if until is None or omitted_hit.place < until).items()
        )
    )


def _fresh(candidates: Sequence[Candidate], view: View) -> list[Candidate]:
    ageing_states = view.lives(candidate.key[0] for candidate in candidates)
    stale = {atom_id for atom_id, ageing in ageing_states.items() if ageing.state in STALE}
    return [
        candidate
        for candidate in candidates
        if candidate.near.status is not Status.ARCHIVED and candidate.key[0] not in stale
    ]


def _without(stale: Mapping[AtomId, str], found: Found) -> Found:
    return replace(found, statements=[statement for statement in found.statements if statement.id not in stale])


def _by_themselves(
    gone: Sequence[Found], kept: Sequence[Found], known: Mapping[Key, Candidate], view: View, history: bool
) -> list[Found]:
    """Return the statements that were attached to stale passages as results of their own, unless another passage shows
    them."""
    shown_ids = {atom.id for result in kept for atom in (result.atom, *result.statements)}
    statements = {
        atom.id: (atom, result) for result in reversed(gone) for atom in result.statements if atom.id not in shown_ids
    }
    rendered = as_whole([atom for atom, _ in statements.values()], view, history=history)
    return [
        _by_itself(atom, source, rendered_statement, known.get((atom.id, 1)))
        for (atom, source), rendered_statement in zip(statements.values(), rendered, strict=True)
    ]


def _by_itself(atom: Atom, words: Found, shown: Shown, own: Candidate | None) -> Found:
    """Return a statement with its own score, or with that of its passage if no channel found it."""
    passage, replaced_passage = passages_of(atom)[0], words.instead_of if own is None else None
    return Found(own or words.candidate, atom, passage, shown, [], replaced_passage)
