"""Pairs of statements that contradict each other, and what a person may say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Durability
from lamina.atom.pair import (
    LIKELY_CHANGE,
    NOTE,
    SURE,
    asked_again_at,
    contradictions,
    hold_both,
    link_between,
    reconciled,
    with_both_valid,
    with_need_more,
)
from lamina.atom.relation import RelationName
from lamina.atom.standing import begins
from lamina.atom.status import Status
from lamina.atom.trust import TRUST
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.write import unhurried
from lamina.errors import Refused
from lamina.review.reviewer import Reviewer, with_reason
from lamina.review.revise import parse_revision, revised
from lamina.store.base import Filter

LIVE = frozenset({Status.ACTIVE, Status.CHALLENGED})
LATER = timedelta(days=30)
"""How long a pair about which more has to be known is not shown."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two live statements that contradict each other: `a` the older, `b` the newer, and why they are thought to.

    `later`: a person said that more has to be known, with the `note`; until then nobody is asked.
    """

    a: Atom
    b: Atom
    confidence: float
    reason: str
    later: datetime | None
    note: str


def pairs_of(by: Reviewer, *, later: bool = False) -> list[Pair]:
    """Return every pair that waits for a person, the newest first; with `later` also those put off, at the end, and
    the likely changes that no answer depends on.

    A change that only a model noticed orders and labels without anybody's help: a person is asked about it
    where one of the two is pinned, disputed, core or was used in an answer.
    """
    now, known = by.now(), {atom.id: atom for atom in _at_odds(by)}
    links: dict[frozenset[AtomId], float] = {}
    for atom in known.values():
        for link in contradictions(atom):
            if link.target in known and link.target != atom.id:
                both = frozenset({atom.id, link.target})
                links[both] = max(link.confidence, links.get(both, 0.0))
    sides = ((known[one], known[other], links[both]) for both in links for one, other in [sorted(both)])
    found = [
        _pair(one, other, confidence)
        for one, other, confidence in sides
        if one.scope == other.scope and not hold_both(one, other)
    ]
    if not later:
        found = _worth_asking(found, by)
    due = [each for each in found if each.later is None or each.later <= now]
    put_off = [each for each in found if each.later is not None and each.later > now]
    return [*sorted(due, key=_place), *(sorted(put_off, key=_place) if later else ())]


def keep(kept_id: str, other_id: str, reason: str, by: Reviewer) -> Receipt:
    """One of the two is so. The other was so until then where it is the older, else it never was."""
    told = with_reason(reason)

    def decided() -> Receipt:
        kept, other = _both(kept_id, other_id, by)
        since = begins(kept)
        changed = since > begins(other) and not other.is_episode
        ended = reconciled(other, kept.id).with_(
            status=Status.SUPERSEDED if changed else Status.INVALIDATED,
            valid_until=min(other.valid_until or since, since) if changed else other.valid_until,
            superseded_by=(*other.superseded_by, kept.id),
        )
        right = reconciled(kept, other.id).with_(
            status=Status.ACTIVE,
            valid_from=since if changed else kept.valid_from,
            supersedes=(*kept.supersedes, other.id),
        )
        result = Result.SUPERSEDED if changed else Result.INVALIDATED
        outcomes = (Outcome(Result.SUPERSEDES, right, told), Outcome(result, ended, told))
        return by.carry_out("keep", told, outcomes)

    return unhurried(by.store, decided)


def both_valid(one_id: str, other_id: str, reason: str, by: Reviewer) -> Receipt:
    """Both are so: they are no longer a pair, and are not made one again."""
    told = with_reason(reason)

    def decided() -> Receipt:
        one, other = _both(one_id, other_id, by)
        outcomes = [
            Outcome(Result.REVISED, with_both_valid(reconciled(each, its.id), its.id).with_(status=Status.ACTIVE), told)
            for each, its in ((one, other), (other, one))
        ]
        return by.carry_out("both_valid", told, outcomes)

    return unhurried(by.store, decided)


def merge(one_id: str, other_id: str, content: str, reason: str, by: Reviewer, **fields: object) -> Receipt:
    """Neither is so as it stands: what a person writes takes the place of both, and is worth what they are."""
    told, wanted = with_reason(reason), parse_revision(content, fields, personal=by.personal)

    def decided() -> Receipt:
        pair = _pair(*_both(one_id, other_id, by))
        both = (pair.a, pair.b)
        if any(each.is_episode for each in both):
            raise Refused("what happened is never merged away; keep one of the two, or say that both are so")
        made = revised(_merged(pair, by), wanted)
        ended = [
            reconciled(each, its.id).with_(
                status=Status.MERGED if each.status is Status.ACTIVE else Status.SUPERSEDED,
                superseded_by=(*each.superseded_by, made.id),
            )
            for each, its in (both, both[::-1])
        ]
        outcomes = [Outcome(Result.NEW, made, told), *(Outcome(Result.MERGED, each, told) for each in ended)]
        return by.carry_out("merge", told, outcomes)

    return unhurried(by.store, decided)


def need_more(one_id: str, other_id: str, note: str, by: Reviewer) -> Receipt:
    """Nobody can tell yet: both stay, and nobody is asked about them for a while."""
    told = with_reason(note)

    def decided() -> Receipt:
        pair = _pair(*_both(one_id, other_id, by))
        put_off = with_need_more(pair.b, pair.a.id, by.now() + LATER, told)
        return by.carry_out("need_more", told, (Outcome(Result.REVISED, put_off, told),))

    return unhurried(by.store, decided)


def _worth_asking(pairs: list[Pair], by: Reviewer) -> list[Pair]:
    """Leave out the likely changes whose sides nobody has relied on."""
    likely = [pair for pair in pairs if pair.confidence <= LIKELY_CHANGE]
    used = by.store.ledger.signals_of({atom.id for each in likely for atom in (each.a, each.b)})

    def matters(atom: Atom) -> bool:
        is_used = atom.id in used and used[atom.id].recall_count > 0
        return is_used or atom.pinned or atom.status is Status.CHALLENGED or atom.durability is Durability.CORE

    return [pair for pair in pairs if pair.confidence > LIKELY_CHANGE or matters(pair.a) or matters(pair.b)]


def _at_odds(by: Reviewer) -> list[Atom]:
    """The live statements that contradict others or are contradicted, as their files say."""
    links = by.store.links(RelationName.CONTRADICTS, by.scopes, LIVE)
    ids = {AtomId(each) for link in links for each in (link.source, link.target)}
    return by.fresh(Filter(scopes=by.scopes, ids=tuple(sorted(ids)), statuses=LIVE, notes=False)) if ids else []


def _both(one_id: str, other_id: str, by: Reviewer) -> tuple[Atom, Atom]:
    by.writer()
    one, other = by.find(one_id), by.find(other_id)
    over = next((each for each in (one, other) if each.status not in LIVE), None)
    if over is not None:
        raise Refused(f"{over.id} is {over.status}, so it is in no pair; `lamina review pairs` lists them")
    if link_between(one, other) is None:
        raise Refused(
            f"{one.id} and {other.id} are no pair; `lamina review pairs` lists them, and "
            f"`lamina relate {one.id} contradicts {other.id}` makes them one"
        )
    return one, other


def _pair(one: Atom, other: Atom, confidence: float = 1.0) -> Pair:
    a, b = sorted((one, other), key=lambda each: (begins(each), each.id))
    return Pair(a, b, confidence, _why(a, b, confidence), asked_again_at(a, b), b.metadata.get(NOTE, ""))


def _why(a: Atom, b: Atom, confidence: float) -> str:
    claim = claim_of(a)
    if claim is not None and claim == claim_of(b) and begins(a) == begins(b):
        return f"two values of {claim} of the same time"
    if TRUST[a.origin] != TRUST[b.origin]:
        high, low = (a, b) if TRUST[a.origin] > TRUST[b.origin] else (b, a)
        return f"{low.origin} says otherwise than {high.origin}"
    return "perhaps a change: the newer reads like it, but does not say so" if confidence < SURE else "they disagree"


def _place(pair: Pair) -> tuple[float, str, str]:
    return -begins(pair.b).timestamp(), pair.b.id, pair.a.id


def _merged(pair: Pair, by: Reviewer) -> Atom:
    """The younger statement said again, worth no more than the less trusted of the two."""
    a, b = pair.a, pair.b
    now, origin = by.now(), min((a.origin, b.origin), key=lambda each: TRUST[each])
    same = a.subject == b.subject and a.attribute == b.attribute
    return Atom(
        id=by.ids.new(now),
        scope=b.scope,
        kind=b.kind,
        content=b.content,
        observed_at=now,
        subject=b.subject,
        attribute=b.attribute if same else None,
        tags=_union(a.tags, b.tags),
        entities=_union(a.entities, b.entities),
        agents=_union(a.agents, b.agents),
        evidence=tuple(dict.fromkeys((*a.evidence, *b.evidence))),
        origin=origin,
        principal=by.principal,
        derived_from=(a.id, b.id),
        supersedes=(a.id, b.id),
        confidence=max(a.confidence, b.confidence),
        importance=max(a.importance, b.importance),
        pinned=a.pinned or b.pinned,
        **kind_defaults(b.kind) | {"layer": b.layer},
    )


def _union(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
