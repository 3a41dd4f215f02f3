"""What is known while changes are put down: passages, the statements that rest on them, and what was decided so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from lamina.atom.atom import Atom, Evidence
from lamina.atom.identity import AtomId
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import Passage, parse_segment, passage_of, passages_of
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import trust_of
from lamina.store.base import Filter, Store, TextQuery

MOST_ABOUT = 200
STANDS = frozenset(RECALL_WEIGHT)
Wanted = Callable[[Atom, Passage], bool]
_MORE = 3
"""So many times more passages are looked at than are wanted: a machine's long answers share words with everything."""


def passage_in(atom: Atom, n: int) -> Passage | None:
    """One passage of an atom; those of a segment are cut once, as its sentences are compared with many others."""
    return _cut(atom.content).get(n) if atom.is_segment else passage_of(atom, n)


@lru_cache(maxsize=1024)
def _cut(content: str) -> dict[int, Passage]:
    return {passage.n: passage for passage in parse_segment(content)}


class Known:
    """A scope as it will be once what was decided is committed."""

    def __init__(self, store: Store, scope: Scope, now: datetime) -> None:
        self._store, self._scope, self._now = store, scope, now
        self._atoms: dict[AtomId, Atom] = {}
        self._stored: dict[AtomId, Atom] = {}
        self._on: dict[tuple[str, int], dict[AtomId, None]] = defaultdict(dict)
        self._asked: set[tuple[str, int]] = set()
        self._heard: list[AtomId] = []
        self._subjects: dict[str, list[AtomId]] = {}
        self.changed: dict[AtomId, Atom] = {}

    def hear(self, words: Iterable[Atom]) -> None:
        """Take in segments that are written in this very commit."""
        for segment in words:
            self.take([segment])
            self._heard.append(segment.id)

    def heard(self) -> list[tuple[Atom, Passage]]:
        """The passages of the segments that are written in this very commit."""
        return [
            (self._atoms[atom_id], passage) for atom_id in self._heard for passage in passages_of(self._atoms[atom_id])
        ]

    def take(self, atoms: Iterable[Atom]) -> None:
        """Count these statements as they are, before they are written."""
        for atom in atoms:
            self._atoms[atom.id] = atom
            for each in atom.evidence:
                self._on[each.segment, each.passage][atom.id] = None

    def put(self, atom: Atom) -> None:
        """Decide that an atom shall be so."""
        self.take([atom])
        self.changed[atom.id] = atom

    def get(self, atom_id: AtomId) -> Atom | None:
        """An atom as it was decided or as it stands."""
        if atom_id not in self._atoms:
            self._read([atom_id])
        return self._atoms.get(atom_id)

    def guard(self, atom: Atom) -> float:
        """How trusted one must be to change how an atom stands."""
        return self._store.guard(atom) if atom.revision else trust_of(atom.origin)

    def before(self, atom_id: AtomId) -> Atom | None:
        """An atom as it was found in the store; None where it is made in this very commit."""
        return self._stored.get(atom_id)

    def search(
        self, words: Sequence[str], statuses: frozenset[Status], limit: int, wanted: Wanted = lambda atom, passage: True
    ) -> list[tuple[Atom, Passage]]:
        """The passages that share most with these words, of those that are wanted, in the order they were said."""
        query = TextQuery(
            scopes=(self._scope,),
            tokens=tuple(dict.fromkeys(words)),
            statuses=statuses,
            memory_types=frozenset(MemoryType),
            valid_at=self._now,
            limit=limit * _MORE,
        )
        matches = sorted(self._store.search(query), key=lambda each: (-each.score, each.atom_id, each.n))
        keys = [(match.atom_id, match.n) for match in matches[: limit * _MORE]]
        self._read(dict(keys))
        found = [(self._atoms[atom_id], n) for atom_id, n in keys if atom_id in self._atoms]
        there = [(atom, passage) for atom, n in found if (passage := passage_in(atom, n)) is not None]
        best = [(atom, passage) for atom, passage in there if wanted(atom, passage)][:limit]
        self._look_up([(atom.id, passage.n) for atom, passage in best])
        return sorted(best, key=lambda each: (each[1].at or each[0].observed_at, each[0].id, each[1].n))

    def about(self, subject: str, limit: int) -> list[Atom]:
        """Return the youngest captured statements that stand on a subject, at most MOST_ABOUT, the oldest first.

        Those of this very commit come last.
        """
        if subject not in self._subjects:
            wanted = Filter(scopes=(self._scope,), subject=subject, statuses=STANDS, limit=MOST_ABOUT)
            found = [each for each in self._store.read(wanted) if each.evidence]
            fresh = [each for each in found if each.id not in self._atoms]
            self._stored |= {each.id: each for each in fresh}
            self.take(fresh)
            self._subjects[subject] = [each.id for each in reversed(found)]
        stored = (self._atoms[each] for each in self._subjects[subject])
        made_now = (atom for atom in self._atoms.values() if atom.subject == subject and not atom.revision)
        standing = [each for each in (*stored, *made_now) if each.status in STANDS and each.evidence]
        return standing[-limit:]

    def on(self, place: Evidence) -> list[Atom]:
        """The statements, of any status, that rest on a sentence or on words around it or within it."""
        key = (place.segment, place.passage)
        if place.segment in self._atoms and not self._atoms[AtomId(place.segment)].is_segment:
            return [self._atoms[AtomId(place.segment)]]
        self._look_up([(AtomId(place.segment), place.passage)])
        return [
            atom
            for atom in (self._atoms[each] for each in self._on.get(key, ()))
            if any(
                (each.segment, each.passage) == key and each.start < place.end and place.start < each.end
                for each in atom.evidence
            )
        ]

    def holds(self, place: Evidence) -> bool:
        """Whether a sentence still counts: nothing was made of it, or something that was still stands."""
        resting = self.on(place)
        return not resting or any(map(self.stands, resting))

    def stands(self, atom: Atom) -> bool:
        """Whether a statement counts and its time is not over."""
        return atom.status in STANDS and (atom.valid_until is None or atom.valid_until > self._now)

    def _look_up(self, keys: Sequence[tuple[AtomId, int]]) -> None:
        """Bring in the statements that rest on passages."""
        fresh = [key for key in keys if key not in self._asked]
        if not fresh:
            return
        self._asked.update(fresh)
        resting = self._store.resting(fresh, [self._scope])
        self._read([rest.atom_id for rest in resting])
        for rest in resting:
            if rest.atom_id in self._atoms:
                self._on[rest.segment, rest.n][rest.atom_id] = None

    def _read(self, ids: Iterable[AtomId]) -> None:
        missing = tuple(dict.fromkeys(atom_id for atom_id in ids if atom_id not in self._atoms))
        if missing:
            found = {each.id: each for each in self._store.read(Filter(scopes=(self._scope,), ids=missing))}
            self._stored |= found
            self._atoms |= found
