"""Committing the verdicts on statements: one commit, and a receipt with every outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from lamina.atom.atom import Atom
from lamina.atom.claim import beside_others
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.capture.change.dependants import DependencyRule, dependants
from lamina.capture.classify import Verdict, classify
from lamina.capture.current import Current
from lamina.capture.erased import erased_among
from lamina.capture.reach import within_reach
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.subjects import resolved
from lamina.errors import ClaimTaken, Refused, StaleRevision
from lamina.store.base import Change, Commit, Committed, Store
from lamina.store.buffer import Waiting

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
    through: Origin = Origin.HUMAN
    several: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Words:
    """New versions of segments, and those of their passages that are queued for extraction."""

    segments: Sequence[Atom] = ()
    waiting: Sequence[Waiting] = ()


def write(
    words: Words, verdicts: Sequence[Verdict], writer: Writer, store: Store, verb: str, reason: str, key: str | None
) -> Receipt:
    """Commit segments, statements and the queue entries of new passages together, and return the receipt.

    Changes that the writer's origin may not make are left out; statements that depend on an ended one are challenged.
    """
    changed: dict[AtomId, Atom] = {segment.id: segment for segment in words.segments}
    for verdict in verdicts:
        changed |= {other.id: other for other in verdict.others}
        if verdict.is_written:
            changed[verdict.atom.id] = verdict.atom
    outcomes = [Outcome(Result.KEPT, segment, "stored verbatim") for segment in words.segments]
    outcomes += [Outcome(verdict.result, verdict.atom, verdict.reason) for verdict in verdicts]
    changed = within_reach(changed, writer.origin, writer.scope, store)
    if not changed:
        return Receipt(None, tuple(outcomes))
    challenged = dependants(changed, store, writer.origin, writer.rules)
    changed |= {atom.id: atom for atom, _ in challenged}
    outcomes += [Outcome(Result.CHALLENGED, atom, cause) for atom, cause in challenged]
    causes = (
        *(verdict.reason for verdict in verdicts if verdict.others or verdict.result is Result.TAKEN_BACK),
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
        changes=tuple(Change(atom) for atom in changed.values()),
    )
    if not words.waiting:
        return _receipt(store.commit(commit), outcomes)
    with store.alone():
        committed = store.commit(commit)
        if not committed.repeated:
            store.buffer.add(words.waiting)
    return _receipt(committed, outcomes)


def verdicts_on(
    atoms: Sequence[Atom], store: Store, now: datetime, several: frozenset[str] = frozenset()
) -> list[Verdict]:
    """Return the verdict on each statement against the existing ones and those before it in the list.

    `multi_valued` are attributes that may have several values.
    """
    verdicts: list[Verdict] = []
    atoms = [beside_others(resolved(atom, store, now), several) for atom in atoms]
    existing, known_ids = Current(atoms, store), {atom.id: atom.id for atom in atoms}
    erased = erased_among(atoms, store)
    for atom in atoms:
        if atom.id in erased:
            verdicts.append(Verdict(Result.REFUSED, atom, (), f"it was erased on {erased[atom.id]:%Y-%m-%d}"))
            continue
        verdict = classify(_linked(atom, known_ids), existing, now)
        known_ids[atom.id] = verdict.atom.id
        existing.take((verdict.atom, *verdict.others) if verdict.is_written else verdict.others)
        verdicts.append(verdict)
    return verdicts


def _linked(atom: Atom, known: Mapping[AtomId, AtomId]) -> Atom:
    """Return the statement with its relations to others of the list pointing at the atoms those became."""
    relations = tuple(
        replace(relation, target=known.get(relation.target, relation.target)) for relation in atom.relations
    )
    return atom.with_(relations=relations) if relations else atom


def unhurried(store: Store, work: Callable[[], T]) -> T:
    """Run work that reads and writes; if another writer was faster, run it again in an exclusive transaction."""
    try:
        return work()
    except (StaleRevision, ClaimTaken):
        with store.alone():
            return work()


def kept_anyway(store: Store, work: Callable[[bool], T]) -> T:
    """Run `work(True)`, which looks for changes; if a rule of the store refuses the result, run `work(False)`.

    Captured text is stored whatever it seems to change.
    """
    try:
        return unhurried(store, lambda: work(True))
    except (ClaimTaken, Refused) as problem:
        logger.warning("stored without change detection: %s", type(problem).__name__)
        return unhurried(store, lambda: work(False))


def fresh_ids(source: IdSource, at: datetime) -> Iterator[AtomId]:
    """Yield new atom ids of one moment, without end."""
    while True:
        yield source.new(at)


def _receipt(done: Committed, outcomes: Sequence[Outcome]) -> Receipt:
    if done.repeated:
        duplicates = tuple(Outcome(Result.DUPLICATE, atom, "this request was already processed") for atom in done.atoms)
        return Receipt(done.id, duplicates, repeated=True)
    written = {atom.id: atom for atom in done.atoms}
    return Receipt(done.id, tuple(Outcome(o.result, written.get(o.atom.id, o.atom), o.reason) for o in outcomes))
