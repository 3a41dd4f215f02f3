"""What a person decides about a statement that waits: it counts, and what stood in its place gives way; or it does not.

A person who confirms vouches for the words, so they are compared with what stands at that moment as if the person had
said them; whose words they are stays as it is. A proposal says itself what gives way: see `lamina.atom.proposal`.
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
"""What a person may still decide about."""
_SAYS_THE_SAME = PROCEDURES | {Proposal.SEMANTIC_COMPACTION, Proposal.FILE_EDIT}
_ENDABLE = frozenset({Status.ACTIVE, Status.CHALLENGED})


class _Settled(Current):
    """What stands and waits for nobody. What was taken back does not bind a person who decides otherwise."""

    def with_words_of(self, atom: Atom) -> list[Atom]:
        return [word for word in super().with_words_of(atom) if word.status is not Status.CONSTRAINED]

    def beside(self, atom: Atom) -> list[Atom]:
        return [each for each in super().beside(atom) if each.status is not Status.CONSTRAINED]

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
    revise: Callable[[Atom], Atom] = lambda held: held,
) -> Receipt:
    """Let a statement that waits count, `revise`d or as it is; what becomes of it and of what stood is one commit."""

    def confirmed() -> Receipt:
        held = _open(atom_id, writer, store, "confirm")
        if held is None:
            return _settled(atom_id, writer, store)
        held = revise(held)
        verdict = verdict_on(held, store, now)
        return _commit(verdict, held, writer, store, "confirm", reason, _way_of(held, verdict), batch)

    return unhurried(store, confirmed)


def by_file(atom: Atom, status: Status, store: Store, now: datetime, rules: Sequence[DependencyRule] = ()) -> Decision:
    """What it does to an atom and to others that a person wrote another status into its file."""
    if atom.status in OPEN and status is Status.ACTIVE:
        verdict = verdict_on(atom, store, now)
        changed, told = _with_doubts(verdict, atom, verdict.reason, store, rules)
        return Decision(changed[0], tuple(changed[1:]), told, _way_of(atom, verdict))
    way = Way.RESTORE if atom.status in ENDED else Way.ORDINARY
    changed, told = with_dependants([moved(atom, status, now)], "", store, Origin.HUMAN, rules)
    return Decision(changed[0], tuple(changed[1:]), told, way)


def moved(atom: Atom, status: Status, now: datetime) -> Atom:
    """An atom with another status; one that is said to be superseded held until now, where nothing else is told."""
    if status is not Status.SUPERSEDED or atom.status is status:
        return atom.with_(status=status)
    return atom.with_(status=status, valid_until=_until(atom, now))


def _way_of(held: Atom, verdict: Verdict) -> Way:
    """The table leads from waiting to history only through active, and a commit says one thing of an atom."""
    over = verdict.atom.status is Status.SUPERSEDED and held.status is Status.CONSTRAINED
    return Way.ADOPT if over else Way.ORDINARY


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


def verdict_on(held: Atom, store: Store, now: datetime) -> Verdict:
    """What becomes of a statement, and of those that stand, once a person vouches for it."""
    proposal, claim = proposal_of(held), claim_of(held)
    if proposal is Proposal.SEMANTIC_COMPACTION:
        return _in_place_of(held, _compacted(held, store), begins(held), "it says what they said")
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
        return Verdict(Result.NEW, held.with_(status=Status.ACTIVE), (), "it counts as it is")
    return _compared(held, store, now)


def _compared(held: Atom, store: Store, now: datetime) -> Verdict:
    """What the statement is to those that stand, now that a person vouches for it."""
    current = _Settled([held], store)
    vouched = held.with_(status=Status.ACTIVE, origin=Origin.HUMAN)
    verdict = classify(vouched, current, now)
    if verdict.result is Result.CHALLENGED:  # two values of one time: whoever confirms one says the other is wrong
        verdict = classify(vouched.with_(tags=(*held.tags, CORRECTION)), current, now)
    if verdict.result is Result.DUPLICATE:
        known = verdict.atom
        double = held.with_(status=Status.TOMBSTONED)
        return Verdict(Result.DUPLICATE, double, verdict.others, f"{known.id} says so already")
    ended = {other.id for other in verdict.others}
    links = tuple(
        relation
        for relation in verdict.atom.relations
        if not (relation.name is RelationName.CONTRADICTS and relation.target in ended)
    )
    own = verdict.atom.with_(origin=held.origin, tags=held.tags, relations=links)
    return Verdict(verdict.result, own, (*verdict.others, *_parted(own, ended, current)), verdict.reason)


def _in_place_of(held: Atom, sources: Sequence[Atom], since: datetime, reason: str) -> Verdict:
    """The proposal counts, and what it stands for is history from its beginning on."""
    ended = tuple(
        source.with_(
            status=Status.SUPERSEDED, valid_until=_until(source, since), superseded_by=(*source.superseded_by, held.id)
        )
        for source in sources
    )
    names = tuple(source.id for source in sources)
    links = tuple(
        relation
        for relation in held.relations
        if not (relation.name is RelationName.CONTRADICTS and relation.target in names)
    )
    own = held.with_(status=Status.ACTIVE, supersedes=(*held.supersedes, *names), relations=links)
    return Verdict(Result.SUPERSEDES if ended else Result.NEW, own, ended, reason if ended else "it counts as it is")


def _until(ended: Atom, since: datetime) -> datetime | None:
    """Until when an ended statement held; where it began no earlier than its heir, that is never told."""
    return min(ended.valid_until or since, since) if begins(ended) < since else ended.valid_until


def _compacted(held: Atom, store: Store) -> list[Atom]:
    sources = store.read(Filter(scopes=(held.scope,), ids=held.derived_from))
    changed = [source for source in sources if source.status in ENDED]
    if changed:
        told = ", ".join(f"{each.id} is {each.status}" for each in changed)
        raise Refused(f"what {held.id} was made from has changed since: {told}; reject it and compact anew")
    return [source for source in sources if source.status in _ENDABLE and not source.is_episode]


def _procedures(held: Atom, store: Store) -> list[Atom]:
    """Those of the same workflow that it was made from."""
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
    """An edit of a file is done as it was meant: to the atom itself. The proposal has served."""
    found = store.read(Filter(scopes=(held.scope,), ids=held.derived_from[:1]))
    if not found or found[0].status in ENDED:
        raise Refused(f"{held.derived_from[0]}, which was edited, is over; reject {held.id}")
    edited = found[0].with_(**edited_values(held))
    served = held.with_(status=Status.TOMBSTONED)
    return Verdict(Result.REVISED, served, (edited,), f"the edit is taken over into {edited.id}")


def _forgotten(held: Atom, store: Store) -> Verdict:
    """What a request to forget meant becomes a tombstone; the question covers the sentences that have no statement."""
    statements = store.read(Filter(scopes=(held.scope,), ids=held.derived_from)) if held.derived_from else []
    gone = tuple(statement.with_(status=Status.TOMBSTONED) for statement in statements if statement.status not in ENDED)
    places = dict.fromkeys((*held.evidence, *read_places(held)))
    covered = held.with_(status=Status.TOMBSTONED, evidence=tuple(places), value=held.value or held.content)
    return Verdict(Result.TAKEN_BACK, covered, gone, "forgotten, as was asked")


def _from_now_on(held: Atom, claim: Claim, store: Store, now: datetime) -> Verdict:
    """A value of the profile holds from when it is confirmed, whatever the profile said before."""
    wanted = Filter(scopes=(held.scope,), claims=claim.names, statuses=frozenset({Status.ACTIVE}))
    found = (each for each in store.read(wanted) if may_replace(each, held))
    holders = [each for each in found if each.metadata.get(SEVERAL) != "true"]
    standing = [holder for holder in holders if begins(holder) <= now and holder.validity.covers(now)]
    if any(value_of(each) == value_of(held) for each in standing):
        return _compared(held, store, now)
    ahead = min((begins(holder) for holder in holders if begins(holder) > now), default=None)
    return _in_place_of(held.with_(valid_from=now, valid_until=ahead), standing, now, f"{claim} changed")


def _parted(own: Atom, ended: Collection[AtomId], current: Current) -> Iterator[Atom]:
    """Others of the claim that begin later but do not say when: from now on they do."""
    claim = claim_of(own)
    if claim is None or not claim.single_valued or own.status is not Status.ACTIVE:
        return
    for holder in current.holders(own, claim):
        if holder.id not in ended and holder.valid_from is None and holder.validity.overlaps(own.validity):
            yield holder.with_(valid_from=holder.observed_at)


def _commit(
    verdict: Verdict, held: Atom, writer: Writer, store: Store, verb: str, reason: str, way: Way, batch: str | None
) -> Receipt:
    alone = verb == "reject" or (verdict.result is Result.NEW and not verdict.others)
    told = reason if alone else f"{reason}: {verdict.reason}"
    changed, why = _with_doubts(verdict, held, told, store, writer.rules)
    done = store.commit(
        Commit(
            actor=writer.actor,
            origin=writer.origin,
            verb=verb,
            reason=why,
            scope=writer.scope,
            way=way,
            batch=batch,
            changes=tuple(map(Change, changed)),
        )
    )
    written = {atom.id: atom for atom in done.atoms}
    others = tuple(Outcome(_became(each, verdict, held), written[each.id], told) for each in changed[1:])
    return Receipt(done.id, (Outcome(verdict.result, written[held.id], told), *others))


def _with_doubts(
    verdict: Verdict, held: Atom, reason: str, store: Store, rules: Sequence[DependencyRule]
) -> tuple[list[Atom], str]:
    """All that changes. Where the same is only said elsewhere, nothing that rests on it is doubted."""
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
