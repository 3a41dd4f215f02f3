"""Pairs of statements that contradict each other, and the decisions about them."""

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
"""How long a postponed pair is hidden."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two live statements that contradict each other: `a` the older, `b` the newer, and the reason.

    `later`: a person postponed the decision until then, with the `note`.
    """

    a: Atom
    b: Atom
    confidence: float
    reason: str
    later: datetime | None
    note: str


def pairs_of(by: Reviewer, *, later: bool = False) -> list[Pair]:
    """Return every pair that is pending review, the newest first.

    With `include_postponed` also postponed pairs, at the end, and likely changes that no answer depends on. A change
    that only a model detected is ranked and marked without review; a person is asked only if one of the two is pinned,
    disputed, core or was used in an answer.
    """
    now, statements = by.now(), {atom.id: atom for atom in _at_odds(by)}
    links: dict[frozenset[AtomId], float] = {}
    for atom in statements.values():
        for link in contradictions(atom):
            if link.target in statements and link.target != atom.id:
                ids = frozenset({atom.id, link.target})
                links[ids] = max(link.confidence, links.get(ids, 0.0))
    sides = (
        (statements[first_id], statements[second_id], links[ids])
        for ids in links
        for first_id, second_id in [sorted(ids)]
    )
    found_pairs = [
        _pair(first, second, confidence)
        for first, second, confidence in sides
        if first.scope == second.scope and not hold_both(first, second)
    ]
    if not later:
        found_pairs = _worth_asking(found_pairs, by)
    due = [pair for pair in found_pairs if pair.later is None or pair.later <= now]
    postponed = [pair for pair in found_pairs if pair.later is not None and pair.later > now]
    return [*sorted(due, key=_place), *(sorted(postponed, key=_place) if later else ())]


def keep(kept_id: str, other_id: str, reason: str, by: Reviewer) -> Receipt:
    """Keep one statement of a pair. The other is superseded if it is older, else invalidated."""
    parsed_reason = with_reason(reason)

    def attempt() -> Receipt:
        kept, other = _both(kept_id, other_id, by)
        since = begins(kept)
        is_change = since > begins(other) and not other.is_episode
        ended = reconciled(other, kept.id).with_(
            status=Status.SUPERSEDED if is_change else Status.INVALIDATED,
            valid_until=min(other.valid_until or since, since) if is_change else other.valid_until,
            superseded_by=(*other.superseded_by, kept.id),
        )
        confirmed = reconciled(kept, other.id).with_(
            status=Status.ACTIVE,
            valid_from=since if is_change else kept.valid_from,
            supersedes=(*kept.supersedes, other.id),
        )
        result = Result.SUPERSEDED if is_change else Result.INVALIDATED
        outcomes = (Outcome(Result.SUPERSEDES, confirmed, parsed_reason), Outcome(result, ended, parsed_reason))
        return by.carry_out("keep", parsed_reason, outcomes)

    return unhurried(by.store, attempt)


def both_valid(one_id: str, other_id: str, reason: str, by: Reviewer) -> Receipt:
    """Keep both statements: they are no longer a pair and do not become one again."""
    parsed_reason = with_reason(reason)

    def attempt() -> Receipt:
        first, second = _both(one_id, other_id, by)
        outcomes = [
            Outcome(
                Result.REVISED,
                with_both_valid(reconciled(statement, counterpart.id), counterpart.id).with_(status=Status.ACTIVE),
                parsed_reason,
            )
            for statement, counterpart in ((first, second), (second, first))
        ]
        return by.carry_out("both_valid", parsed_reason, outcomes)

    return unhurried(by.store, attempt)


def merge(one_id: str, other_id: str, content: str, reason: str, by: Reviewer, **fields: object) -> Receipt:
    """Replace both statements by the given text, with the origin of the less trusted one."""
    parsed_reason, revision = with_reason(reason), parse_revision(content, fields, personal=by.personal)

    def attempt() -> Receipt:
        pair = _pair(*_both(one_id, other_id, by))
        both = (pair.a, pair.b)
        if any(statement.is_episode for statement in both):
            raise Refused("events cannot be merged; keep one of the two, or mark both as valid")
        merged = revised(_merged(pair, by), revision)
        ended = [
            reconciled(statement, counterpart.id).with_(
                status=Status.MERGED if statement.status is Status.ACTIVE else Status.SUPERSEDED,
                superseded_by=(*statement.superseded_by, merged.id),
            )
            for statement, counterpart in (both, both[::-1])
        ]
        outcomes = [
            Outcome(Result.NEW, merged, parsed_reason),
            *(Outcome(Result.MERGED, atom, parsed_reason) for atom in ended),
        ]
        return by.carry_out("merge", parsed_reason, outcomes)

    return unhurried(by.store, attempt)


