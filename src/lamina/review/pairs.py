"""Pairs of statements that contradict each other, and the decisions about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, AtomId, RelationName, effective_from, kind_defaults
from lamina.atom.claim import claim_of
from lamina.atom.kinds import Durability
from lamina.atom.proposals_and_pairs import (
    LIKELY_CHANGE_CONFIDENCE,
    NEED_MORE_NOTE,
    SURE_CONFIDENCE,
    are_both_valid,
    contradictions,
    find_pair_link,
    mark_both_valid,
    mark_need_more,
    next_review_at,
    remove_contradiction,
)
from lamina.atom.provenance import TRUST
from lamina.atom.status import Status
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.statement_commit import retry_exclusively
from lamina.errors import Refused
from lamina.review.proposals import union_labels
from lamina.review.review_context import Reviewer, parse_reason
from lamina.review.revision_fields import apply_revision, parse_revision
from lamina.store.base import AtomFilter

LIVE_STATUSES = frozenset({Status.ACTIVE, Status.CHALLENGED})
POSTPONE_FOR = timedelta(days=30)
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


def list_pairs(reviewer: Reviewer, *, include_postponed: bool = False) -> list[Pair]:
    """Return every pair that is pending review, the newest first.

    With `include_postponed` also postponed pairs, at the end, and likely changes that no answer depends on. A change
    that only a model detected is ranked and marked without review; it is listed only if one of the two is pinned,
    disputed, core or was used in an answer.
    """
    now, statements = reviewer.now(), {atom.id: atom for atom in _contradicting_statements(reviewer)}
    links: dict[frozenset[AtomId], float] = {}
    for atom in statements.values():
        for link in contradictions(atom):
            if link.target in statements and link.target != atom.id:
                ids = frozenset({atom.id, link.target})
                links[ids] = max(link.confidence, links.get(ids, 0.0))
    pairs = []
    for ids, confidence in links.items():
        first, second = (statements[atom_id] for atom_id in sorted(ids))
        if first.scope == second.scope and not are_both_valid(first, second):
            pairs.append(_build_pair(first, second, confidence))

    def is_postponed(pair: Pair) -> bool:
        return pair.later is not None and pair.later > now

    if not include_postponed:
        pairs = [pair for pair in _pairs_in_use(pairs, reviewer) if not is_postponed(pair)]
    return sorted(pairs, key=lambda pair: (is_postponed(pair), _newest_first(pair)))


def keep_one(kept_id: str, other_id: str, reason: str, reviewer: Reviewer) -> Receipt:
    """Keep one statement of a pair. The other is superseded if it is older, else invalidated."""
    parsed_reason = parse_reason(reason)

    def attempt() -> Receipt:
        statement, other = _load_pair(kept_id, other_id, reviewer)
        since = effective_from(statement)
        is_change = since > effective_from(other) and not other.is_episode
        ended = remove_contradiction(other, statement.id).with_(
            status=Status.SUPERSEDED if is_change else Status.INVALIDATED,
            valid_until=min(other.valid_until or since, since) if is_change else other.valid_until,
            superseded_by=(*other.superseded_by, statement.id),
        )
        confirmed = remove_contradiction(statement, other.id).with_(
            status=Status.ACTIVE,
            valid_from=since if is_change else statement.valid_from,
            supersedes=(*statement.supersedes, other.id),
        )
        result = Result.SUPERSEDED if is_change else Result.INVALIDATED
        outcomes = (Outcome(Result.SUPERSEDES, confirmed, parsed_reason), Outcome(result, ended, parsed_reason))
        return reviewer.commit_outcomes("keep", parsed_reason, outcomes)

    return retry_exclusively(reviewer.store, attempt)


def both_valid(first_id: str, second_id: str, reason: str, reviewer: Reviewer) -> Receipt:
    """Keep both statements: they are no longer a pair and do not become one again."""
    parsed_reason = parse_reason(reason)

    def attempt() -> Receipt:
        first, second = _load_pair(first_id, second_id, reviewer)
        marked = (
            mark_both_valid(remove_contradiction(statement, counterpart.id), counterpart.id)
            for statement, counterpart in ((first, second), (second, first))
        )
        outcomes = [Outcome(Result.REVISED, atom.with_(status=Status.ACTIVE), parsed_reason) for atom in marked]
        return reviewer.commit_outcomes("both_valid", parsed_reason, outcomes)

    return retry_exclusively(reviewer.store, attempt)


def merge(first_id: str, second_id: str, content: str, reason: str, reviewer: Reviewer, **fields: object) -> Receipt:
    """Replace both statements by the given text, with the origin of the less trusted one."""
    parsed_reason = parse_reason(reason)
    revision = parse_revision(content, fields, redact_personal=reviewer.redact_personal)

    def attempt() -> Receipt:
        pair = _build_pair(*_load_pair(first_id, second_id, reviewer))
        both = (pair.a, pair.b)
        if any(statement.is_episode for statement in both):
            raise Refused("events cannot be merged; keep one of the two, or mark both as valid")
        merged = apply_revision(_build_merged(pair, reviewer), revision)
        ended = [
            remove_contradiction(statement, counterpart.id).with_(
                status=Status.MERGED if statement.status is Status.ACTIVE else Status.SUPERSEDED,
                superseded_by=(*statement.superseded_by, merged.id),
            )
            for statement, counterpart in (both, both[::-1])
        ]
        outcomes = [Outcome(Result.NEW, merged, parsed_reason)]
        outcomes += [Outcome(Result.MERGED, atom, parsed_reason) for atom in ended]
        return reviewer.commit_outcomes("merge", parsed_reason, outcomes)

    return retry_exclusively(reviewer.store, attempt)


def need_more(first_id: str, second_id: str, note: str, reviewer: Reviewer) -> Receipt:
    """Postpone the decision: both stay, and the pair is hidden for a while."""
    parsed_note = parse_reason(note)

    def attempt() -> Receipt:
        pair = _build_pair(*_load_pair(first_id, second_id, reviewer))
        postponed = mark_need_more(pair.b, pair.a.id, reviewer.now() + POSTPONE_FOR, parsed_note)
        return reviewer.commit_outcomes("need_more", parsed_note, (Outcome(Result.REVISED, postponed, parsed_note),))

    return retry_exclusively(reviewer.store, attempt)


def _pairs_in_use(pairs: list[Pair], reviewer: Reviewer) -> list[Pair]:
    """Leave out likely changes whose statements no answer used."""
    likely = [pair for pair in pairs if pair.confidence <= LIKELY_CHANGE_CONFIDENCE]
    counters = reviewer.store.signals.get({atom.id for pair in likely for atom in (pair.a, pair.b)}).signals

    def matters(atom: Atom) -> bool:
        is_used = atom.id in counters and counters[atom.id].recall_count > 0
        return is_used or atom.pinned or atom.status is Status.CHALLENGED or atom.durability is Durability.CORE

    return [pair for pair in pairs if pair.confidence > LIKELY_CHANGE_CONFIDENCE or matters(pair.a) or matters(pair.b)]


def _contradicting_statements(reviewer: Reviewer) -> list[Atom]:
    """Return the live statements with a contradicts link, as their files say."""
    links = reviewer.store.graph.edges(None, reviewer.scopes, LIVE_STATUSES, RelationName.CONTRADICTS)
    ids = tuple(sorted({AtomId(atom_id) for link in links for atom_id in (link.source, link.target)}))
    if not ids:
        return []
    return reviewer.read_synced(
        AtomFilter(scopes=reviewer.scopes, ids=ids, statuses=LIVE_STATUSES, include_run_notes=False)
    )


def _load_pair(first_id: str, second_id: str, reviewer: Reviewer) -> tuple[Atom, Atom]:
    reviewer.authorised_writer()
    first, second = reviewer.find_atom(first_id), reviewer.find_atom(second_id)
    ended = next((statement for statement in (first, second) if statement.status not in LIVE_STATUSES), None)
    if ended is not None:
        raise Refused(f"{ended.id} is {ended.status}, so it is in no pair; `lamina review pairs` lists the pairs")
    if find_pair_link(first, second) is None:
        raise Refused(
            f"{first.id} and {second.id} are not a pair; `lamina review pairs` lists the pairs, and "
            f"`lamina relate {first.id} contradicts {second.id}` makes them one"
        )
    return first, second


def _build_pair(first: Atom, second: Atom, confidence: float = 1.0) -> Pair:
    older, newer = sorted((first, second), key=lambda statement: (effective_from(statement), statement.id))
    reason, note = _pair_reason(older, newer, confidence), newer.metadata_text(NEED_MORE_NOTE)
    return Pair(older, newer, confidence, reason, next_review_at(older, newer), note)


def _pair_reason(older: Atom, newer: Atom, confidence: float) -> str:
    claim = claim_of(older)
    if claim is not None and claim == claim_of(newer) and effective_from(older) == effective_from(newer):
        return f"two values of {claim} at the same time"
    if TRUST[older.origin] != TRUST[newer.origin]:
        high, low = (older, newer) if TRUST[older.origin] > TRUST[newer.origin] else (newer, older)
        return f"{low.origin} contradicts {high.origin}"
    if confidence < SURE_CONFIDENCE:
        return "possibly a change: the newer statement suggests it without saying so"
    return "they contradict each other"


def _newest_first(pair: Pair) -> tuple[float, str, str]:
    return -effective_from(pair.b).timestamp(), pair.b.id, pair.a.id


def _build_merged(pair: Pair, reviewer: Reviewer) -> Atom:
    """Return the newer statement as a new one, with the origin of the less trusted of the two."""
    older, newer = pair.a, pair.b
    now, origin = reviewer.now(), min((older.origin, newer.origin), key=lambda origin: TRUST[origin])
    has_same_claim = older.subject == newer.subject and older.attribute == newer.attribute
    return Atom(
        id=reviewer.ids.new(now),
        scope=newer.scope,
        kind=newer.kind,
        content=newer.content,
        observed_at=now,
        subject=newer.subject,
        attribute=newer.attribute if has_same_claim else None,
        tags=union_labels((older.tags, newer.tags)),
        entities=union_labels((older.entities, newer.entities)),
        agents=union_labels((older.agents, newer.agents)),
        evidence=tuple(dict.fromkeys((*older.evidence, *newer.evidence))),
        origin=origin,
        principal=reviewer.principal,
        derived_from=(older.id, newer.id),
        supersedes=(older.id, newer.id),
        confidence=max(older.confidence, newer.confidence),
        importance=max(older.importance, newer.importance),
        pinned=older.pinned or newer.pinned,
        **kind_defaults(newer.kind) | {"layer": newer.layer},
    )
