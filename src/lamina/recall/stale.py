"""Leaving out what has gone stale, for whoever asks for that: a normal recall ranks it lower and hides nothing.

Only what is shown is left out. Stale words may still lead on to what took their place, and a statement that is alive
is shown by itself where the words it was taken from have faded.
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
    """What was left out: its place in the order of all there was, and why."""

    place: int
    why: str


def stale_among(atoms: Iterable[Atom], view: View) -> dict[AtomId, str]:
    """Those that are stale or laid aside, and which; one that was written since a dream looked at it is not known to
    be."""
    every = {each.id: each for each in atoms}
    lives = view.lives(every)
    found: dict[AtomId, str] = {}
    for atom in every.values():
        life = lives.get(atom.id)
        if atom.status is Status.ARCHIVED:
            found[atom.id] = ARCHIVED
        elif life is not None and life.revision == atom.revision and life.state in STALE:
            found[atom.id] = life.state
    return found


def alive(
    found: Sequence[Found], ordered: Sequence[Candidate], view: View, *, history: bool = False
) -> tuple[list[Found], list[LeftOut]]:
    """The hits that are not stale, in the order of their candidates, and what was left out."""
    stale = stale_among((atom for each in found for atom in (each.atom, *each.statements)), view)
    if not stale:
        return list(found), []
    place = {each.key: n for n, each in enumerate(ordered)}
    kept = [_without(stale, each) for each in found if each.atom.id not in stale]
    gone = [each for each in found if each.atom.id in stale]
    known = {candidate.key: candidate for candidate in ordered}
    kept += _by_themselves([_without(stale, each) for each in gone], kept, known, view, history)
    left_out = [LeftOut(place[each.candidate.key], stale[each.atom.id]) for each in gone]
    return sorted(kept, key=lambda each: place[each.candidate.key]), left_out


def alive_candidates(gathering: Gathering, view: View, enough: int) -> list[Candidate]:
    """The candidates, and others where so many of them are stale that too few would be left."""
    first = found = gathering.candidates()
    fresh, looked_at = _fresh(found, view), -1
    while len(fresh) < min(enough, len(first)) and len(found) >= gathering.pool and len(found) > looked_at:
        looked_at = len(found)
        gathering.widen(WIDER)
        found = gathering.candidates()
        fresh = _fresh(found, view)
    # Of what is stale, the nearest may lead on; all the rest would only be compared for nothing.
    known = {each.key for each in (*first, *fresh)}
    return [candidate for candidate in found if candidate.key in known]


def counted(left_out: Iterable[LeftOut], until: int | None) -> dict[str, int]:
    """How many were left out in front of a place, and why; None is the end."""
    return dict(sorted(Counter(each.why for each in left_out if until is None or each.place < until).items()))


def _fresh(candidates: Sequence[Candidate], view: View) -> list[Candidate]:
    lives = view.lives(candidate.key[0] for candidate in candidates)
    stale = {atom_id for atom_id, life in lives.items() if life.state in STALE}
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
    """The statements that went with words which are left out, each for itself, unless other words have them too."""
    said = {atom.id for each in kept for atom in (each.atom, *each.statements)}
    alone = {atom.id: (atom, each) for each in reversed(gone) for atom in each.statements if atom.id not in said}
    shown = as_whole([atom for atom, _ in alone.values()], view, history=history)
    return [
        _by_itself(atom, words, told, known.get((atom.id, 1)))
        for (atom, words), told in zip(alone.values(), shown, strict=True)
    ]


def _by_itself(atom: Atom, words: Found, shown: Shown, own: Candidate | None) -> Found:
    """A statement with its own score; one that no channel found has that of the words it went with."""
    passage, instead = passages_of(atom)[0], words.instead_of if own is None else None
    return Found(own or words.candidate, atom, passage, shown, [], instead)
