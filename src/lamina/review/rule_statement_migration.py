"""Re-reads once: statements that the former English rules made become the sentences they were made from.

Only statements that no person touched are changed. If the state model does not keep a sentence, its statement is
dropped; the segment stays. All of it is one commit, which undo reverses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, AtomId, Evidence, Relation, RelationName, kind_defaults
from lamina.atom.passage import passages_of
from lamina.atom.proposals_and_pairs import proposal_type_of
from lamina.atom.provenance import Origin
from lamina.atom.status import Status, TransitionCause
from lamina.capture.existing_statements import FORGET_REQUESTED_AT
from lamina.capture.extractors import CapturedTurn, ExtractedStatement, Extractor
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.statement_commit import retry_exclusively
from lamina.review.review_context import Reviewer
from lamina.store.base import AtomFilter

VERB = "reread"
_MACHINE_VERBS = frozenset({"capture", "extract", "import", "settle", "dream", "entity", "undo"})
"""Verbs that write statements without a person's decision about them."""
_READ_STATUSES = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.SUPERSEDED, Status.INVALIDATED})
_INFERRED_RELATIONS = frozenset({RelationName.DEPENDS_ON, RelationName.CONTRADICTS})


@dataclass(frozen=True, slots=True)
class RereadResult:
    """The changes of re-reading: statements with their original sentence, and statements that are dropped."""

    revised: tuple[Atom, ...]
    dropped: tuple[Atom, ...]
    receipt: Receipt | None = None


def reread(extractor: Extractor, reviewer: Reviewer, *, apply: bool) -> RereadResult:
    """Return what re-reading changes in the reviewer's scope; with `apply`, commit it."""
    reviewer.authorised_writer()

    def attempt() -> RereadResult:
        planned = _plan_changes(extractor, reviewer)
        if not apply or not (planned.revised or planned.dropped):
            return planned
        outcomes = [Outcome(Result.REVISED, atom, "restored to the original sentence") for atom in planned.revised]
        outcomes += [Outcome(Result.TAKEN_BACK, atom, "the sentence is not a statement") for atom in planned.dropped]
        reason = f"re-read {len(outcomes)} statements of the former rules"
        return RereadResult(
            planned.revised, planned.dropped, reviewer.commit_outcomes(VERB, reason, outcomes, TransitionCause.ADOPT)
        )

    return retry_exclusively(reviewer.store, attempt)


def _plan_changes(extractor: Extractor, reviewer: Reviewer) -> RereadResult:
    former = _former_statements(reviewer)
    segments = {
        segment.id: segment
        for segment in reviewer.store.atoms.read(AtomFilter(scopes=(reviewer.scope,)))
        if segment.is_segment
    }
    sentences = _extract_sentences({atom.evidence[0].segment for atom in former}, segments, extractor)
    ids = {atom.id for atom in former}
    used: set[Evidence] = set()
    revised: list[Atom] = []
    dropped: list[Atom] = []
    for atom in former:
        evidence = atom.evidence[0]
        extracted = next((sentence for sentence in sentences if _is_overlapping(sentence.evidence, evidence)), None)
        if extracted is None or extracted.evidence in used:
            dropped.append(_drop(atom, ids))
        else:
            used.add(extracted.evidence)
            revised.append(_revise(atom, extracted, ids))
    return RereadResult(tuple(revised), tuple(dropped))


def _former_statements(reviewer: Reviewer) -> list[Atom]:
    """Return the statements that rules extracted and that no person touched, the oldest first."""
    atoms = reviewer.store.atoms.read(AtomFilter(scopes=(reviewer.scope,), statuses=_READ_STATUSES))
    extracted = (atom for atom in atoms if atom.evidence and not atom.is_segment and not proposal_type_of(atom))
    untouched = (atom for atom in extracted if not atom.pinned and _is_untouched(atom, reviewer))
    return sorted(untouched, key=lambda atom: atom.id)


def _is_untouched(atom: Atom, reviewer: Reviewer) -> bool:
    if atom.origin is Origin.DREAM or FORGET_REQUESTED_AT in atom.metadata:
        return False
    return {version.verb for version in reviewer.store.journal.versions(atom.id)} <= _MACHINE_VERBS


def _extract_sentences(
    segment_ids: set[str], segments: dict[AtomId, Atom], extractor: Extractor
) -> list[ExtractedStatement]:
    """Return what the extractor finds in the segments that the former statements rest on."""
    cited = [segments[AtomId(segment_id)] for segment_id in sorted(segment_ids & segments.keys())]
    return extractor.extract([turn for segment in cited for turn in _turns_of(segment)])


def _turns_of(segment: Atom) -> Iterator[CapturedTurn]:
    for passage in passages_of(segment):
        yield CapturedTurn(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)


def _is_overlapping(first: Evidence, second: Evidence) -> bool:
    is_one_passage = (first.segment, first.passage) == (second.segment, second.passage)
    return is_one_passage and first.start < second.end and second.start < first.end


def _revise(atom: Atom, extracted: ExtractedStatement, former_ids: set[AtomId]) -> Atom:
    """Return the statement with its original sentence: active, without claim and without what rules inferred."""
    return atom.with_(
        content=extracted.content,
        kind="fact",
        subject=extracted.subject,
        attribute=None,
        value=extracted.value,
        confidence=extracted.confidence,
        evidence=(extracted.evidence, *_other_evidence(atom, extracted.evidence)),
        status=Status.ACTIVE,
        valid_from=None,
        valid_until=None,
        tags=(),
        entities=(),
        supersedes=_remaining(atom.supersedes, former_ids),
        superseded_by=_remaining(atom.superseded_by, former_ids),
        relations=_remaining_relations(atom, former_ids),
        metadata={key: value for key, value in atom.metadata.items() if key != "several"},
        **kind_defaults("fact", extracted.confidence, atom.origin),
    )


def _drop(atom: Atom, former_ids: set[AtomId]) -> Atom:
    """Return a tombstone without evidence, so that it hides no text."""
    return atom.with_(
        status=Status.TOMBSTONED,
        evidence=(),
        supersedes=_remaining(atom.supersedes, former_ids),
        superseded_by=_remaining(atom.superseded_by, former_ids),
        relations=_remaining_relations(atom, former_ids),
    )


def _other_evidence(atom: Atom, evidence: Evidence) -> tuple[Evidence, ...]:
    return tuple(other for other in atom.evidence[1:] if not _is_overlapping(other, evidence))


def _remaining(linked: Sequence[AtomId], former_ids: set[AtomId]) -> tuple[AtomId, ...]:
    return tuple(atom_id for atom_id in linked if atom_id not in former_ids)


def _remaining_relations(atom: Atom, former_ids: set[AtomId]) -> tuple[Relation, ...]:
    return tuple(
        relation
        for relation in atom.relations
        if not (relation.name in _INFERRED_RELATIONS and relation.target in former_ids)
    )
