"""Reads of one write from the store: nothing is read twice, and what is known beforehand in one round trip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, IdSource
from lamina.atom.provenance import Scope
from lamina.store.base import AtomFilter, EvidenceSpan, Store, TextMatch, TextQuery

MIN_SEARCH_LIMIT = 60
"""The least number of passages that is searched for, so that a later search for a few more needs no other query."""
PassageKey = tuple[AtomId, int]


class StoreReads:
    """Reads a store and remembers the answers. It is for one attempt of a write: nothing is committed meanwhile."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._atoms_by_filter: dict[AtomFilter, list[Atom]] = {}
        self._atoms_by_id: dict[tuple[Scope, AtomId], Atom | None] = {}
        self._matches: dict[TextQuery, tuple[int, list[TextMatch]]] = {}
        self._spans: dict[tuple[Scope, PassageKey], list[EvidenceSpan]] = {}
        self._has_erased: bool | None = None

    def prefetch(self, *atom_filters: AtomFilter) -> None:
        """Read the atoms of several filters in one round trip."""
        unread = [key for key in dict.fromkeys(atom_filters) if key not in self._atoms_by_filter]
        results = self.store.atoms.read_many(unread) if len(unread) > 1 else map(self.store.atoms.read, unread)
        for atom_filter, atoms in zip(unread, results, strict=True):
            self._atoms_by_filter[atom_filter] = atoms
            self._atoms_by_id |= {(atom.scope, atom.id): atom for atom in atoms}

    def read(self, atom_filter: AtomFilter) -> list[Atom]:
        """Return the current atoms that match, most recently recorded first, then by id."""
        self.prefetch(atom_filter)
        return list(self._atoms_by_filter[atom_filter])

    def has_any(self, atom_filter: AtomFilter) -> bool:
        """Return whether any atom matches."""
        return bool(self.read(replace(atom_filter, limit=1)))

    def read_by_id(self, scope: Scope, ids: Iterable[AtomId]) -> dict[AtomId, Atom]:
        """Return those of the atoms that exist in the scope."""
        wanted = list(dict.fromkeys(ids))
        unread = tuple(atom_id for atom_id in wanted if (scope, atom_id) not in self._atoms_by_id)
        if unread:
            self._atoms_by_id |= {(scope, atom_id): None for atom_id in unread}
            self.prefetch(AtomFilter(scopes=(scope,), ids=unread))
        return {atom_id: atom for atom_id in wanted if (atom := self._atoms_by_id[scope, atom_id]) is not None}

    def search(self, query: TextQuery) -> list[TextMatch]:
        """Return the best passages for the tokens; more than the limit if more were searched for before."""
        key = replace(query, limit=0)
        limit, matches = self._matches.get(key, (0, []))
        if query.limit > limit:
            limit = max(query.limit, MIN_SEARCH_LIMIT)
            matches = self.store.passages.search_text(replace(query, limit=limit))
            self._matches[key] = limit, matches
        return matches

    def find_evidence_spans(self, scope: Scope, keys: Sequence[PassageKey]) -> list[EvidenceSpan]:
        """Return which atoms of the scope rest on these passages."""
        unread = [key for key in keys if (scope, key) not in self._spans]
        self.mark_not_stored(scope, unread)
        for span in self.store.graph.find_evidence(unread, [scope]).spans if unread else ():
            self._spans[scope, (span.segment, span.n)].append(span)
        return [span for key in sorted(set(keys)) for span in self._spans[scope, key]]

    def mark_not_stored(self, scope: Scope, keys: Iterable[PassageKey]) -> None:
        """Remember that no stored atom can rest on these passages, because they are not stored yet."""
        self._spans |= {(scope, key): [] for key in keys}

    @property
    def has_erased(self) -> bool:
        """Return whether anything was ever erased from the store."""
        if self._has_erased is None:
            self._has_erased = self.store.admin.erasures.has_fingerprints()
        return self._has_erased


@dataclass(frozen=True, slots=True)
class WriteContext:
    """The context that the steps of one write share: its scope, its reads, its new ids and its time."""

    reads: StoreReads
    scope: Scope
    ids: Iterator[AtomId]
    now: datetime


def new_ids(source: IdSource, at: datetime) -> Iterator[AtomId]:
    """Yield new atom ids of one moment, without end."""
    while True:
        yield source.new(at)
