"""Confirms or rejects a statement that is pending review, and ends what it supersedes.

A person who confirms is responsible for the text, so it is compared with existing statements as if the person had
stated it; its origin stays the same. A proposal states itself what it replaces: see `lamina.atom.proposal`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.claim import SEVERAL, Claim, claim_of, may_replace, value_of
from lamina.atom.identity import AtomId
from lamina.atom.proposal import PROCEDURES, Proposal, edited_values, proposal_of, read_places
from lamina.atom.relation import RelationName
from lamina.atom.standing import begins
from lamina.atom.status import ENDED, Status, Way
from lamina.atom.trust import TRUST, Origin
from lamina.capture.change.dependants import DependencyRule, with_dependants
from lamina.capture.classify import CORRECTION, Verdict, classify
from lamina.capture.current import Current
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.write import Writer, unhurried
from lamina.errors import NotFound, Refused
from lamina.store.base import Change, Commit, Filter, Store
from lamina.sync import Decision
from lamina.text.normal import value_form

OPEN = frozenset({Status.CONSTRAINED, Status.CHALLENGED})
"""Statuses about which a person can still decide."""
_SAYS_THE_SAME = PROCEDURES | {Proposal.SEMANTIC_COMPACTION, Proposal.FILE_EDIT}
_ENDABLE = frozenset({Status.ACTIVE, Status.CHALLENGED})


class _Settled(Current):
    """Existing statements without pending ones. An earlier retraction does not bind a person who confirms."""

    def with_words_of(self, atom: Atom) -> list[Atom]:
        return [word for word in super().with_words_of(atom) if word.status is not Status.CONSTRAINED]

    def beside(self, atom: Atom) -> list[Atom]:
        return [other for other in super().beside(atom) if other.status is not Status.CONSTRAINED]

    def ended(self, atom: Atom, claim: Claim | None) -> tuple[Atom, datetime] | None:
        return None

    def trust(self, atom: Atom) -> float:
        return TRUST[Origin.HUMAN]


def confirm(
    atom_id: AtomId,
    writer: Writer,
    store: Store,
    now: datetime,
    reason: str,
    batch: str | None = None,
    revise: Callable[[Atom], Atom] = lambda atom: atom,
) -> Receipt:
    """Activate a pending statement, with `revise` applied, and end what it supersedes, in one commit."""

    def attempt() -> Receipt:
        pending = _open(atom_id, writer, store, "confirm")
        if pending is None:
            return _settled(atom_id, writer, store)
        pending = revise(pending)
        verdict = verdict_on(pending, store, now)
        return _commit(verdict, pending, writer, store, "confirm", reason, _way_of(pending, verdict), batch)

    return unhurried(store, attempt)


def by_file(atom: Atom, status: Status, store: Store, now: datetime, rules: Sequence[DependencyRule] = ()) -> Decision:
    """Return what changes when a person writes another status into the file of an atom."""
    if atom.status in OPEN and status is Status.ACTIVE:
        verdict = verdict_on(atom, store, now)
        changed, reason = _with_doubts(verdict, atom, verdict.reason, store, rules)
        return Decision(changed[0], tuple(changed[1:]), reason, _way_of(atom, verdict))
    way = Way.RESTORE if atom.status in ENDED else Way.ORDINARY
    changed, reason = with_dependants([moved(atom, status, now)], "", store, Origin.HUMAN, rules)
    return Decision(changed[0], tuple(changed[1:]), reason, way)


def moved(atom: Atom, status: Status, now: datetime) -> Atom:
    """Return the atom with another status; a superseded one is valid until now unless it says otherwise."""
    if status is not Status.SUPERSEDED or atom.status is status:
        return atom.with_(status=status)
    return atom.with_(status=status, valid_until=_until(atom, now))


def _way_of(held: Atom, verdict: Verdict) -> Way:
    """Return the way of the commit: a pending statement may become superseded directly, without being active."""
    is_superseded = verdict.atom.status is Status.SUPERSEDED and held.status is Status.CONSTRAINED
    return Way.ADOPT if is_superseded else Way.ORDINARY


def reject(atom_id: AtomId, writer: Writer, store: Store, reason: str, batch: str | None = None) -> Receipt:
    """Reject a pending statement: it stays as a tombstone, and the same text is not extracted again."""

    def attempt() -> Receipt:
        pending = _open(atom_id, writer, store, "reject")
        if pending is None:
            raise Refused(f"{atom_id} is active; forget it instead")
        verdict = Verdict(Result.REFUSED, pending.with_(status=Status.TOMBSTONED), (), reason)
        return _commit(verdict, pending, writer, store, "reject", reason, Way.ORDINARY, batch)

    return unhurried(store, attempt)


def _open(atom_id: AtomId, writer: Writer, store: Store, verb: str) -> Atom | None:
    """Return the statement if it can still be decided; None if it is active; Refused if it has ended."""
    atoms = store.read(Filter(scopes=(writer.scope,), ids=(atom_id,)))
    if not atoms:
        raise NotFound(f"no atom {atom_id!r}")
    if atoms[0].status in OPEN:
        return atoms[0]
    if atoms[0].status is Status.ACTIVE:
        return None
    raise Refused(f"{atom_id} is {atoms[0].status}, so there is nothing to {verb}; `status` restores it")


def _settled(atom_id: AtomId, writer: Writer, store: Store) -> Receipt:
    (atom,) = store.read(Filter(scopes=(writer.scope,), ids=(atom_id,)))
    return Receipt(None, (Outcome(Result.DUPLICATE, atom, "it is already active"),))


def verdict_on(held: Atom, store: Store, now: datetime) -> Verdict:
    """Return what becomes of a pending statement, and of existing ones, if a person confirms it."""
    proposal, claim = proposal_of(held), claim_of(held)
    if proposal is Proposal.SEMANTIC_COMPACTION:
        return _in_place_of(held, _compacted(held, store), begins(held), "it summarises them")
    if proposal in PROCEDURES:
        return _in_place_of(held, _procedures(held, store), begins(held), "it is the canonical procedure")
    if proposal is Proposal.FORGET:
        return _forgotten(held, store)
    if proposal is Proposal.FILE_EDIT and held.derived_from:
        return _taken_over(held, store)
    timeless = held.valid_from is None and held.valid_until is None
    if proposal is Proposal.PROFILE_UPDATE and claim and timeless and not claim.several:
        return _from_now_on(held, claim, store, now)
    if held.is_segment:
        return Verdict(Result.NEW, held.with_(status=Status.ACTIVE), (), "it is active")
    return _compared(held, store, now)


def _compared(held: Atom, store: Store, now: datetime) -> Verdict:
    """Compare the statement with existing ones as if a person had stated it."""
    current = _Settled([held], store)
    as_human = held.with_(status=Status.ACTIVE, origin=Origin.HUMAN)
    verdict = classify(as_human, current, now)
    if verdict.result is Result.CHALLENGED:  # two values at one time: confirming one rejects the other
        verdict = classify(as_human.with_(tags=(*held.tags, CORRECTION)), current, now)
    if verdict.result is Result.DUPLICATE:
        existing = verdict.atom
        duplicate = held.with_(status=Status.TOMBSTONED)
        return Verdict(Result.DUPLICATE, duplicate, verdict.others, f"{existing.id} has the same content")
    ended = {other.id for other in verdict.others}
    links = tuple(
        relation
        for relation in verdict.atom.relations
        if not (relation.name is RelationName.CONTRADICTS and relation.target in ended)
    )
    confirmed = verdict.atom.with_(origin=held.origin, tags=held.tags, relations=links)
    return Verdict(verdict.result, confirmed, (*verdict.others, *_parted(confirmed, ended, current)), verdict.reason)


def _in_place_of(held: Atom, sources: Sequence[Atom], since: datetime, reason: str) -> Verdict:
    """Activate the proposal and supersede its sources from its beginning on."""
    ended = tuple(
        source.with_(
            status=Status.SUPERSEDED, valid_until=_until(source, since), superseded_by=(*source.superseded_by, held.id)
        )
        for source in sources
    )
    source_ids = tuple(source.id for source in sources)
    links = tuple(
        relation
        for relation in held.relations
        if not (relation.name is RelationName.CONTRADICTS and relation.target in source_ids)
    )
    confirmed = held.with_(status=Status.ACTIVE, supersedes=(*held.supersedes, *source_ids), relations=links)
    return Verdict(Result.SUPERSEDES if ended else Result.NEW, confirmed, ended, reason if ended else "it is active")


def _until(ended: Atom, since: datetime) -> datetime | None:
    """Return until when an ended statement was valid; unchanged if it began no earlier than its successor."""
    return min(ended.valid_until or since, since) if begins(ended) < since else ended.valid_until


def _compacted(held: Atom, store: Store) -> list[Atom]:
    sources = store.read(Filter(scopes=(held.scope,), ids=held.derived_from))
    changed = [source for source in sources if source.status in ENDED]
    if changed:
        states = ", ".join(f"{source.id} is {source.status}" for source in changed)
        raise Refused(f"the sources of {held.id} have changed: {states}; reject it and compact again")
    return [source for source in sources if source.status in _ENDABLE and not source.is_episode]


def _procedures(held: Atom, store: Store) -> list[Atom]:
    """Return the sources of the proposal that belong to the same workflow."""
    workflow = value_form(held.metadata.get("workflow", ""))
    sources = store.read(Filter(scopes=(held.scope,), ids=held.derived_from))
    return [
        source
        for source in sources
        if source.status in _ENDABLE
        and not source.is_episode
        and value_form(source.metadata.get("workflow", "")) == workflow
    ]


def _taken_over(held: Atom, store: Store) -> Verdict:
    """Apply a file edit to the atom that was edited, and end the proposal."""
    targets = store.read(Filter(scopes=(held.scope,), ids=held.derived_from[:1]))
    if not targets or targets[0].status in ENDED:
        raise Refused(f"{held.derived_from[0]}, which was edited, has ended; reject {held.id}")
    edited = targets[0].with_(**edited_values(held))
    closed = held.with_(status=Status.TOMBSTONED)
    return Verdict(Result.REVISED, closed, (edited,), f"the edit is applied to {edited.id}")


def _forgotten(held: Atom, store: Store) -> Verdict:
    """Tombstone the statements of a forget request; its own evidence covers sentences without a statement."""
    statements = store.read(Filter(scopes=(held.scope,), ids=held.derived_from)) if held.derived_from else []
    tombstones = tuple(
        statement.with_(status=Status.TOMBSTONED) for statement in statements if statement.status not in ENDED
    )
    places = dict.fromkeys((*held.evidence, *read_places(held)))
    covered = held.with_(status=Status.TOMBSTONED, evidence=tuple(places), value=held.value or held.content)
    return Verdict(Result.TAKEN_BACK, covered, tombstones, "forgotten as requested")


def _from_now_on(held: Atom, claim: Claim, store: Store, now: datetime) -> Verdict:
    """Supersede the current value of a profile claim from now on."""
    query = Filter(scopes=(held.scope,), claims=claim.names, statuses=frozenset({Status.ACTIVE}))
    replaceable = (holder for holder in store.read(query) if may_replace(holder, held))
    holders = [holder for holder in replaceable if holder.metadata.get(SEVERAL) != "true"]
    current = [holder for holder in holders if begins(holder) <= now and holder.validity.covers(now)]
    if any(value_of(holder) == value_of(held) for holder in current):
        return _compared(held, store, now)
    next_start = min((begins(holder) for holder in holders if begins(holder) > now), default=None)
    return _in_place_of(held.with_(valid_from=now, valid_until=next_start), current, now, f"{claim} changed")


def _parted(own: Atom, ended: Collection[AtomId], current: Current) -> Iterator[Atom]:
    """Return later holders of the claim that have no start date, with that date set."""
    claim = claim_of(own)
    if claim is None or not claim.single_valued or own.status is not Status.ACTIVE:
        return
    for holder in current.holders(own, claim):
        if holder.id not in ended and holder.valid_from is None and holder.validity.overlaps(own.validity):
            yield holder.with_(valid_from=holder.observed_at)


def _commit(
    verdict: Verdict, held: Atom, writer: Writer, store: Store, verb: str, reason: str, way: Way, batch: str | None
) -> Receipt:
    is_simple = verb == "reject" or (verdict.result is Result.NEW and not verdict.others)
    outcome_reason = reason if is_simple else f"{reason}: {verdict.reason}"
    changed, commit_reason = _with_doubts(verdict, held, outcome_reason, store, writer.rules)
    committed = store.commit(
        Commit(
            actor=writer.actor,
            origin=writer.origin,
            verb=verb,
            reason=commit_reason,
            scope=writer.scope,
            way=way,
            batch=batch,
            changes=tuple(map(Change, changed)),
        )
    )
    written = {atom.id: atom for atom in committed.atoms}
    others = tuple(Outcome(_became(atom, verdict, held), written[atom.id], outcome_reason) for atom in changed[1:])
    return Receipt(committed.id, (Outcome(verdict.result, written[held.id], outcome_reason), *others))


def _with_doubts(
    verdict: Verdict, held: Atom, reason: str, store: Store, rules: Sequence[DependencyRule]
) -> tuple[list[Atom], str]:
    """Return all changes; dependants are not challenged if the same content is only stored elsewhere."""
    changed = [verdict.atom, *verdict.others]
    if proposal_of(held) in _SAYS_THE_SAME:
        return changed, reason
    return with_dependants(changed, reason, store, Origin.HUMAN, rules)


def _became(other: Atom, verdict: Verdict, held: Atom) -> Result:
    if other.status is Status.TOMBSTONED and proposal_of(held) is Proposal.FORGET:
        return Result.TAKEN_BACK
    if held.id in other.superseded_by:
        return Result.SUPERSEDED
    if other.status is Status.CHALLENGED:
        return Result.CHALLENGED
    return verdict.result if verdict.result in (Result.REVISED, Result.DUPLICATE) else Result.REVISED
