"""The result of a health check of a vault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.atom.scope import Scope
from lamina.store.base import AtomFilter, Store
from lamina.store.ledger import FileProblem
from lamina.vault import layout


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `doctor` found: problems that a person can fix, internal faults, and notes."""

    problems: tuple[FileProblem, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        return not self.problems and not self.faults


def problems_in(store: Store, scopes: Sequence[Scope]) -> Iterator[FileProblem]:
    """Return the problems in these scopes; files outside every scope's folder belong to the default scope."""
    problems = store.ledger.problems()
    ids = tuple({problem.atom_id for problem in problems if problem.atom_id})
    atom_ids = {atom.id for atom in store.read(AtomFilter(scopes=tuple(scopes), ids=ids))}
    for problem in problems:
        if problem.atom_id in atom_ids or (problem.atom_id is None and is_in_scopes(problem.path, scopes)):
            yield problem


def is_in_scopes(path: str, scopes: Sequence[Scope]) -> bool:
    """Return whether a file is in a folder of these scopes, or in none and the default scope is among them."""
    place = layout.scope_of_path(path)
    return place in scopes or (place is None and layout.DEFAULT_SCOPE in scopes)
