"""What a look at a vault's health found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.atom.scope import Scope
from lamina.store.base import Filter, Store
from lamina.store.ledger import Problem
from lamina.vault import layout


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `doctor` found: problems a person can mend, faults inside, and things worth knowing."""

    problems: tuple[Problem, ...]
    faults: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        return not self.problems and not self.faults


def problems_of(store: Store, scopes: Sequence[Scope]) -> Iterator[Problem]:
    """Those of atoms and folders in these scopes; what lies in no scope's folder concerns the vault's own."""
    found = store.ledger.problems()
    ids = tuple({each.atom_id for each in found if each.atom_id})
    own = {atom.id for atom in store.read(Filter(scopes=tuple(scopes), ids=ids))}
    for each in found:
        if each.atom_id in own or (each.atom_id is None and is_theirs(each.path, scopes)):
            yield each


def is_theirs(path: str, scopes: Sequence[Scope]) -> bool:
    """Whether a file lies in a folder of these scopes, or in nobody's and the vault's own scope is among them."""
    place = layout.scope_of(path)
    return place in scopes or (place is None and layout.DEFAULT_SCOPE in scopes)
