"""Re-reading: statements that the former English rules made become the sentences they were made of, once.

Only statements that no person touched are changed. A sentence that the state model does not keep loses its statement;
its words stay. All of it is one commit, and undo brings everything back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, Evidence, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.passage import passages_of
from lamina.atom.proposal import proposal_of
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.capture.current import ASKED_AT
from lamina.capture.found import Extractor, Finding, Said
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.write import unhurried
from lamina.review.reviewer import Reviewer
from lamina.store.base import Filter

VERB = "reread"
_MACHINE_VERBS = frozenset({"capture", "extract", "import", "settle", "dream", "entity", "undo"})
"""Verbs that write statements without a person's decision about them."""
_READ = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.SUPERSEDED, Status.INVALIDATED})
_GUESSED = frozenset({RelationName.DEPENDS_ON, RelationName.CONTRADICTS})


@dataclass(frozen=True, slots=True)
class Reread:
    """What re-reading changes: statements in the words that were said, and statements that are dropped."""

    revised: tuple[Atom, ...]
    dropped: tuple[Atom, ...]
    receipt: Receipt | None = None


def reread(extractor: Extractor, by: Reviewer, *, apply: bool) -> Reread:
    """Return what re-reading changes in the reviewer's scope; with `apply`, commit it."""
    by.writer()

    def carried_out() -> Reread:
        planned = _plan(extractor, by)
        if not apply or not (planned.revised or planned.dropped):
            return planned
        outcomes = [Outcome(Result.REVISED, atom, "as it was said") for atom in planned.revised]
        outcomes += [Outcome(Result.TAKEN_BACK, each, "not a statement to keep") for each in planned.dropped]
        told = f"re-read {len(outcomes)} statements of the former rules"
        return Reread(planned.revised, planned.dropped, by.carry_out(VERB, told, outcomes, Way.ADOPT))

    return unhurried(by.store, carried_out)


def _plan(extractor: Extractor, by: Reviewer) -> Reread:
    former = _former_statements(by)
    segments = {each.id: each for each in by.store.read(Filter(scopes=(by.scope,))) if each.is_segment}
    sentences = _sentences({each.evidence[0].segment for each in former}, segments, extractor)
    ids = {each.id for each in former}
    taken: set[Evidence] = set()
    revised: list[Atom] = []
    dropped: list[Atom] = []
    for atom in former:
        place = atom.evidence[0]
        found = next((sentence for sentence in sentences if _overlap(sentence.evidence, place)), None)
        if found is None or found.evidence in taken:
            dropped.append(_dropped(atom, ids))
        else:
            taken.add(found.evidence)
            revised.append(_revised(atom, found, ids))
    return Reread(tuple(revised), tuple(dropped))


def _former_statements(by: Reviewer) -> list[Atom]:
    """The statements that were made of words by rules and that no person touched, the oldest first."""
    found = by.store.read(Filter(scopes=(by.scope,), statuses=_READ))
    made = [each for each in found if each.evidence and not each.is_segment and not proposal_of(each)]
    said = [each for each in made if each.origin is not Origin.DREAM and ASKED_AT not in each.metadata]
    untouched = (each for each in said if not each.pinned and _is_untouched(each, by))
    return sorted(untouched, key=lambda each: each.id)


def _is_untouched(atom: Atom, by: Reviewer) -> bool:
    return {version.verb for version in by.store.versions(atom.id)} <= _MACHINE_VERBS


def _sentences(wanted: set[str], segments: dict[AtomId, Atom], extractor: Extractor) -> list[Finding]:
    """What the extractor finds in the words that the former statements rest on."""
    turns = [said for each in sorted(wanted) if AtomId(each) in segments for said in _turns(segments[AtomId(each)])]
    return extractor.extract(turns)


def _turns(segment: Atom) -> Iterator[Said]:
    for passage in passages_of(segment):
        yield Said(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)


def _overlap(one: Evidence, other: Evidence) -> bool:
    is_one_passage = (one.segment, one.passage) == (other.segment, other.passage)
    return is_one_passage and one.start < other.end and other.start < one.end


def _revised(atom: Atom, found: Finding, ids: set[AtomId]) -> Atom:
    """The statement in the words that were said: active, without claim, and without what rules concluded from it."""
    return atom.with_(
        content=found.content,
        kind="fact",
        subject=found.subject,
        attribute=None,
        value=found.value,
        confidence=found.confidence,
        evidence=(found.evidence, *_others(atom, found.evidence)),
        status=Status.ACTIVE,
        valid_from=None,
        valid_until=None,
        tags=(),
        entities=(),
        supersedes=_left(atom.supersedes, ids),
        superseded_by=_left(atom.superseded_by, ids),
        relations=_links(atom, ids),
        metadata={key: value for key, value in atom.metadata.items() if key != "several"},
        **kind_defaults("fact", found.confidence, atom.origin),
    )


def _dropped(atom: Atom, ids: set[AtomId]) -> Atom:
    """A tombstone without evidence: it withholds no words."""
    return atom.with_(
        status=Status.TOMBSTONED,
        evidence=(),
        supersedes=_left(atom.supersedes, ids),
        superseded_by=_left(atom.superseded_by, ids),
        relations=_links(atom, ids),
    )


def _others(atom: Atom, own: Evidence) -> tuple[Evidence, ...]:
    return tuple(each for each in atom.evidence[1:] if not _overlap(each, own))


def _left(linked: Sequence[AtomId], ids: set[AtomId]) -> tuple[AtomId, ...]:
    return tuple(atom_id for atom_id in linked if atom_id not in ids)


def _links(atom: Atom, ids: set[AtomId]) -> tuple[Relation, ...]:
    return tuple(relation for relation in atom.relations if not (relation.name in _GUESSED and relation.target in ids))
