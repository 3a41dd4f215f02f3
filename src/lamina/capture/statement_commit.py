"""Committing the verdicts on statements: one commit of what the origin may change, and a receipt with every outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from lamina.atom.atom import Atom, AtomId, Relation, RelationName
from lamina.atom.claim import mark_multi_valued
from lamina.atom.provenance import TRUST, Origin, Scope
from lamina.atom.status import RECALL_WEIGHT, Status, TransitionCause
from lamina.capture.change.dependants import DependencyRule, find_dependants
from lamina.capture.classification import SURE, StatementVerdict, classify
from lamina.capture.erased_text import find_erased_statements
from lamina.capture.existing_statements import ExistingStatements, resolve_subject
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.store_reads import StoreReads
from lamina.errors import ClaimTaken, Refused, StaleRevision
from lamina.store.base import AtomChange, AtomFilter, Commit, CommitResult, Store, TransactionMode
from lamina.store.commit_rules import find_refusal_reason
from lamina.store.queue import BufferedPassage

T = TypeVar("T")

logger = logging.getLogger("lamina")


@dataclass(frozen=True, slots=True)
class Writer:
    """The actor of a write, and its scope.

    `rules` say which attributes depend on which; `delivered_by` is the origin of the caller who delivers text of
    another origin; `multi_valued` are attributes that may have several values.
    """

    actor: str
    origin: Origin
    principal: str | None
    scope: Scope
    rules: tuple[DependencyRule, ...] = ()
    delivered_by: Origin = Origin.HUMAN
    multi_valued: frozenset[str] = frozenset()

    def commit(
        self,
        verb: str,
        reason: str,
        atoms: Iterable[Atom],
        *,
        key: str | None = None,
        way: TransitionCause = TransitionCause.ORDINARY,
        batch: str | None = None,
    ) -> Commit:
        """Return the commit of these atoms in the writer's name and to its scope; nothing is written yet."""
        return Commit(
            actor=self.actor,
            origin=self.origin,
            verb=verb,
            reason=reason,
            scope=self.scope,
            changes=tuple(map(AtomChange, atoms)),
            way=way,
            key=key,
            batch=batch,
        )


@dataclass(frozen=True, slots=True)
class SegmentBatch:
    """New versions of segments, and those of their passages that are queued for extraction."""

    segments: Sequence[Atom] = ()
    queued: Sequence[BufferedPassage] = ()


def commit_verdicts(
    segment_batch: SegmentBatch,
    verdicts: Sequence[StatementVerdict],
    writer: Writer,
    store: Store,
    verb: str,
    reason: str,
    key: str | None,
) -> Receipt:
    """Commit segments, statements and the queue entries of new passages together, and return the receipt.

    Changes that the writer's origin may not make are left out; statements that depend on an ended one are challenged.
    """
    changed: dict[AtomId, Atom] = {segment.id: segment for segment in segment_batch.segments}
    for verdict in verdicts:
        changed |= {other.id: other for other in verdict.other_changes}
        if verdict.is_written:
            changed[verdict.atom.id] = verdict.atom
    outcomes = [Outcome(Result.KEPT, segment, "stored verbatim") for segment in segment_batch.segments]
    outcomes += [Outcome(verdict.result, verdict.atom, verdict.reason) for verdict in verdicts]
    changed = limit_to_trust(changed, writer.origin, writer.scope, store)
    if not changed:
        return Receipt(None, tuple(outcomes))
    challenged = find_dependants(changed, store, writer.origin, writer.rules)
    changed |= {atom.id: atom for atom, _ in challenged}
    outcomes += [Outcome(Result.CHALLENGED, atom, cause) for atom, cause in challenged]
    causes = (
        *(verdict.reason for verdict in verdicts if verdict.other_changes or verdict.result is Result.TAKEN_BACK),
        *(cause for _, cause in challenged),
    )
    reason = "; ".join(dict.fromkeys([reason, *causes]))
    commit = writer.commit(verb, reason, changed.values(), key=key)
    if not segment_batch.queued:
        return _make_receipt(store.journal.append(commit), outcomes)
    with store.transaction(TransactionMode.WRITE) as transaction:
        committed = transaction.journal.append(commit)
        if not committed.is_repeat:
            transaction.queue.add_passages(segment_batch.queued)
    return _make_receipt(committed, outcomes)


def classify_statements(
    atoms: Sequence[Atom], reads: StoreReads, now: datetime, multi_valued: frozenset[str] = frozenset()
) -> list[StatementVerdict]:
    """Return the verdict on each statement against the existing ones and those before it in the list.

    `multi_valued` are attributes that may have several values.
    """
    verdicts: list[StatementVerdict] = []
    atoms = [mark_multi_valued(resolve_subject(atom, reads, now), multi_valued) for atom in atoms]
    existing, known_ids = ExistingStatements(atoms, reads), {atom.id: atom.id for atom in atoms}
    erased = find_erased_statements(atoms, reads)
    for atom in atoms:
        if atom.id in erased:
            verdicts.append(StatementVerdict(Result.REFUSED, atom, (), f"it was erased on {erased[atom.id]:%Y-%m-%d}"))
            continue
        verdict = classify(_resolve_links(atom, known_ids), existing, now)
        known_ids[atom.id] = verdict.atom.id
        existing.add_decided((verdict.atom, *verdict.other_changes) if verdict.is_written else verdict.other_changes)
        verdicts.append(verdict)
    return verdicts


