"""Reads of one write from the store, and the working set of change detection.

Nothing is read twice. The working set has passages, the statements with evidence in them, and the decisions so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice

from lamina.atom.atom import Atom, AtomId, Evidence, IdSource
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import Passage, parse_segment, passage_of, passages_of
from lamina.atom.provenance import Scope, trust_of
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.store.base import AtomFilter, EvidenceSpan, Store, TextMatch, TextQuery
from lamina.store.commit_rules import required_trust
from lamina.store.passages import PassageFilter

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


MAX_NEW_PASSAGES = 100
"""How many passages of one commit are compared with every statement that ends."""
MAX_STATEMENTS_ABOUT = 200
"""How many of the newest statements about a subject are read."""
CURRENT_STATUSES = frozenset(RECALL_WEIGHT)
"""The statuses in which a statement is found by recall."""
FORGETTABLE_STATUSES = CURRENT_STATUSES | {Status.CONSTRAINED, Status.CHALLENGED}
"""The statuses of statements that can be forgotten."""
PassageCondition = Callable[[Atom, Passage], bool]
_SEARCH_FACTOR = 3
"""How many times more passages are searched than are returned, as long answers share words with everything."""


def filter_about(subject: str, scope: Scope) -> AtomFilter:
    """Return the filter of the newest current statements about a subject."""
    return AtomFilter(scopes=(scope,), subject=subject, statuses=CURRENT_STATUSES, limit=MAX_STATEMENTS_ABOUT)


def find_passage(atom: Atom, n: int) -> Passage | None:
    """Return one passage of an atom; the passages of a segment are parsed once and cached."""
    return _passages_by_number(atom.content).get(n) if atom.is_segment else passage_of(atom, n)


@lru_cache(maxsize=1024)
def _passages_by_number(content: str) -> dict[int, Passage]:
    return {passage.n: passage for passage in parse_segment(content)}


class WorkingSet:
    """A scope as it will be once the decisions so far are committed."""

    def __init__(self, reads: StoreReads, scope: Scope, now: datetime) -> None:
        self.store, self._reads, self._scope, self._now = reads.store, reads, scope, now
        self._atoms: dict[AtomId, Atom] = {}
        self._stored: dict[AtomId, Atom] = {}
        self._ids_by_passage: dict[tuple[str, int], dict[AtomId, None]] = defaultdict(dict)
        self._passages_read: set[tuple[str, int]] = set()
        self._new_segment_ids: list[AtomId] = []
        self._ids_by_subject: dict[str, list[AtomId]] = {}
        self._new_ids_by_subject: dict[str, dict[AtomId, None]] = defaultdict(dict)
        self._new_passages: dict[PassageCondition, list[tuple[Atom, Passage]]] = {}
        self.changed: dict[AtomId, Atom] = {}

    def add_new_segments(self, segments: Iterable[Atom]) -> None:
        """Add segments that are written in this commit."""
        for segment in segments:
            self.add([segment])
            self._new_segment_ids.append(segment.id)

    def new_passages(self, condition: PassageCondition) -> list[tuple[Atom, Passage]]:
        """Return the first of the passages of this commit's segments that meet a condition."""
        if condition not in self._new_passages:
            segments = [self._atoms[atom_id] for atom_id in self._new_segment_ids]
            passages = ((segment, passage) for segment in segments for passage in passages_of(segment))
            chosen = (pair for pair in passages if condition(*pair))
            self._new_passages[condition] = list(islice(chosen, MAX_NEW_PASSAGES))
        return self._new_passages[condition]

    def add(self, atoms: Iterable[Atom]) -> None:
        """Add atoms as they are, without marking them as changed."""
        for atom in atoms:
            self._atoms[atom.id] = atom
            if not atom.revision:
                self._new_ids_by_subject[atom.subject][atom.id] = None
            for evidence in atom.evidence:
                self._ids_by_passage[evidence.segment, evidence.passage][atom.id] = None

    def record_change(self, atom: Atom) -> None:
        """Record an atom as changed by this commit."""
        self.add([atom])
        self.changed[atom.id] = atom

    def get(self, atom_id: AtomId) -> Atom | None:
        """Return an atom as decided or as stored; None if it does not exist."""
        if atom_id not in self._atoms:
            self._read_atoms([atom_id])
        return self._atoms.get(atom_id)

    def required_trust(self, atom: Atom) -> float:
        """Return the trust that an origin needs to change the status of an atom."""
        return required_trust(atom, self.store.atoms) if atom.revision else trust_of(atom.origin)

    def stored_version(self, atom_id: AtomId) -> Atom | None:
        """Return an atom as stored; None if it is new in this commit."""
        return self._stored.get(atom_id)

    def search(
        self,
        words: Sequence[str],
        statuses: frozenset[Status],
        limit: int,
        passage_filter: PassageCondition = lambda atom, passage: True,
    ) -> list[tuple[Atom, Passage]]:
        """Return the passages that share most with these words and pass the filter, in the order they were said."""
        query = TextQuery(
            filter=PassageFilter(
                scopes=(self._scope,), statuses=statuses, memory_types=frozenset(MemoryType), valid_at=self._now
            ),
            tokens=tuple(dict.fromkeys(words)),
            limit=limit * _SEARCH_FACTOR,
        )
        matches = sorted(self._reads.search(query), key=lambda match: (-match.score, match.atom_id, match.n))
        keys = [(match.atom_id, match.n) for match in matches[: limit * _SEARCH_FACTOR]]
        self._read_atoms(dict(keys))
        matched_atoms = [(self._atoms[atom_id], n) for atom_id, n in keys if atom_id in self._atoms]
        passages = [(atom, passage) for atom, n in matched_atoms if (passage := find_passage(atom, n)) is not None]
        best = [(atom, passage) for atom, passage in passages if passage_filter(atom, passage)][:limit]
        self._read_statements_on([(atom.id, passage.n) for atom, passage in best])
        return sorted(best, key=lambda pair: (pair[1].at or pair[0].observed_at, pair[0].id, pair[1].n))

    def has_atoms(self, statuses: frozenset[Status]) -> bool:
        """Return whether the scope has an atom in one of these statuses."""
        if any(atom.status in statuses for atom in self.changed.values()):
            return True
        return self._reads.has_any(AtomFilter(scopes=(self._scope,), statuses=statuses))

    def statements_about(self, subject: str, limit: int) -> list[Atom]:
        """Return the newest current statements about a subject that have evidence, the oldest first.

        Those of this commit come last.
        """
        if subject not in self._ids_by_subject:
            query = filter_about(subject, self._scope)
            statements = [statement for statement in self._reads.read(query) if statement.evidence]
            unread = [statement for statement in statements if statement.id not in self._atoms]
            self._stored |= {statement.id: statement for statement in unread}
            self.add(unread)
            self._ids_by_subject[subject] = [statement.id for statement in reversed(statements)]
        newest_first = chain(reversed(self._new_ids_by_subject[subject]), reversed(self._ids_by_subject[subject]))
        newest = [self._atoms[atom_id] for atom_id in dict.fromkeys(islice(newest_first, 2 * limit))]
        current = [item for item in newest if item.status in CURRENT_STATUSES and item.evidence]
        return current[:limit][::-1]

    def statements_on(self, evidence: Evidence) -> list[Atom]:
        """Return the statements, of any status, with evidence that overlaps a sentence."""
        key = (evidence.segment, evidence.passage)
        if evidence.segment in self._atoms and not self._atoms[AtomId(evidence.segment)].is_segment:
            return [self._atoms[AtomId(evidence.segment)]]
        self._read_statements_on([(AtomId(evidence.segment), evidence.passage)])
        return [
            atom
            for atom in (self._atoms[atom_id] for atom_id in self._ids_by_passage.get(key, ()))
            if any(evidence.overlaps(other) for other in atom.evidence)
        ]

    def is_sentence_current(self, evidence: Evidence) -> bool:
        """Return whether a sentence is not ended: it has no statement, or one that is current."""
        statements = self.statements_on(evidence)
        return not statements or any(map(self.is_current, statements))

    def is_current(self, atom: Atom) -> bool:
        """Return whether a statement is current: by its status and by its valid time."""
        return atom.status in CURRENT_STATUSES and (atom.valid_until is None or atom.valid_until > self._now)

    def _read_statements_on(self, keys: Sequence[tuple[AtomId, int]]) -> None:
        """Read the statements with evidence in these passages."""
        unread = [key for key in keys if key not in self._passages_read]
        if not unread:
            return
        self._passages_read.update(unread)
        links = self._reads.find_evidence_spans(self._scope, unread)
        self._read_atoms([link.atom_id for link in links])
        for link in links:
            if link.atom_id in self._atoms:
                self._ids_by_passage[link.segment, link.n][link.atom_id] = None

    def _read_atoms(self, ids: Iterable[AtomId]) -> None:
        stored = self._reads.read_by_id(self._scope, [atom_id for atom_id in ids if atom_id not in self._atoms])
        self._stored |= stored
        self._atoms |= stored
