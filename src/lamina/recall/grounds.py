"""The status of the evidence: which statements rest on each passage, whether each still holds, and what replaced it.

Everything is read when a question is asked, so an undo or a confirmation counts immediately.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from lamina.atom.atom import Atom, Evidence
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.pair import SURE, is_guess
from lamina.atom.relation import RelationName
from lamina.atom.sources import is_outdated
from lamina.atom.standing import Standing, standing
from lamina.atom.status import ENDED, Status
from lamina.recall.marks import Mark
from lamina.recall.view import View
from lamina.store.base import Rest
from lamina.store.encodings import Key

FAR = 5
"""Over how many statements a change propagates."""
_ENDS = {Standing.OVER: Mark.SUPERSEDED, Standing.WRONG: Mark.WRONG, Standing.TAKEN_BACK: Mark.TAKEN_BACK}
_CHANGED = frozenset({*_ENDS, Standing.DOUBTED})
_NEEDS = frozenset({RelationName.DEPENDS_ON, RelationName.IMPLEMENTS})


class Rested(NamedTuple):
    """A statement and the range of characters in a passage that it rests on."""

    start: int
    end: int
    statement: Atom


class Grounds:
    """The statements around the passages that were loaded so far. `include_history`: ended statements are requested."""

    def __init__(self, view: View, *, history: bool = False) -> None:
        self.view = view
        self._history = history
        self._known: dict[AtomId, Atom] = {}
        self._looked: set[Key] = set()
        self._walked: set[AtomId] = set()
        self._on: dict[Key, list[Rested]] = defaultdict(list)
        self._newer: dict[AtomId, list[Atom]] = defaultdict(list)
        self._ends: dict[AtomId, list[AtomId]] = {}
        self._stands: dict[AtomId, Standing] = {}
        self._marks: dict[AtomId, tuple[Mark, ...]] = {}

    def look(self, passages: Iterable[Key], statements: Iterable[Atom] = ()) -> None:
        """Load the statements that rest on these passages, and what these and the given statements lead to."""
        unread = sorted(set(passages) - self._looked)
        self._looked.update(unread)
        rests = self.view.store.resting(unread, self.view.scopes) if unread else []
        self._stands.clear()
        self._marks.clear()
        statements_by_id = {statement.id: statement for statement in statements}
        self._known |= statements_by_id
        self._read({rest.atom_id for rest in rests})
        for rest in rests:
            atom = self._known.get(rest.atom_id)
            if atom is not None and _rests(atom, rest):
                self._on[rest.segment, rest.n].append(Rested(rest.start, rest.end, atom))
        self._walk(sorted({*statements_by_id, *(rest.atom_id for rest in rests)} - self._walked))

    def on(self, key: Key) -> list[Rested]:
        """Return the statements that rest on a passage, in the order of its words."""
        return self._on.get(key, [])

    def stands(self, atom: Atom) -> Standing:
        """Return the standing of a statement in this view; one that was merged into another holds as long as that one
        does."""
        if atom.id not in self._stands:
            computed = standing(atom, self.view.at)
            if computed is Standing.OVER and self._lives_on(atom):
                computed = Standing.CURRENT
            self._stands[atom.id] = computed
        return self._stands[atom.id]

    def is_gone(self, atom: Atom) -> bool:
        """Return whether a statement no longer holds because something ended it; one that only expired is shown as it
        is."""
        current_standing = self.stands(atom)
        return current_standing in _ENDS and not (current_standing is Standing.OVER and self._ran_out(atom))

    def is_told(self, atom: Atom) -> bool:
        """Return whether an ended statement is shown anyway, flagged: if history is requested, or the question is about
        the past.

        For a question about a given time, what held then is shown, and everything else counts as ended.
        """
        if self._history:
            return True
        has_query_time = self.view.as_of or self.view.seq is not None
        return self.view.past and not has_query_time and self.stands(atom) is not Standing.TAKEN_BACK

    def marks(self, atom: Atom) -> tuple[Mark, ...]:
        """Return the marks of a statement, and of a sentence that only this statement rests on."""
        if atom.id not in self._marks:
            self._marks[atom.id] = tuple(self._told(atom))
        return self._marks[atom.id]

    def _told(self, atom: Atom) -> list[Mark]:
        marks: list[Mark] = []
        current_standing = self.stands(atom)
        if current_standing in _ENDS:
            marks.append(
                Mark.HISTORICAL
                if current_standing is Standing.OVER and self._ran_out(atom)
                else _ENDS[current_standing]
            )
        elif current_standing is Standing.CURRENT and atom.status is Status.SUPERSEDED and self.view.past:
            marks.append(Mark.HISTORICAL)
        elif current_standing in (Standing.AHEAD, Standing.DOUBTED):
            marks.append(Mark.ANNOUNCED if current_standing is Standing.AHEAD else Mark.DISPUTED)
        if self.newer(atom):
            marks.append(Mark.OUTDATED)
        if self.is_unsettled(atom):
            marks.append(Mark.UNSETTLED)
        return marks

    def heirs(self, atom: Atom) -> tuple[Atom, ...]:
        """Return the last statements in the chain of successors: the current ones, or else the disputed ones."""
        chain = self._line(atom)
        current = tuple(successor for successor in chain if self._is_current(successor))
        return current or tuple(successor for successor in chain if self._is_in_sight(successor))

    def words_lead_to(self, atom: Atom) -> tuple[Atom, ...]:
        """Return the statements whose words replace those of a statement: its successors or, if they are pending
        review, the pending ones, because their words were said all the same."""
        return self.heirs(atom) or tuple(successor for successor in self._line(atom) if self.waits(successor))

    def waits(self, atom: Atom) -> bool:
        """Return whether a statement is pending review, so that only the words it rests on are shown."""
        return standing(atom, self.view.at) is Standing.HELD

    def replaced(self, atom: Atom) -> list[Atom]:
        """Return the statements that this one superseded."""
        return [self._known[atom_id] for atom_id in atom.supersedes if atom_id in self._known]

    def newer(self, atom: Atom) -> list[Atom]:
        """Return current statements that are newer and may have made this one outdated."""
        return [newer for newer in self._newer.get(atom.id, ()) if self._is_current(newer)]

    def has_rival(self, atom: Atom) -> bool:
        """Return whether a statement contradicts a current one."""
        contradicted = [relation.target for relation in atom.relations if relation.name is RelationName.CONTRADICTS]
        return any(atom_id in self._known and self._is_current(self._known[atom_id]) for atom_id in contradicted)

    def is_unsettled(self, atom: Atom) -> bool:
        """Return whether something a statement depends on, directly or through others, no longer holds or is
        disputed."""
        seen, frontier = {atom.id}, [atom]
        for _ in range(FAR):
            needed = [
                dependency
                for dependent in frontier
                for dependency in self._needed(dependent)
                if dependency.id not in seen
            ]
            if any(self.stands(dependency) in _CHANGED for dependency in needed):
                return True
            seen |= {dependency.id for dependency in needed}
            frontier = needed
        return False

    def is_outdated(self, atom: Atom) -> bool:
        """Return whether a summary was made from text that has changed since."""
        return is_outdated(atom, self._known)

    def _is_current(self, atom: Atom) -> bool:
        """Return whether a statement holds at the time of the view."""
        return standing(atom, self.view.at) is Standing.CURRENT

    def _is_in_sight(self, atom: Atom) -> bool:
        """Return whether a statement is disputed or announced, and had been made by the time in question."""
        was_made = not self.view.as_of or atom.observed_at <= self.view.at
        return was_made and standing(atom, self.view.at) in (Standing.DOUBTED, Standing.AHEAD)

    def _lives_on(self, atom: Atom) -> bool:
        """Return whether a current successor was made from the statement, so that its words still hold."""
        is_part = atom.status is Status.MERGED or any(
            atom.id in successor.derived_from for successor in self._next(atom)
        )
        return is_part and any(self._is_current(end) for end in self.heirs(atom))

    def _ran_out(self, atom: Atom) -> bool:
        """Return whether a statement ended on the day it named, without a successor."""
        return atom.status in (Status.ACTIVE, Status.ARCHIVED) and not self._next(atom)

    def _next(self, atom: Atom) -> list[Atom]:
        return [self._known[atom_id] for atom_id in atom.superseded_by if atom_id in self._known]

    def _line(self, atom: Atom) -> list[Atom]:
        """Return everything that replaced a statement, up to statements that have not ended."""
        chain, frontier = {atom.id: atom}, [atom]
        while frontier:
            successors = [
                successor for ended in frontier for successor in self._beyond(ended) if successor.id not in chain
            ]
            chain |= {successor.id: successor for successor in successors}
            frontier = [successor for successor in successors if standing(successor, self.view.at) in _ENDS]
        return [successor for successor in chain.values() if successor.id != atom.id]

    def _beyond(self, atom: Atom) -> list[Atom]:
        """Return the direct successors or, where only those were loaded, the ends of their chains."""
        return [self._known[atom_id] for atom_id in self._led_to(atom) if atom_id in self._known]

    def _led_to(self, atom: Atom) -> Iterator[AtomId]:
        for atom_id in atom.superseded_by:
            yield from (atom_id,) if atom_id in self._known else self._ends.get(atom_id, (atom_id,))

    def _needed(self, atom: Atom) -> list[Atom]:
        """Return what a statement depends on. A statement made from others does not depend on those it superseded."""
        needed = [self._known[atom_id] for atom_id in _needs(atom) if atom_id in self._known]
        sources = [self._known[source] for source in atom.derived_from if source in self._known]
        claim = claim_of(atom)
        return needed + [
            source
            for source in sources
            if source.id not in atom.supersedes and not source.run_id and (claim is None or claim != claim_of(source))
        ]

    def _walk(self, ids: Collection[AtomId]) -> None:
        """Load what these statements lead to, and what that leads to; of long chains only the next one and the last."""
        self._walked.update(ids)
        frontier = [
            self._known[atom_id] for atom_id in ids if atom_id in self._known and not self._known[atom_id].is_segment
        ]
        self._look_for_newer(frontier)
        seen, distance = set[AtomId](), 0
        while frontier:
            seen |= {atom.id for atom in frontier}
            if distance:
                self._look_to_the_end(frontier)
            next_ids = {
                atom_id for atom in frontier for atom_id in (*self._led_to(atom), *_leads(atom, distance))
            } - seen
            self._read(next_ids)
            frontier = [self._known[atom_id] for atom_id in sorted(next_ids) if atom_id in self._known]
            distance += 1

    def _look_to_the_end(self, front: Collection[Atom]) -> None:
        """Load the ends of the chains behind statements. For a question about another time this is left out, because a
        link in between may have been current then."""
        replaced = {
            atom_id for atom in front if atom.status in ENDED for atom_id in atom.superseded_by
        } - self._known.keys()
        if replaced and not self.view.as_of and self.view.seq is None:
            self._ends |= self.view.store.followed(replaced, self.view.scopes)

    def _look_for_newer(self, statements: Collection[Atom]) -> None:
        """Load newer statements that may have made these outdated."""
        ids = [atom.id for atom in statements if atom.status in (Status.ACTIVE, Status.ARCHIVED)]
        if not ids:
            return
        doubted_pairs = {
            (link.source, AtomId(link.target))
            for link in self.view.store.links(RelationName.CONTRADICTS, self.view.scopes, (Status.ACTIVE,), to=ids)
            if link.confidence < SURE
        }
        self._read({atom_id for pair in doubted_pairs for atom_id in pair})
        for source, target in sorted(doubted_pairs):
            atom, older = self._known.get(source), self._known.get(target)
            if atom is None or older is None or target not in _doubts(atom) or atom in self._newer[target]:
                continue
            if self._counts_against(atom, older):
                self._newer[target].append(atom)

    def _counts_against(self, newer: Atom, older: Atom) -> bool:
        """Return whether the origin of the newer statement is trusted at least as much as that of the older one."""
        return self.view.store.guard(newer) >= self.view.store.guard(older)

    def _read(self, ids: Collection[AtomId]) -> None:
        unread = sorted(set(ids) - self._known.keys())
        if unread:
            self._known |= self.view.atoms(unread)


def _rests(atom: Atom, rest: Rest) -> bool:
    """Return whether a statement rests on a span. The index says what rests on it today; the evidence of the statement
    says what did in this view."""
    evidence = Evidence(rest.segment, rest.n, rest.start, rest.end)
    return evidence in atom.evidence and not atom.is_segment and atom.is_searched


def _needs(atom: Atom) -> Iterator[AtomId]:
    return (relation.target for relation in atom.relations if relation.name in _NEEDS)


def _doubts(atom: Atom) -> list[AtomId]:
    return [relation.target for relation in atom.relations if is_guess(relation)]


def _leads(atom: Atom, far: int) -> Iterator[AtomId]:
    """Yield the statements that decide the standing of one, besides its successors; near the start also those it
    depends on."""
    if far == 0:
        yield from atom.supersedes
        if atom.status is Status.CHALLENGED:
            yield from (relation.target for relation in atom.relations if relation.name is RelationName.CONTRADICTS)
    if far < FAR and not atom.is_segment:
        yield from _needs(atom)
        yield from atom.derived_from
