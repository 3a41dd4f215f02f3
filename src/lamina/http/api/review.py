"""The endpoints of review. The memory itself refuses callers who are not a person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from lamina.documents import atom_document, item_document, receipt_document
from lamina.http.api.answers import (
    DecisionsDocument,
    GroupDocument,
    GroupsDocument,
    PairDocument,
    PairsDocument,
    WaitingDocument,
)
from lamina.http.api.bodies import MOST_ROWS, Decide, DecideSource, Edit, Group, Label, MergePair, Pair, PutOff
from lamina.http.api.route import Here, Key, reads, told, writes
from lamina.review.waiting import Waits
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.capture.receipt import Receipt
    from lamina.review.groups import Proposed

router = APIRouter(tags=["review"])


@reads(router, "/review", WaitingDocument)
def review_list(
    here: Here,
    source: Annotated[Label | None, Query()] = None,
    kind: Annotated[Waits | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response:
    """List everything pending review, with what each decision would do."""
    memory = here.memory
    waiting = memory.review.count(source, kind=kind)
    items = memory.review.list(source, kind=kind, limit=offset + limit)[offset:]
    more = waiting > offset + limit
    documents = [item_document(memory, item) for item in items]
    return told(WaitingDocument(waiting=waiting, items=documents, more=more, next=offset + limit if more else None))


@reads(router, "/review/pairs", PairsDocument)
def review_pairs(
    here: Here,
    later: Annotated[
        bool, Query(description="Include postponed pairs, and likely changes that no answer depends on.")
    ] = False,
) -> Response:
    """List statements that contradict each other, the newest pair first."""
    memory = here.memory
    documents = [
        PairDocument(
            a=atom_document(pair.a, memory.path_of(pair.a.id)),
            b=atom_document(pair.b, memory.path_of(pair.b.id)),
            confidence=pair.confidence,
            reason=pair.reason,
            note=pair.note,
            later=format_time(pair.later) if pair.later else None,
        )
        for pair in memory.review.pairs(later=later)
    ]
    return told(PairsDocument(pairs=documents))


@writes(router, "/review/confirm", DecisionsDocument)
def review_confirm(here: Here, body: Decide, key: Key = None) -> Response:
    """Confirm pending statements; what they replace is superseded."""
    return _decided(here.memory.review.confirm(atom_id, **body.given("ids")) for atom_id in body.ids)


@writes(router, "/review/reject", DecisionsDocument)
def review_reject(here: Here, body: Decide, key: Key = None) -> Response:
    """Reject pending statements; the same text does not bring them back."""
    return _decided(here.memory.review.reject(atom_id, **body.given("ids")) for atom_id in body.ids)


@writes(router, "/review/edit", DecisionsDocument)
def review_edit(here: Here, body: Edit, key: Key = None) -> Response:
    """Confirm a pending statement with other text or fields."""
    return _decided([here.memory.review.edit(**body.given())])


@writes(router, "/review/approve_source", DecisionsDocument)
def review_approve_source(here: Here, body: DecideSource, key: Key = None) -> Response:
    """Confirm every pending statement from one source, oldest first."""
    return _decided(here.memory.review.approve_source(**body.given()))


@writes(router, "/review/reject_source", DecisionsDocument)
def review_reject_source(here: Here, body: DecideSource, key: Key = None) -> Response:
    """Reject every pending statement from one source."""
    return _decided(here.memory.review.reject_source(**body.given()))


@writes(router, "/review/keep_a", DecisionsDocument)
def review_keep_a(here: Here, body: Pair, key: Key = None) -> Response:
    """Keep the first statement of a pair."""
    return _decided([here.memory.review.keep_a(**body.given())])


@writes(router, "/review/keep_b", DecisionsDocument)
def review_keep_b(here: Here, body: Pair, key: Key = None) -> Response:
    """Keep the second statement of a pair."""
    return _decided([here.memory.review.keep_b(**body.given())])


@writes(router, "/review/both_valid", DecisionsDocument)
def review_both_valid(here: Here, body: Pair, key: Key = None) -> Response:
    """Keep both statements of a pair; they are not reported as contradicting again."""
    return _decided([here.memory.review.both_valid(**body.given())])


@writes(router, "/review/merge", DecisionsDocument)
def review_merge(here: Here, body: MergePair, key: Key = None) -> Response:
    """Replace both statements of a pair by one in your words."""
    return _decided([here.memory.review.merge(**body.given())])


@writes(router, "/review/need_more", DecisionsDocument)
def review_need_more(here: Here, body: PutOff, key: Key = None) -> Response:
    """Postpone a pair: both statements stay, and the pair is hidden for 30 days."""
    return _decided([here.memory.review.need_more(**body.given())])


@writes(router, "/review/compact", GroupsDocument)
def review_compact(here: Here, body: Group, key: Key = None) -> Response:
    """Group statements with the same text or topic; `create_proposals` proposes one statement for each group."""
    return _grouped(here.memory.review.compact(create_proposals=body.create_proposals), body)


@writes(router, "/review/dedup", GroupsDocument)
def review_dedup(here: Here, body: Group, key: Key = None) -> Response:
    """Group procedures of one workflow; `create_proposals` proposes the most confident one of each as canonical."""
    return _grouped(here.memory.review.dedup(create_proposals=body.create_proposals), body)


def _decided(receipts: Iterable[Receipt]) -> Response:
    return told(DecisionsDocument(decisions=[receipt_document(receipt) for receipt in receipts]))


def _grouped(found: Proposed, body: Group) -> Response:
    groups = [
        GroupDocument(
            basis=group.basis,
            members=[member.id for member in group.members],
            proposal=atom_document(group.proposal, None) if body.create_proposals else None,
        )
        for group in found.groups
    ]
    return told(GroupsDocument(commit=found.receipt.commit, groups=groups))