def need_more(one_id: str, other_id: str, note: str, by: Reviewer) -> Receipt:
    """Postpone the decision: both stay, and the pair is hidden for a while."""
    parsed_note = with_reason(note)

    def attempt() -> Receipt:
        pair = _pair(*_both(one_id, other_id, by))
        postponed = with_need_more(pair.b, pair.a.id, by.now() + LATER, parsed_note)
        return by.carry_out("need_more", parsed_note, (Outcome(Result.REVISED, postponed, parsed_note),))

    return unhurried(by.store, attempt)


def _worth_asking(pairs: list[Pair], by: Reviewer) -> list[Pair]:
    """Leave out likely changes whose statements no answer used."""
    likely = [pair for pair in pairs if pair.confidence <= LIKELY_CHANGE]
    counters = by.store.ledger.signals_of({atom.id for pair in likely for atom in (pair.a, pair.b)})

    def matters(atom: Atom) -> bool:
        is_used = atom.id in counters and counters[atom.id].recall_count > 0
        return is_used or atom.pinned or atom.status is Status.CHALLENGED or atom.durability is Durability.CORE

    return [pair for pair in pairs if pair.confidence > LIKELY_CHANGE or matters(pair.a) or matters(pair.b)]


def _at_odds(by: Reviewer) -> list[Atom]:
    """Return the live statements with a contradicts link, as their files say."""
    links = by.store.links(RelationName.CONTRADICTS, by.scopes, LIVE)
    ids = {AtomId(atom_id) for link in links for atom_id in (link.source, link.target)}
    return by.fresh(Filter(scopes=by.scopes, ids=tuple(sorted(ids)), statuses=LIVE, notes=False)) if ids else []


def _both(one_id: str, other_id: str, by: Reviewer) -> tuple[Atom, Atom]:
    by.writer()
    first, second = by.find(one_id), by.find(other_id)
    ended = next((statement for statement in (first, second) if statement.status not in LIVE), None)
    if ended is not None:
        raise Refused(f"{ended.id} is {ended.status}, so it is in no pair; `lamina review pairs` lists the pairs")
    if link_between(first, second) is None:
        raise Refused(
            f"{first.id} and {second.id} are not a pair; `lamina review pairs` lists the pairs, and "
            f"`lamina relate {first.id} contradicts {second.id}` makes them one"
        )
    return first, second


def _pair(one: Atom, other: Atom, confidence: float = 1.0) -> Pair:
    older, newer = sorted((one, other), key=lambda statement: (begins(statement), statement.id))
    return Pair(
        older,
        newer,
        confidence,
        _why(older, newer, confidence),
        asked_again_at(older, newer),
        newer.metadata.get(NOTE, ""),
    )


def _why(a: Atom, b: Atom, confidence: float) -> str:
    claim = claim_of(a)
    if claim is not None and claim == claim_of(b) and begins(a) == begins(b):
        return f"two values of {claim} at the same time"
    if TRUST[a.origin] != TRUST[b.origin]:
        high, low = (a, b) if TRUST[a.origin] > TRUST[b.origin] else (b, a)
        return f"{low.origin} contradicts {high.origin}"
    return (
        "possibly a change: the newer statement suggests it without saying so"
        if confidence < SURE
        else "they contradict each other"
    )


def _place(pair: Pair) -> tuple[float, str, str]:
    return -begins(pair.b).timestamp(), pair.b.id, pair.a.id


def _merged(pair: Pair, by: Reviewer) -> Atom:
    """Return the newer statement as a new one, with the origin of the less trusted of the two."""
    older, newer = pair.a, pair.b
    now, origin = by.now(), min((older.origin, newer.origin), key=lambda origin: TRUST[origin])
    has_same_claim = older.subject == newer.subject and older.attribute == newer.attribute
    return Atom(
        id=by.ids.new(now),
        scope=newer.scope,
        kind=newer.kind,
        content=newer.content,
        observed_at=now,
        subject=newer.subject,
        attribute=newer.attribute if has_same_claim else None,
        tags=_union(older.tags, newer.tags),
        entities=_union(older.entities, newer.entities),
        agents=_union(older.agents, newer.agents),
        evidence=tuple(dict.fromkeys((*older.evidence, *newer.evidence))),
        origin=origin,
        principal=by.principal,
        derived_from=(older.id, newer.id),
        supersedes=(older.id, newer.id),
        confidence=max(older.confidence, newer.confidence),
        importance=max(older.importance, newer.importance),
        pinned=older.pinned or newer.pinned,
        **kind_defaults(newer.kind) | {"layer": newer.layer},
    )


def _union(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))