def _resolve_links(atom: Atom, known_ids: Mapping[AtomId, AtomId]) -> Atom:
    """Return the statement with its relations to others of the list pointing at the atoms those became."""
    relations = tuple(
        replace(relation, target=known_ids.get(relation.target, relation.target)) for relation in atom.relations
    )
    return atom.with_(relations=relations) if relations else atom


def retry_exclusively(store: Store, work: Callable[[], T]) -> T:
    """Run work that reads and writes; if another writer was faster, run it again in an exclusive transaction."""
    try:
        return work()
    except (StaleRevision, ClaimTaken):
        with store.transaction(TransactionMode.WRITE):
            return work()


def write_with_retries(store: Store, write: Callable[[bool], T]) -> T:
    """Run `write(True)`, which detects changes; if a rule of the store refuses its commit, run `write(False)`.

    So words are stored whatever they seem to change. Either is run again in an exclusive transaction if another writer
    was faster.
    """
    try:
        return retry_exclusively(store, lambda: write(True))
    except (ClaimTaken, Refused) as problem:
        logger.warning("stored without change detection: %s", type(problem).__name__)
        return retry_exclusively(store, lambda: write(False))


def _make_receipt(committed: CommitResult, outcomes: Sequence[Outcome]) -> Receipt:
    if committed.is_repeat:
        duplicates = tuple(
            Outcome(Result.DUPLICATE, atom, "this request was already processed") for atom in committed.atoms
        )
        return Receipt(committed.id, duplicates, repeated=True)
    written = {atom.id: atom for atom in committed.atoms}
    return Receipt(committed.id, tuple(Outcome(o.result, written.get(o.atom.id, o.atom), o.reason) for o in outcomes))


def limit_to_trust(changed: Mapping[AtomId, Atom], origin: Origin, scope: Scope, store: Store) -> dict[AtomId, Atom]:
    """Return those of the changes that the origin may make.

    An atom that would supersede one it may not change is written as challenged, with a relation to what it contradicts.
    """
    if origin is Origin.HUMAN:
        return dict(changed)
    trusted_ids = _find_more_trusted_segments(changed, origin, scope, store)
    stored = (
        {atom.id: atom for atom in store.atoms.read(AtomFilter(scopes=(scope,), ids=tuple(changed)))}
        if trusted_ids
        else {}
    )
    allowed_evidence = [_drop_evidence(atom, stored.get(atom.id), trusted_ids) for atom in changed.values()]
    forbidden = {atom.id: atom for atom in allowed_evidence if _is_forbidden(atom, origin, store)}
    return {atom.id: _drop_forbidden_links(atom, forbidden) for atom in allowed_evidence if atom.id not in forbidden}


def _is_forbidden(atom: Atom, origin: Origin, store: Store) -> bool:
    return (
        find_refusal_reason(atom, origin, store.atoms) is not None
        if atom.revision
        else TRUST[atom.origin] > TRUST[origin]
    )


def _find_more_trusted_segments(changed: Mapping[AtomId, Atom], origin: Origin, scope: Scope, store: Store) -> set[str]:
    """Return the ids of the segments among the evidence that are more trusted than the origin."""
    ids = {AtomId(evidence.segment) for atom in changed.values() for evidence in atom.evidence} - changed.keys()
    segments = store.atoms.read(AtomFilter(scopes=(scope,), ids=tuple(sorted(ids)))) if ids else []
    return {segment.id for segment in segments if TRUST[segment.origin] > TRUST[origin]}


def _drop_evidence(atom: Atom, stored: Atom | None, segment_ids: Collection[str]) -> Atom:
    """Return the atom without evidence in these segments, except what it had before."""
    stored_evidence = stored.evidence if stored else ()
    evidence = tuple(item for item in atom.evidence if item.segment not in segment_ids or item in stored_evidence)
    return atom if evidence == atom.evidence else atom.with_(evidence=evidence)


def _drop_forbidden_links(atom: Atom, forbidden: Mapping[AtomId, Atom]) -> Atom:
    """Return the atom without links to forbidden atoms, challenged if it would have superseded one of them."""
    if not forbidden.keys() & {
        *atom.supersedes,
        *atom.superseded_by,
        *(relation.target for relation in atom.relations),
    }:
        return atom
    rivals = [supersede for supersede in atom.supersedes if supersede in forbidden and forbidden[supersede].revision]
    relations = tuple(
        relation
        for relation in atom.relations
        if relation.target not in forbidden or forbidden[relation.target].revision
    )
    relations += tuple(Relation(RelationName.CONTRADICTS, rival, SURE) for rival in rivals)
    is_challenged = bool(rivals) and atom.status in RECALL_WEIGHT
    return atom.with_(
        relations=relations,
        status=Status.CHALLENGED if is_challenged else atom.status,
        supersedes=tuple(supersede for supersede in atom.supersedes if supersede not in forbidden),
        superseded_by=tuple(
            atom_id for atom_id in atom.superseded_by if atom_id not in forbidden or forbidden[atom_id].revision
        ),
    )
