"""What words stand on: the statements that rest on each passage, where each stands, and where it leads.

All of it is read when a question is asked, so whatever is undone or confirmed counts at once.
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
"""Over how many statements a change is felt."""
_ENDS = {Standing.OVER: Mark.SUPERSEDED, Standing.WRONG: Mark.WRONG, Standing.TAKEN_BACK: Mark.TAKEN_BACK}
_CHANGED = frozenset({*_ENDS, Standing.DOUBTED})
_NEEDS = frozenset({RelationName.DEPENDS_ON, RelationName.IMPLEMENTS})


class Rested(NamedTuple):
    """A statement and the characters of a passage that it rests on."""

    start: int
    end: int
    statement: Atom


class Grounds:
    """The statements around the passages that were looked at so far. `history`: all that ended is asked for."""

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
        """Read what rests on these passages, and what these and those statements lead to."""
        fresh = sorted(set(passages) - self._looked)
        self._looked.update(fresh)
        rests = self.view.store.resting(fresh, self.view.scopes) if fresh else []
        self._stands.clear()
        self._marks.clear()
        given = {statement.id: statement for statement in statements}
        self._known |= given
        self._read({rest.atom_id for rest in rests})
        for rest in rests:
            atom = self._known.get(rest.atom_id)
            if atom is not None and _rests(atom, rest):
                self._on[rest.segment, rest.n].append(Rested(rest.start, rest.end, atom))
        self._walk(sorted({*given, *(rest.atom_id for rest in rests)} - self._walked))

    def on(self, key: Key) -> list[Rested]:
        """The statements that rest on a passage, in the order of its words."""
        return self._on.get(key, [])

    def stands(self, atom: Atom) -> Standing:
        """Where a statement stands in this view; what was made part of another stands as long as that one does."""
        if atom.id not in self._stands:
            own = standing(atom, self.view.at)
            if own is Standing.OVER and self._lives_on(atom):
                own = Standing.CURRENT
            self._stands[atom.id] = own
        return self._stands[atom.id]

    def is_gone(self, atom: Atom) -> bool:
        """Whether a statement no longer holds and something or somebody says so; what just ran out is told as it is."""
        stands = self.stands(atom)
        return stands in _ENDS and not (stands is Standing.OVER and self._ran_out(atom))

    def is_told(self, atom: Atom) -> bool:
        """Whether a statement that is gone is shown all the same, flagged: if it is asked for, or how things were is.

        Of a moment that is named, what held then is shown, and what did not is as gone as anything is today.
        """
        if self._history:
            return True
        moment = self.view.as_of or self.view.seq is not None
        return self.view.past and not moment and self.stands(atom) is not Standing.TAKEN_BACK

    def marks(self, atom: Atom) -> tuple[Mark, ...]:
        """What is to be said of a statement, and of a sentence that rests on nothing else."""
        if atom.id not in self._marks:
            self._marks[atom.id] = tuple(self._told(atom))
        return self._marks[atom.id]

    def _told(self, atom: Atom) -> list[Mark]:
        found: list[Mark] = []
        stands = self.stands(atom)
        if stands in _ENDS:
            found.append(Mark.HISTORICAL if stands is Standing.OVER and self._ran_out(atom) else _ENDS[stands])
        elif stands is Standing.CURRENT and atom.status is Status.SUPERSEDED and self.view.past:
            found.append(Mark.HISTORICAL)
        elif stands in (Standing.AHEAD, Standing.DOUBTED):
            found.append(Mark.ANNOUNCED if stands is Standing.AHEAD else Mark.DISPUTED)
        if self.newer(atom):
            found.append(Mark.OUTDATED)
        if self.is_unsettled(atom):
            found.append(Mark.UNSETTLED)
        return found

    def heirs(self, atom: Atom) -> tuple[Atom, ...]:
        """The statements at the end of what took a statement's place: those that hold, else those that are doubted."""
        line = self._line(atom)
        current = tuple(each for each in line if self._is_current(each))
        return current or tuple(each for each in line if self._is_in_sight(each))

    def words_lead_to(self, atom: Atom) -> tuple[Atom, ...]:
        """The statements whose words take the place of a statement's: its heirs or, where those wait for a person, they
        themselves, for their words were said all the same."""
        return self.heirs(atom) or tuple(each for each in self._line(atom) if self.waits(each))

    def waits(self, atom: Atom) -> bool:
        """Whether a statement waits for a person, so that nothing but the words it rests on is shown."""
        return standing(atom, self.view.at) is Standing.HELD

    def replaced(self, atom: Atom) -> list[Atom]:
        """The statements whose place this one took."""
        return [self._known[supersede] for supersede in atom.supersedes if supersede in self._known]

    def newer(self, atom: Atom) -> list[Atom]:
        """Statements that came later and may say that this one is outdated, so far as they hold."""
        return [each for each in self._newer.get(atom.id, ()) if self._is_current(each)]

    def has_rival(self, atom: Atom) -> bool:
        """Whether a statement contradicts one that holds."""
        against = [relation.target for relation in atom.relations if relation.name is RelationName.CONTRADICTS]
        return any(each in self._known and self._is_current(self._known[each]) for each in against)

    def is_unsettled(self, atom: Atom) -> bool:
        """Whether something a statement needs, directly or over others, no longer holds or is doubted."""
        seen, front = {atom.id}, [atom]
        for _ in range(FAR):
            needed = [each for one in front for each in self._needed(one) if each.id not in seen]
            if any(self.stands(each) in _CHANGED for each in needed):
                return True
            seen |= {each.id for each in needed}
            front = needed
        return False

    def is_outdated(self, atom: Atom) -> bool:
        """Whether a summary was made of words that are no longer said so."""
        return is_outdated(atom, self._known)

    def _is_current(self, atom: Atom) -> bool:
        return standing(atom, self.view.at) is Standing.CURRENT

    def _is_in_sight(self, atom: Atom) -> bool:
        """Whether it is doubted or announced, and had been said by the moment that is asked of."""
        said = not self.view.as_of or atom.observed_at <= self.view.at
        return said and standing(atom, self.view.at) in (Standing.DOUBTED, Standing.AHEAD)

    def _lives_on(self, atom: Atom) -> bool:
        """Whether what holds in its place was made out of it: the words say no less than they did."""
        made = atom.status is Status.MERGED or any(atom.id in each.derived_from for each in self._next(atom))
        return made and any(self._is_current(heir) for heir in self.heirs(atom))

    def _ran_out(self, atom: Atom) -> bool:
        """Whether it ended on the day it named, and nothing took its place."""
        return atom.status in (Status.ACTIVE, Status.ARCHIVED) and not self._next(atom)

    def _next(self, atom: Atom) -> list[Atom]:
        return [self._known[each] for each in atom.superseded_by if each in self._known]

    def _line(self, atom: Atom) -> list[Atom]:
        """Everything that took a statement's place, up to what has not ended."""
        found, front = {atom.id: atom}, [atom]
        while front:
            ahead = [each for one in front for each in self._beyond(one) if each.id not in found]
            found |= {each.id: each for each in ahead}
            front = [each for each in ahead if standing(each, self.view.at) in _ENDS]
        return [each for each in found.values() if each.id != atom.id]

    def _beyond(self, atom: Atom) -> list[Atom]:
        """What took a statement's place or, where only that was read, what stands at the end of the chain behind it."""
        return [self._known[end] for end in self._led_to(atom) if end in self._known]

    def _led_to(self, atom: Atom) -> Iterator[AtomId]:
        for each in atom.superseded_by:
            yield from (each,) if each in self._known else self._ends.get(each, (each,))

    def _needed(self, atom: Atom) -> list[Atom]:
        """What a statement rests on. One made out of others is not unsettled by having taken their place."""
        needed = [self._known[need] for need in _needs(atom) if need in self._known]
        lineage = [self._known[each] for each in atom.derived_from if each in self._known]
        claim = claim_of(atom)
        return needed + [
            each
            for each in lineage
            if each.id not in atom.supersedes and not each.run_id and (claim is None or claim != claim_of(each))
        ]

    def _walk(self, ids: Collection[AtomId]) -> None:
        """Read what these statements lead to, and what that leads to; of long chains only the next and the last."""
        self._walked.update(ids)
        front = [
            self._known[atom_id] for atom_id in ids if atom_id in self._known and not self._known[atom_id].is_segment
        ]
        self._look_for_newer(front)
        seen, far = set[AtomId](), 0
        while front:
            seen |= {each.id for each in front}
            if far:
                self._look_to_the_end(front)
            ahead = {each for atom in front for each in (*self._led_to(atom), *_leads(atom, far))} - seen
            self._read(ahead)
            front = [self._known[each] for each in sorted(ahead) if each in self._known]
            far += 1

    def _look_to_the_end(self, front: Collection[Atom]) -> None:
        """Find where the chains behind statements end. At another time what stands in between may have held."""
        over = {each for atom in front if atom.status in ENDED for each in atom.superseded_by} - self._known.keys()
        if over and not self.view.as_of and self.view.seq is None:
            self._ends |= self.view.store.followed(over, self.view.scopes)

    def _look_for_newer(self, statements: Collection[Atom]) -> None:
        ids = [atom.id for atom in statements if atom.status in (Status.ACTIVE, Status.ARCHIVED)]
        if not ids:
            return
        low = {
            (link.source, AtomId(link.target))
            for link in self.view.store.links(RelationName.CONTRADICTS, self.view.scopes, (Status.ACTIVE,), to=ids)
            if link.confidence < SURE
        }
        self._read({each for both in low for each in both})
        for source, target in sorted(low):
            atom, older = self._known.get(source), self._known.get(target)
            if atom is None or older is None or target not in _doubts(atom) or atom in self._newer[target]:
                continue
            if self._counts_against(atom, older):
                self._newer[target].append(atom)

    def _counts_against(self, newer: Atom, older: Atom) -> bool:
        """Whether whoever stands behind one statement is as trusted as whoever stands behind the other."""
        return self.view.store.guard(newer) >= self.view.store.guard(older)

    def _read(self, ids: Collection[AtomId]) -> None:
        fresh = sorted(set(ids) - self._known.keys())
        if fresh:
            self._known |= self.view.atoms(fresh)


def _rests(atom: Atom, rest: Rest) -> bool:
    """Whether it is a statement that rests there. The index tells who does today; who did as the question sees it
    stands in the statement itself."""
    own = Evidence(rest.segment, rest.n, rest.start, rest.end)
    return own in atom.evidence and not atom.is_segment and atom.is_searched


def _needs(atom: Atom) -> Iterator[AtomId]:
    return (relation.target for relation in atom.relations if relation.name in _NEEDS)


def _doubts(atom: Atom) -> list[AtomId]:
    return [relation.target for relation in atom.relations if is_guess(relation)]


def _leads(atom: Atom, far: int) -> Iterator[AtomId]:
    """The statements that say where one stands besides what took its place: near the start also what it needs."""
    if far == 0:
        yield from atom.supersedes
        if atom.status is Status.CHALLENGED:
            yield from (relation.target for relation in atom.relations if relation.name is RelationName.CONTRADICTS)
    if far < FAR and not atom.is_segment:
        yield from _needs(atom)
        yield from atom.derived_from
