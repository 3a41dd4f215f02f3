"""Re-reads once: statements that the former English rules made become the sentences they were made from.

Only statements that no person touched are changed. If the state model does not keep a sentence, its statement is
dropped; the segment stays. All of it is one commit, which undo reverses.
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
    """What re-reading changes: statements with the text that was said, and statements that are dropped."""

    revised: tuple[Atom, ...]
    dropped: tuple[Atom, ...]
    receipt: Receipt | None = None


def reread(extractor: Extractor, by: Reviewer, *, apply: bool) -> Reread:
    """Return what re-reading changes in the reviewer's scope; with `apply`, commit it."""
    by.writer()

    def attempt() -> Reread:
        planned = _plan(extractor, by)
        if not apply or not (planned.revised or planned.dropped):
            return planned
        outcomes = [Outcome(Result.REVISED, atom, "restored to the original sentence") for atom in planned.revised]
        outcomes += [Outcome(Result.TAKEN_BACK, atom, "the sentence is not a statement") for atom in planned.dropped]
        reason = f"re-read {len(outcomes)} statements of the former rules"
        return Reread(planned.revised, planned.dropped, by.carry_out(VERB, reason, outcomes, Way.ADOPT))

    return unhurried(by.store, attempt)


def _plan(extractor: Extractor, by: Reviewer) -> Reread:
    former = _former_statements(by)
    segments = {segment.id: segment for segment in by.store.read(Filter(scopes=(by.scope,))) if segment.is_segment}
    sentences = _sentences({atom.evidence[0].segment for atom in former}, segments, extractor)
    ids = {atom.id for atom in former}
    used: set[Evidence] = set()
    revised: list[Atom] = []
    dropped: list[Atom] = []
    for atom in former:
        evidence = atom.evidence[0]
        extracted = next((sentence for sentence in sentences if _overlap(sentence.evidence, evidence)), None)
        if extracted is None or extracted.evidence in used:
            dropped.append(_dropped(atom, ids))
        else:
            used.add(extracted.evidence)
            revised.append(_revised(atom, extracted, ids))
    return Reread(tuple(revised), tuple(dropped))


def _former_statements(by: Reviewer) -> list[Atom]:
    """Return the statements that rules extracted and that no person touched, the oldest first."""
    atoms = by.store.read(Filter(scopes=(by.scope,), statuses=_READ))
    extracted = [atom for atom in atoms if atom.evidence and not atom.is_segment and not proposal_of(atom)]
    candidates = [atom for atom in extracted if atom.origin is not Origin.DREAM and ASKED_AT not in atom.metadata]
    untouched = (atom for atom in candidates if not atom.pinned and _is_untouched(atom, by))
    return sorted(untouched, key=lambda atom: atom.id)


def _is_untouched(atom: Atom, by: Reviewer) -> bool:
    return {version.verb for version in by.store.versions(atom.id)} <= _MACHINE_VERBS


def _sentences(wanted: set[str], segments: dict[AtomId, Atom], extractor: Extractor) -> list[Finding]:
    """Return what the extractor finds in the segments that the former statements rest on."""
    turns = [
        turn
        for segment_id in sorted(wanted)
        if AtomId(segment_id) in segments
        for turn in _turns(segments[AtomId(segment_id)])
    ]
    return extractor.extract(turns)


def _turns(segment: Atom) -> Iterator[Said]:
    for passage in passages_of(segment):
        yield Said(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)


def _overlap(one: Evidence, other: Evidence) -> bool:
    is_one_passage = (one.segment, one.passage) == (other.segment, other.passage)
    return is_one_passage and one.start < other.end and other.start < one.end


def _revised(atom: Atom, found: Finding, ids: set[AtomId]) -> Atom:
    """Return the statement with the text that was said: active, without claim and without what rules inferred."""
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
    """Return a tombstone without evidence, so that it hides no text."""
    return atom.with_(
        status=Status.TOMBSTONED,
        evidence=(),
        supersedes=_left(atom.supersedes, ids),
        superseded_by=_left(atom.superseded_by, ids),
        relations=_links(atom, ids),
    )


def _others(atom: Atom, own: Evidence) -> tuple[Evidence, ...]:
    return tuple(other for other in atom.evidence[1:] if not _overlap(other, own))


def _left(linked: Sequence[AtomId], ids: set[AtomId]) -> tuple[AtomId, ...]:
    return tuple(atom_id for atom_id in linked if atom_id not in ids)


def _links(atom: Atom, ids: set[AtomId]) -> tuple[Relation, ...]:
    return tuple(relation for relation in atom.relations if not (relation.name in _GUESSED and relation.target in ids))
