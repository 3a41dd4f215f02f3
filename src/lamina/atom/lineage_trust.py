"""Decide how far an atom is trusted by what it is derived from: summarising or copying text never raises its trust."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import LEAST_TRUST, TRUST, statements_need_review

_UNSETTLED = frozenset({Status.CONSTRAINED, Status.CHALLENGED, Status.TOMBSTONED})

AtomLookup: TypeAlias = Callable[[Iterable[AtomId]], Mapping[AtomId, Atom]]
"""Returns the atoms of these ids, as far as they exist."""


def lineage_trust(atom: Atom, lookup: AtomLookup) -> float:
    """Return the trust in an atom: the lowest trust of its origin and of everything it is derived from.

    An ancestor that does not exist counts as the least trusted.
    """
    return min(
        [
            TRUST[atom.origin],
            *(
                LEAST_TRUST if ancestor is None else TRUST[ancestor.origin]
                for ancestor in _iterate_ancestors(atom, lookup)
            ),
        ]
    )


def needs_review(atom: Atom, lookup: AtomLookup) -> bool:
    """Return whether a new atom needs review: because of its origin, or of something it is derived from."""
    return statements_need_review(atom.origin) or any(
        ancestor is None or _needs_review(ancestor)
        for ancestor in _iterate_ancestors(atom, lookup, _is_confirmed_statement)
    )


def has_trusted_lineage(atom: Atom, lookup: AtomLookup) -> bool:
    """Return whether neither an atom nor anything it is derived from has an origin that needs review."""
    return not statements_need_review(atom.origin) and all(
        ancestor is not None and not statements_need_review(ancestor.origin)
        for ancestor in _iterate_ancestors(atom, lookup)
    )


def _needs_review(ancestor: Atom) -> bool:
    """Return whether an ancestor is unconfirmed, disputed or withdrawn; notes of a closed run are none of these."""
    is_note = ancestor.layer is Layer.WORKING and ancestor.run_id is not None
    return statements_need_review(ancestor.origin) or (ancestor.status in _UNSETTLED and not is_note)


def _is_confirmed_statement(ancestor: Atom) -> bool:
    """Return whether an ancestor is a recallable statement: it was confirmed, whatever it is derived from."""
    return ancestor.status in RECALL_WEIGHT and not ancestor.is_segment


def _iterate_ancestors(
    atom: Atom, lookup: AtomLookup, stops_at: Callable[[Atom], bool] = lambda _: False
) -> Iterator[Atom | None]:
    """Yield everything an atom is derived from, once each; None for what does not exist.

    Atoms for which `stops_at` is true are left out, and so is what they are derived from.
    """
    visited, next_ids = {atom.id}, set(atom.derived_from) - {atom.id}
    while next_ids:
        parents = lookup(sorted(next_ids))
        followed = {parent_id: parent for parent_id, parent in parents.items() if not stops_at(parent)}
        yield from (
            parents.get(parent_id)
            for parent_id in sorted(next_ids)
            if parent_id in followed or parent_id not in parents
        )
        visited |= next_ids
        next_ids = {parent_id for parent in followed.values() for parent_id in parent.derived_from} - visited
