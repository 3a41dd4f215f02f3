"""Committing the verdicts on statements: one commit, and a receipt with every outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from lamina.atom.atom import Atom
from lamina.atom.claim import mark_multi_valued
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.capture.change.dependants import DependencyRule, find_dependants
from lamina.capture.classification import StatementVerdict, classify
from lamina.capture.erased_text import find_erased_statements
from lamina.capture.existing_statements import ExistingStatements
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.subject_resolution import resolve_subject
from lamina.capture.trust_limits import limit_to_trust
from lamina.errors import ClaimTaken, Refused, StaleRevision
from lamina.store.base import AtomChange, Commit, CommitResult, Store
from lamina.store.buffer import BufferedPassage

T = TypeVar("T")

logger = logging.getLogger("lamina")


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, and into which scope.

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
    commit = Commit(
        actor=writer.actor,
        origin=writer.origin,
        verb=verb,
        reason=reason,
        scope=writer.scope,
        key=key,
        changes=tuple(AtomChange(atom) for atom in changed.values()),
    )
    if not segment_batch.queued:
        return _make_receipt(store.commit(commit), outcomes)
    with store.exclusive_transaction():
        committed = store.commit(commit)
        if not committed.is_repeat:
            store.buffer.add(segment_batch.queued)
    return _make_receipt(committed, outcomes)


def classify_statements(
    atoms: Sequence[Atom], store: Store, now: datetime, multi_valued: frozenset[str] = frozenset()
) -> list[StatementVerdict]:
    """Return the verdict on each statement against the existing ones and those before it in the list.

    `multi_valued` are attributes that may have several values.
    """
    verdicts: list[StatementVerdict] = []
    atoms = [mark_multi_valued(resolve_subject(atom, store, now), multi_valued) for atom in atoms]
    existing, known_ids = ExistingStatements(atoms, store), {atom.id: atom.id for atom in atoms}
    erased = find_erased_statements(atoms, store)
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
        with store.exclusive_transaction():
            return work()


def retry_without_changes(store: Store, work: Callable[[bool], T]) -> T:
    """Run `work(True)`, which looks for changes; if a rule of the store refuses the result, run `work(False)`.

    Captured text is stored whatever it seems to change.
    """
    try:
        return retry_exclusively(store, lambda: work(True))
    except (ClaimTaken, Refused) as problem:
        logger.warning("stored without change detection: %s", type(problem).__name__)
        return retry_exclusively(store, lambda: work(False))


def new_ids(source: IdSource, at: datetime) -> Iterator[AtomId]:
    """Yield new atom ids of one moment, without end."""
    while True:
        yield source.new(at)


def _make_receipt(committed: CommitResult, outcomes: Sequence[Outcome]) -> Receipt:
    if committed.is_repeat:
        duplicates = tuple(
            Outcome(Result.DUPLICATE, atom, "this request was already processed") for atom in committed.atoms
        )
        return Receipt(committed.id, duplicates, repeated=True)
    written = {atom.id: atom for atom in committed.atoms}
    return Receipt(committed.id, tuple(Outcome(o.result, written.get(o.atom.id, o.atom), o.reason) for o in outcomes))
