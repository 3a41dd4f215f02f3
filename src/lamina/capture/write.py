"""Putting down what was decided: one commit, and a receipt that tells every outcome."""

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
    """Who writes, into which scope, with what word for the journal; `rules` say which attributes depend on which,
    `through` who brings what is of another origin."""

    actor: str
    origin: Origin
    principal: str | None
    scope: Scope
    rules: tuple[DependencyRule, ...] = ()
    through: Origin = Origin.HUMAN
    several: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Words:
    """Verbatim segments as they shall be, and which of their passages wait to be read for statements."""

    segments: Sequence[Atom] = ()
    waiting: Sequence[Waiting] = ()


def write(
    words: Words, verdicts: Sequence[Verdict], writer: Writer, store: Store, verb: str, reason: str, key: str | None
) -> Receipt:
    """Commit words and statements together; what waits is put down with them or not at all."""
    changed: dict[AtomId, Atom] = {segment.id: segment for segment in words.segments}
    for verdict in verdicts:
        changed |= {other.id: other for other in verdict.others}
        if verdict.is_written:
            changed[verdict.atom.id] = verdict.atom
    outcomes = [Outcome(Result.KEPT, segment, "the words as they were said") for segment in words.segments]
    outcomes += [Outcome(each.result, each.atom, each.reason) for each in verdicts]
    changed = within_reach(changed, writer.origin, writer.scope, store)
    if not changed:
        return Receipt(None, tuple(outcomes))
    doubted = dependants(changed, store, writer.origin, writer.rules)
    changed |= {atom.id: atom for atom, _ in doubted}
    outcomes += [Outcome(Result.CHALLENGED, atom, why) for atom, why in doubted]
    told = (
        *(each.reason for each in verdicts if each.others or each.result is Result.TAKEN_BACK),
        *(why for _, why in doubted),
    )
    reason = "; ".join(dict.fromkeys([reason, *told]))
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
        done = store.commit(commit)
        if not done.repeated:
            store.buffer.add(words.waiting)
    return _receipt(done, outcomes)


def verdicts_on(
    atoms: Sequence[Atom], store: Store, now: datetime, several: frozenset[str] = frozenset()
) -> list[Verdict]:
    """What each statement is to those that stand and to those before it; `several` are attributes with many values."""
    verdicts: list[Verdict] = []
    atoms = [beside_others(resolved(atom, store, now), several) for atom in atoms]
    current, known = Current(atoms, store), {atom.id: atom.id for atom in atoms}
    erased = erased_among(atoms, store)
    for atom in atoms:
        if atom.id in erased:
            verdicts.append(Verdict(Result.REFUSED, atom, (), f"it was erased on {erased[atom.id]:%Y-%m-%d}"))
            continue
        verdict = classify(_linked(atom, known), current, now)
        known[atom.id] = verdict.atom.id
        current.take((verdict.atom, *verdict.others) if verdict.is_written else verdict.others)
        verdicts.append(verdict)
    return verdicts


def _linked(atom: Atom, known: Mapping[AtomId, AtomId]) -> Atom:
    """The statement with its links to others of the same words: one that was said before is linked as it is known."""
    links = tuple(replace(relation, target=known.get(relation.target, relation.target)) for relation in atom.relations)
    return atom.with_(relations=links) if links else atom


def unhurried(store: Store, work: Callable[[], T]) -> T:
    """Look at what stands and write; if somebody was quicker, once more with nobody in between."""
    try:
        return work()
    except (StaleRevision, ClaimTaken):
        with store.alone():
            return work()


def kept_anyway(store: Store, work: Callable[[bool], T]) -> T:
    """The same for work that may compare what is said with what was said before; where what comes of that breaks a
    rule, it is done without: words are kept whatever they seem to change."""
    try:
        return unhurried(store, lambda: work(True))
    except (ClaimTaken, Refused) as problem:
        logger.warning("kept without looking for changes: %s", type(problem).__name__)
        return unhurried(store, lambda: work(False))


def fresh_ids(source: IdSource, at: datetime) -> Iterator[AtomId]:
    """New ids of a moment, as many as are asked for."""
    while True:
        yield source.new(at)


def _receipt(done: Committed, outcomes: Sequence[Outcome]) -> Receipt:
    if done.repeated:
        kept = tuple(Outcome(Result.DUPLICATE, atom, "this very request was carried out before") for atom in done.atoms)
        return Receipt(done.id, kept, repeated=True)
    written = {atom.id: atom for atom in done.atoms}
    return Receipt(done.id, tuple(Outcome(o.result, written.get(o.atom.id, o.atom), o.reason) for o in outcomes))
