"""What a person decides about a statement that waits: it counts, and what stood in its place gives way; or it does not.

A person who confirms vouches for the words, so they are compared with what stands at that moment as if the person had
said them; whose words they are stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import Claim, claim_of
from lamina.atom.identity import AtomId
from lamina.atom.relation import RelationName
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.capture.classify import CORRECTION, Verdict, classify
from lamina.capture.current import Current
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.write import Writer, unhurried
from lamina.errors import NotFound, Refused
from lamina.store.base import Change, Commit, Filter, Store

OPEN = frozenset({Status.CONSTRAINED, Status.CHALLENGED})
"""What a person may still decide about."""


class _Settled(Current):
    """What stands and waits for nobody. What was taken back does not bind a person who decides otherwise."""

    def with_words_of(self, atom: Atom) -> list[Atom]:
        return [each for each in super().with_words_of(atom) if each.status is not Status.CONSTRAINED]

    def beside(self, atom: Atom) -> list[Atom]:
        return [each for each in super().beside(atom) if each.status is not Status.CONSTRAINED]

    def ended(self, atom: Atom, claim: Claim | None) -> tuple[Atom, datetime] | None:
        return None


def confirm(
    atom_id: AtomId, writer: Writer, store: Store, now: datetime, reason: str, batch: str | None = None
) -> Receipt:
    """Let a statement that waits count; what becomes of it and of what stood is one commit."""

    def confirmed() -> Receipt:
        held = _open(atom_id, writer, store, "confirm")
        if held is None:
            return _settled(atom_id, writer, store)
        verdict = _verdict(held, store, now)
        over = verdict.atom.status is Status.SUPERSEDED and held.status is Status.CONSTRAINED
        # The table leads from waiting to history only through active, and a commit says one thing of an atom.
        way = Way.ADOPT if over else Way.ORDINARY
        return _commit(verdict, held, writer, store, "confirm", reason, way, batch)

    return unhurried(store, confirmed)


def reject(atom_id: AtomId, writer: Writer, store: Store, reason: str, batch: str | None = None) -> Receipt:
    """Take back a statement that waits: it is kept as a tombstone, and does not return from the same words."""

    def rejected() -> Receipt:
        held = _open(atom_id, writer, store, "reject")
        if held is None:
            raise Refused(f"{atom_id} is active; forget it instead")
        verdict = Verdict(Result.REFUSED, held.with_(status=Status.TOMBSTONED), (), reason)
        return _commit(verdict, held, writer, store, "reject", reason, Way.ORDINARY, batch)

    return unhurried(store, rejected)


def _open(atom_id: AtomId, writer: Writer, store: Store, verb: str) -> Atom | None:
    """The statement if somebody can still decide about it; None where it counts already."""
    found = store.read(Filter(scopes=(writer.scope,), ids=(atom_id,)))
    if not found:
        raise NotFound(f"no atom {atom_id!r}")
    if found[0].status in OPEN:
        return found[0]
    if found[0].status is Status.ACTIVE:
        return None
    raise Refused(f"{atom_id} is {found[0].status}, so there is nothing to {verb}; `status` brings it back")


def _settled(atom_id: AtomId, writer: Writer, store: Store) -> Receipt:
    (atom,) = store.read(Filter(scopes=(writer.scope,), ids=(atom_id,)))
    return Receipt(None, (Outcome(Result.DUPLICATE, atom, "it counts already"),))


def _verdict(held: Atom, store: Store, now: datetime) -> Verdict:
    """What the statement is to those that stand, now that a person vouches for it."""
    if held.is_segment or held.metadata.get("canonical") == "true":
        # Words are compared with nothing, and a canonical procedure says again what others say, on purpose.
        return Verdict(Result.NEW, held.with_(status=Status.ACTIVE), (), "it counts as it is")
    current = _Settled([held], store)
    vouched = held.with_(status=Status.ACTIVE, origin=Origin.HUMAN)
    verdict = classify(vouched, current, now)
    if verdict.result is Result.CHALLENGED:  # two values of one time: whoever confirms one says the other is wrong
        verdict = classify(vouched.with_(tags=(*held.tags, CORRECTION)), current, now)
    if verdict.result is Result.DUPLICATE:
        known = verdict.atom
        double = held.with_(status=Status.TOMBSTONED)
        return Verdict(Result.DUPLICATE, double, verdict.others, f"{known.id} says so already")
    ended = {each.id for each in verdict.others}
    links = tuple(
        each for each in verdict.atom.relations if not (each.name is RelationName.CONTRADICTS and each.target in ended)
    )
    own = verdict.atom.with_(origin=held.origin, tags=held.tags, relations=links)
    return Verdict(verdict.result, own, (*verdict.others, *_parted(own, ended, current)), verdict.reason)


def _parted(own: Atom, ended: Collection[AtomId], current: Current) -> Iterator[Atom]:
    """Others of the claim that begin later but do not say when: from now on they do."""
    claim = claim_of(own)
    if claim is None or not claim.single_valued or own.status is not Status.ACTIVE:
        return
    for each in current.holders(own, claim):
        if each.id not in ended and each.valid_from is None and each.validity.overlaps(own.validity):
            yield each.with_(valid_from=each.observed_at)


def _commit(
    verdict: Verdict, held: Atom, writer: Writer, store: Store, verb: str, reason: str, way: Way, batch: str | None
) -> Receipt:
    told = reason if verb == "reject" else f"{reason}: {verdict.reason}"
    done = store.commit(
        Commit(
            actor=writer.actor, origin=writer.origin, verb=verb, reason=told, scope=writer.scope, way=way, batch=batch,
            changes=tuple(Change(each) for each in (verdict.atom, *verdict.others)),
        )
    )  # fmt: skip
    written = {each.id: each for each in done.atoms}
    ended = (each for each in verdict.others if held.id in each.superseded_by)
    others = tuple(Outcome(Result.SUPERSEDED, written[each.id], told) for each in ended)
    return Receipt(done.id, (Outcome(verdict.result, written[held.id], told), *others))
