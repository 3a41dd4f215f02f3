"""The status of the evidence: which statements rest on each passage, whether each still holds, and what replaced it.

Everything is read when a question is asked, so an undo or a confirmation counts immediately.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

from lamina.atom.atom import Atom, AtomId, EffectiveStatus, Evidence, RelationName, effective_status_at
from lamina.atom.claim import claim_of
from lamina.atom.proposals_and_pairs import SURE_CONFIDENCE, is_uncertain_contradiction
from lamina.atom.provenance import is_summary_outdated
from lamina.atom.status import ENDED, Status
from lamina.recall.marks import HitMark
from lamina.recall.recall_view import RecallView
from lamina.store.base import Edge, EvidenceSpan
from lamina.store.commit_rules import required_trust
from lamina.store.encodings import PassageKey

MAX_DISTANCE = 5
"""Over how many statements a change propagates."""
_END_MARKS = {
    EffectiveStatus.ENDED: HitMark.SUPERSEDED,
    EffectiveStatus.WRONG: HitMark.WRONG,
    EffectiveStatus.WITHDRAWN: HitMark.RETRACTED,
}
_CHANGED_STANDINGS = frozenset({*_END_MARKS, EffectiveStatus.DISPUTED})
_NEED_RELATIONS = frozenset({RelationName.DEPENDS_ON, RelationName.IMPLEMENTS})


class StatementSpan(NamedTuple):
    """A statement and the range of characters in a passage that it rests on."""

    start: int
    end: int
    statement: Atom


class EvidenceStatus:
    """The statements around the passages that were loaded so far. `include_history`: ended statements are requested."""

    def __init__(self, view: RecallView, *, include_history: bool = False) -> None:
        self.view = view
        self._include_history = include_history
        self._known: dict[AtomId, Atom] = {}
        self._loaded_passages: set[PassageKey] = set()
        self._followed: set[AtomId] = set()
        self._spans: dict[PassageKey, list[StatementSpan]] = defaultdict(list)
        self._likely_successors: dict[AtomId, list[Atom]] = defaultdict(list)
        self._chain_ends: dict[AtomId, list[AtomId]] = {}
        self._standings: dict[AtomId, EffectiveStatus] = {}
        self._marks: dict[AtomId, tuple[HitMark, ...]] = {}

    def load(self, passages: Iterable[PassageKey], statements: Iterable[Atom] = ()) -> None:
        """Load the statements that rest on these passages, and what these and the given statements lead to."""
        unread = sorted(set(passages) - self._loaded_passages)
        self._loaded_passages.update(unread)
        self._standings.clear()
        self._marks.clear()
        statements_by_id = {statement.id: statement for statement in statements}
        self._known |= statements_by_id
        links = self.view.store.graph.find_evidence(
            unread, self.view.scopes, sorted(statements_by_id.keys() - self._followed)
        )
        self._load_atoms({span.atom_id for span in links.spans})
        for span in links.spans:
            atom = self._known.get(span.atom_id)
            if atom is not None and _rests_on_span(atom, span):
                self._spans[span.segment, span.n].append(StatementSpan(span.start, span.end, atom))
        ids = {*statements_by_id, *(span.atom_id for span in links.spans)} - self._followed
        self._add_likely_successors(link for link in links.contradictions if link.target in ids)
        self._follow(sorted(ids))

    def spans_on(self, key: PassageKey) -> list[StatementSpan]:
        """Return the statements that rest on a passage, in the order of its words."""
        return self._spans.get(key, [])

    def standing_of(self, atom: Atom) -> EffectiveStatus:
        """Return the standing of a statement in this view; one that was merged into another holds as long as that one
        does."""
        if atom.id not in self._standings:
            computed = effective_status_at(atom, self.view.at)
            if computed is EffectiveStatus.ENDED and self._is_contained_in_successor(atom):
                computed = EffectiveStatus.CURRENT
            self._standings[atom.id] = computed
        return self._standings[atom.id]

    def is_ended(self, atom: Atom) -> bool:
        """Return whether a statement no longer holds because something ended it; one that only expired is shown as it
        is."""
        current_standing = self.standing_of(atom)
        return current_standing in _END_MARKS and not (
            current_standing is EffectiveStatus.ENDED and self._has_expired(atom)
        )

    def is_shown_after_end(self, atom: Atom) -> bool:
        """Return whether an ended statement is shown anyway, flagged: if history is requested, or the question is about
        the past.

        For a question about a given time, what held then is shown, and everything else counts as ended.
        """
        if self._include_history:
            return True
        return (
            self.view.include_ended
            and not self.view.is_historical
            and self.standing_of(atom) is not EffectiveStatus.WITHDRAWN
        )

    def marks_of(self, atom: Atom) -> tuple[HitMark, ...]:
        """Return the marks of a statement, and of a sentence that only this statement rests on."""
        if atom.id not in self._marks:
            self._marks[atom.id] = tuple(self._compute_marks(atom))
        return self._marks[atom.id]

    def _compute_marks(self, atom: Atom) -> list[HitMark]:
        marks: list[HitMark] = []
        current_standing = self.standing_of(atom)
        if current_standing in _END_MARKS:
            marks.append(
                HitMark.HISTORICAL
                if current_standing is EffectiveStatus.ENDED and self._has_expired(atom)
                else _END_MARKS[current_standing]
            )
        elif (
            current_standing is EffectiveStatus.CURRENT and atom.status is Status.SUPERSEDED and self.view.include_ended
        ):
            marks.append(HitMark.HISTORICAL)
        elif current_standing in (EffectiveStatus.FUTURE, EffectiveStatus.DISPUTED):
            marks.append(HitMark.ANNOUNCED if current_standing is EffectiveStatus.FUTURE else HitMark.DISPUTED)
        if self.likely_successors_of(atom):
            marks.append(HitMark.OUTDATED)
        if self.has_changed_dependency(atom):
            marks.append(HitMark.DEPENDENCY_CHANGED)
        return marks

    def successors_of(self, atom: Atom) -> tuple[Atom, ...]:
        """Return the last statements in the chain of successors: the current ones, or else the disputed ones."""
        chain = self._successor_chain(atom)
        current = tuple(successor for successor in chain if self._is_current(successor))
        return current or tuple(successor for successor in chain if self._is_disputed_or_announced(successor))

    def text_successors_of(self, atom: Atom) -> tuple[Atom, ...]:
        """Return the statements whose words replace those of a statement: its successors or, if they are pending
        review, the pending ones, because their words were said all the same."""
        return self.successors_of(atom) or tuple(
            successor for successor in self._successor_chain(atom) if self.is_pending(successor)
        )

    def is_pending(self, atom: Atom) -> bool:
        """Return whether a statement is pending review, so that only the words it rests on are shown."""
        return effective_status_at(atom, self.view.at) is EffectiveStatus.PENDING

    def predecessors_of(self, atom: Atom) -> list[Atom]:
        """Return the statements that this one superseded."""
        return [self._known[atom_id] for atom_id in atom.supersedes if atom_id in self._known]

    def likely_successors_of(self, atom: Atom) -> list[Atom]:
        """Return current statements that are newer and may have made this one outdated."""
        return [newer for newer in self._likely_successors.get(atom.id, ()) if self._is_current(newer)]

    def contradicts_current(self, atom: Atom) -> bool:
        """Return whether a statement contradicts a current one."""
        contradicted = [relation.target for relation in atom.relations if relation.name is RelationName.CONTRADICTS]
        return any(atom_id in self._known and self._is_current(self._known[atom_id]) for atom_id in contradicted)

    def has_changed_dependency(self, atom: Atom) -> bool:
        """Return whether something a statement depends on, directly or through others, no longer holds or is
        disputed."""
        seen, frontier = {atom.id}, [atom]
        for _ in range(MAX_DISTANCE):
            needed = [
                dependency
                for dependent in frontier
                for dependency in self._dependencies(dependent)
                if dependency.id not in seen
            ]
            if any(self.standing_of(dependency) in _CHANGED_STANDINGS for dependency in needed):
                return True
            seen |= {dependency.id for dependency in needed}
            frontier = needed
        return False

    def is_outdated_summary(self, atom: Atom) -> bool:
        """Return whether a summary was made from text that has changed since."""
        return is_summary_outdated(atom, self._known)

    def _is_current(self, atom: Atom) -> bool:
        """Return whether a statement holds at the time of the view."""
        return effective_status_at(atom, self.view.at) is EffectiveStatus.CURRENT

    def _is_disputed_or_announced(self, atom: Atom) -> bool:
        """Return whether a statement is disputed or announced, and had been made by the time in question."""
        was_made = not self.view.is_as_of or atom.observed_at <= self.view.at
        return was_made and effective_status_at(atom, self.view.at) in (
            EffectiveStatus.DISPUTED,
            EffectiveStatus.FUTURE,
        )

    def _is_contained_in_successor(self, atom: Atom) -> bool:
        """Return whether a current successor was made from the statement, so that its words still hold."""
        is_part = atom.status is Status.MERGED or any(
            atom.id in successor.derived_from for successor in self._direct_successors(atom)
        )
        return is_part and any(self._is_current(end) for end in self.successors_of(atom))

    def _has_expired(self, atom: Atom) -> bool:
        """Return whether a statement ended on the day it named, without a successor."""
        return atom.status in (Status.ACTIVE, Status.ARCHIVED) and not self._direct_successors(atom)

    def _direct_successors(self, atom: Atom) -> list[Atom]:
        return [self._known[atom_id] for atom_id in atom.superseded_by if atom_id in self._known]

    def _successor_chain(self, atom: Atom) -> list[Atom]:
        """Return everything that replaced a statement, up to statements that have not ended."""
        chain, frontier = {atom.id: atom}, [atom]
        while frontier:
            successors = [
                successor
                for ended in frontier
                for successor in self._known_successors(ended)
                if successor.id not in chain
            ]
            chain |= {successor.id: successor for successor in successors}
            frontier = [
                successor for successor in successors if effective_status_at(successor, self.view.at) in _END_MARKS
            ]
        return [successor for successor in chain.values() if successor.id != atom.id]

    def _known_successors(self, atom: Atom) -> list[Atom]:
        """Return the direct successors or, where only those were loaded, the ends of their chains."""
        return [self._known[atom_id] for atom_id in self._successor_ids(atom) if atom_id in self._known]

    def _successor_ids(self, atom: Atom) -> Iterator[AtomId]:
        for atom_id in atom.superseded_by:
            yield from (atom_id,) if atom_id in self._known else self._chain_ends.get(atom_id, (atom_id,))

    def _dependencies(self, atom: Atom) -> list[Atom]:
        """Return what a statement depends on. A statement made from others does not depend on those it superseded."""
        needed = [self._known[atom_id] for atom_id in _needed_ids(atom) if atom_id in self._known]
        sources = [self._known[source] for source in atom.derived_from if source in self._known]
        claim = claim_of(atom)
        return needed + [
            source
            for source in sources
            if source.id not in atom.supersedes and not source.run_id and (claim is None or claim != claim_of(source))
        ]

    def _follow(self, ids: Collection[AtomId]) -> None:
        """Load what these statements lead to, and what that leads to; of long chains only the next one and the last."""
        self._followed.update(ids)
        frontier = [
            self._known[atom_id] for atom_id in ids if atom_id in self._known and not self._known[atom_id].is_segment
        ]
        seen, distance = set[AtomId](), 0
        while frontier:
            seen |= {atom.id for atom in frontier}
            if distance:
                self._load_chain_ends(frontier)
            next_ids = {
                atom_id for atom in frontier for atom_id in (*self._successor_ids(atom), *_related_ids(atom, distance))
            } - seen
            self._load_atoms(next_ids)
            frontier = [self._known[atom_id] for atom_id in sorted(next_ids) if atom_id in self._known]
            distance += 1

    def _load_chain_ends(self, statements: Collection[Atom]) -> None:
        """Load the ends of the chains behind statements. For a question about another time this is left out, because a
        link in between may have been current then."""
        replaced = {
            atom_id for atom in statements if atom.status in ENDED for atom_id in atom.superseded_by
        } - self._known.keys()
        if replaced and not self.view.is_historical:
            self._chain_ends |= self.view.store.graph.find_successors(replaced, self.view.scopes)

    def _add_likely_successors(self, contradictions: Iterable[Edge]) -> None:
        """Load newer statements that may have made others outdated."""
        doubted_pairs = {
            (link.source, older.id): older
            for link in contradictions
            if link.confidence < SURE_CONFIDENCE
            and (older := self._known.get(AtomId(link.target))) is not None
            and not older.is_segment
            and older.status in (Status.ACTIVE, Status.ARCHIVED)
        }
        self._load_atoms({source for source, _ in doubted_pairs})
        for (source, _), older in sorted(doubted_pairs.items(), key=itemgetter(0)):
            newer = self._known.get(source)
            if (
                newer is not None
                and older.id in _doubted_ids(newer)
                and newer not in self._likely_successors[older.id]
                and self._is_trusted_enough(newer, older)
            ):
                self._likely_successors[older.id].append(newer)

    def _is_trusted_enough(self, newer: Atom, older: Atom) -> bool:
        """Return whether the origin of the newer statement is trusted at least as much as that of the older one."""
        return required_trust(newer, self.view.store.atoms) >= required_trust(older, self.view.store.atoms)

    def _load_atoms(self, ids: Collection[AtomId]) -> None:
        unread = sorted(set(ids) - self._known.keys())
        if unread:
            self._known |= self.view.atoms(unread)


def _rests_on_span(atom: Atom, span: EvidenceSpan) -> bool:
    """Return whether a statement rests on a span. The index says what rests on it today; the evidence of the statement
    says what did in this view."""
    evidence = Evidence(span.segment, span.n, span.start, span.end)
    return evidence in atom.evidence and not atom.is_segment and atom.is_searched


def _needed_ids(atom: Atom) -> Iterator[AtomId]:
    return (relation.target for relation in atom.relations if relation.name in _NEED_RELATIONS)


def _doubted_ids(atom: Atom) -> list[AtomId]:
    return [relation.target for relation in atom.relations if is_uncertain_contradiction(relation)]


def _related_ids(atom: Atom, distance: int) -> Iterator[AtomId]:
    """Yield the statements that decide the standing of one, besides its successors; near the start also those it
    depends on."""
    if distance == 0:
        yield from atom.supersedes
        if atom.status is Status.CHALLENGED:
            yield from (relation.target for relation in atom.relations if relation.name is RelationName.CONTRADICTS)
    if distance < MAX_DISTANCE and not atom.is_segment:
        yield from _needed_ids(atom)
        yield from atom.derived_from
