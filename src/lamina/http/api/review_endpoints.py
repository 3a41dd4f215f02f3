"""The endpoints of review. The memory itself refuses callers who are not a person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from lamina.documents import atom_document, inbox_item_document, receipt_document
from lamina.http.api.endpoint import CurrentCaller, IdempotencyKey, json_response, read_endpoint, write_endpoint
from lamina.http.api.request_bodies import (
    MAX_ROWS,
    DecisionBody,
    EditBody,
    GroupBody,
    Label,
    MergePairBody,
    PairBody,
    PostponePairBody,
    SourceDecisionBody,
)
from lamina.http.api.response_documents import (
    DecisionsDocument,
    GroupDocument,
    GroupsDocument,
    PairDocument,
    PairsDocument,
    ReviewListDocument,
)
from lamina.review.pending_items import DecisionType
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from lamina.capture.receipt import Receipt
    from lamina.review.proposal_groups import Proposed

router = APIRouter(tags=["review"])


@read_endpoint(router, "/review", ReviewListDocument)
def review_list(
    context: CurrentCaller,
    source: Annotated[Label | None, Query()] = None,
    kind: Annotated[DecisionType | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response:
    """List everything pending review, with what each decision would do."""
    memory = context.memory
    waiting = memory.review.count(source, kind=kind)
    items = memory.review.list(source, kind=kind, limit=offset + limit)[offset:]
    more = waiting > offset + limit
    documents = [inbox_item_document(memory, item) for item in items]
    return json_response(
        ReviewListDocument(waiting=waiting, items=documents, more=more, next=offset + limit if more else None)
    )


@read_endpoint(router, "/review/pairs", PairsDocument)
def review_pairs(
    context: CurrentCaller,
    later: Annotated[
        bool, Query(description="Include postponed pairs, and likely changes that no answer depends on.")
    ] = False,
) -> Response:
    """List statements that contradict each other, the newest pair first."""
    memory = context.memory
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
    return json_response(PairsDocument(pairs=documents))


@write_endpoint(router, "/review/confirm", DecisionsDocument)
def review_confirm(context: CurrentCaller, body: DecisionBody, key: IdempotencyKey = None) -> Response:
    """Confirm pending statements; what they replace is superseded."""
    return _decisions_response(
        context.memory.review.confirm(atom_id, **body.given_fields("ids")) for atom_id in body.ids
    )


@write_endpoint(router, "/review/reject", DecisionsDocument)
def review_reject(context: CurrentCaller, body: DecisionBody, key: IdempotencyKey = None) -> Response:
    """Reject pending statements; the same text does not bring them back."""
    return _decisions_response(
        context.memory.review.reject(atom_id, **body.given_fields("ids")) for atom_id in body.ids
    )


@write_endpoint(router, "/review/edit", DecisionsDocument)
def review_edit(context: CurrentCaller, body: EditBody, key: IdempotencyKey = None) -> Response:
    """Confirm a pending statement with other text or fields."""
    return _decisions_response([context.memory.review.edit(**body.given_fields())])


@write_endpoint(router, "/review/approve_source", DecisionsDocument)
def review_approve_source(context: CurrentCaller, body: SourceDecisionBody, key: IdempotencyKey = None) -> Response:
    """Confirm every pending statement from one source, oldest first."""
    return _decisions_response(context.memory.review.approve_source(**body.given_fields()))


@write_endpoint(router, "/review/reject_source", DecisionsDocument)
def review_reject_source(context: CurrentCaller, body: SourceDecisionBody, key: IdempotencyKey = None) -> Response:
    """Reject every pending statement from one source."""
    return _decisions_response(context.memory.review.reject_source(**body.given_fields()))


@write_endpoint(router, "/review/keep_a", DecisionsDocument)
def review_keep_a(context: CurrentCaller, body: PairBody, key: IdempotencyKey = None) -> Response:
    """Keep the first statement of a pair."""
    return _decisions_response([context.memory.review.keep_a(**body.given_fields())])


@write_endpoint(router, "/review/keep_b", DecisionsDocument)
def review_keep_b(context: CurrentCaller, body: PairBody, key: IdempotencyKey = None) -> Response:
    """Keep the second statement of a pair."""
    return _decisions_response([context.memory.review.keep_b(**body.given_fields())])


@write_endpoint(router, "/review/both_valid", DecisionsDocument)
def review_both_valid(context: CurrentCaller, body: PairBody, key: IdempotencyKey = None) -> Response:
    """Keep both statements of a pair; they are not reported as contradicting again."""
    return _decisions_response([context.memory.review.both_valid(**body.given_fields())])


@write_endpoint(router, "/review/merge", DecisionsDocument)
def review_merge(context: CurrentCaller, body: MergePairBody, key: IdempotencyKey = None) -> Response:
    """Replace both statements of a pair by one in your words."""
    return _decisions_response([context.memory.review.merge(**body.given_fields())])


@write_endpoint(router, "/review/need_more", DecisionsDocument)
def review_need_more(context: CurrentCaller, body: PostponePairBody, key: IdempotencyKey = None) -> Response:
    """Postpone a pair: both statements stay, and the pair is hidden for 30 days."""
    return _decisions_response([context.memory.review.need_more(**body.given_fields())])


@write_endpoint(router, "/review/compact", GroupsDocument)
def review_compact(context: CurrentCaller, body: GroupBody, key: IdempotencyKey = None) -> Response:
    """Group statements with the same text or topic; `create_proposals` proposes one statement for each group."""
    return _groups_response(context.memory.review.compact(create_proposals=body.create_proposals), body)


@write_endpoint(router, "/review/dedup", GroupsDocument)
def review_dedup(context: CurrentCaller, body: GroupBody, key: IdempotencyKey = None) -> Response:
    """Group procedures of one workflow; `create_proposals` proposes the most confident one of each as canonical."""
    return _groups_response(context.memory.review.dedup(create_proposals=body.create_proposals), body)


def _decisions_response(receipts: Iterable[Receipt]) -> Response:
    return json_response(DecisionsDocument(decisions=[receipt_document(receipt) for receipt in receipts]))


def _groups_response(proposed: Proposed, body: GroupBody) -> Response:
    groups = [
        GroupDocument(
            basis=group.basis,
            members=[member.id for member in group.members],
            proposal=atom_document(group.proposal, None) if body.create_proposals else None,
        )
        for group in proposed.groups
    ]
    return json_response(GroupsDocument(commit=proposed.receipt.commit, groups=groups))
