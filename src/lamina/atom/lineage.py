"""What an atom descends from: however often words are summed up or copied, they are worth no more than before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import LEAST_TRUST, TRUST, statements_wait

_UNSETTLED = frozenset({Status.CONSTRAINED, Status.CHALLENGED, Status.TOMBSTONED})

Look: TypeAlias = Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]
"""Finds atoms by their ids, as far as they are there."""


def trust(atom: Atom, look: Look) -> float:
    """How much an atom's word is worth: its origin, or the least trusted of all it descends from.

    An ancestor that nobody can look up counts as the least trusted there is.
    """
    return min([TRUST[atom.origin], *(LEAST_TRUST if each is None else TRUST[each.origin] for each in _up(atom, look))])


def waits(atom: Atom, look: Look) -> bool:
    """Whether nobody vouches for a new atom: its origin is held for review, or something it descends from still is."""
    return statements_wait(atom.origin) or any(each is None or _is_held(each) for each in _up(atom, look, _counts))


def is_clean(atom: Atom, look: Look) -> bool:
    """Whether neither an atom nor anything it descends from is of an origin that is held for review."""
    return not statements_wait(atom.origin) and all(
        each is not None and not statements_wait(each.origin) for each in _up(atom, look)
    )


def _is_held(ancestor: Atom) -> bool:
    """What waits, is doubted or was taken back speaks for nothing; the notes of a run were only laid aside."""
    is_note = ancestor.layer is Layer.WORKING and ancestor.run_id is not None
    return statements_wait(ancestor.origin) or (ancestor.status in _UNSETTLED and not is_note)


def _counts(ancestor: Atom) -> bool:
    """A statement that is recalled counts because somebody vouches for it, whatever it descends from itself."""
    return ancestor.status in RECALL_WEIGHT and not ancestor.is_segment


def _up(atom: Atom, look: Look, is_enough: Callable[[Atom], bool] = lambda _: False) -> Iterator[Atom | None]:
    """Everything an atom descends from, each once and no further than to those that are enough; None for the lost."""
    seen, ahead = {atom.id}, set(atom.derived_from) - {atom.id}
    while ahead:
        found = look(sorted(ahead))
        further = {each: parent for each, parent in found.items() if not is_enough(parent)}
        yield from (found.get(each) for each in sorted(ahead) if each in further or each not in found)
        seen |= ahead
        ahead = {parent for each in further.values() for parent in each.derived_from} - seen
