"""The reads that plan an erasure: each history once, and only atoms that the person may read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import Scope
from lamina.store.base import AtomFilter, AtomVersion, Store

BATCH_SIZE = 2000


class ErasureReads:
    """Reads the store within the scopes of the person who erases."""

    def __init__(self, store: Store, scopes: Sequence[Scope]) -> None:
        self.store, self.scopes = store, tuple(scopes)
        self._versions: dict[AtomId, list[AtomVersion]] = {}

    def versions(self, atom_id: AtomId) -> list[AtomVersion]:
        """Return every version of an atom with its commit, oldest first."""
        if atom_id not in self._versions:
            self._versions[atom_id] = self.store.journal.versions(atom_id)
        return self._versions[atom_id]

    def history(self, atom_id: AtomId) -> list[Atom]:
        """Return the atom in every version, oldest first."""
        return [version.atom for version in self.versions(atom_id)]

    def is_made_from_others(self, atom: Atom) -> bool:
        """Return whether an atom was made from words or atoms; to one that was stated, evidence was only added."""
        first = self.history(atom.id)[0]
        return bool(first.evidence or first.derived_from)

    def atoms(self, ids: Iterable[AtomId]) -> list[Atom]:
        """Return those of the atoms that the person may read, each once."""
        return self.store.atoms.read(AtomFilter(scopes=self.scopes, ids=tuple(dict.fromkeys(ids))))

    def matching(
        self,
        *,
        contents: tuple[str, ...] | None = None,
        claims: tuple[str, ...] | None = None,
        kinds: frozenset[str] | None = None,
    ) -> list[Atom]:
        """Return the atoms with one of these contents, claims or kinds."""
        return self.store.atoms.read(AtomFilter(scopes=self.scopes, contents=contents, claims=claims, kinds=kinds))

    def atoms_resting_on(self, keys: Collection[tuple[AtomId, int]]) -> list[Atom]:
        """Return the atoms whose evidence is in these passages."""
        return self.atoms(span.atom_id for span in self.store.graph.find_evidence(keys, self.scopes).spans)

    def linked_to(self, ids: Sequence[AtomId]) -> list[Atom]:
        """Return the atoms that link to one of these."""
        sources: list[AtomId] = []
        for start in range(0, len(ids), BATCH_SIZE):
            edges = self.store.graph.edges(ids[start : start + BATCH_SIZE], self.scopes)
            sources += [AtomId(edge.source) for edge in edges]
        return self.atoms(sources)
