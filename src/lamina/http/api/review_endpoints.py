"""The endpoints of review. The memory itself refuses callers who are not a person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from lamina.documents.argument_types import MAX_ROWS, Label
from lamina.documents.pending_items import group_documents, inbox_item_document, pair_document
from lamina.documents.receipt import receipt_document
from lamina.http.api import request_bodies as bodies
from lamina.http.api import response_documents as documents
from lamina.http.api.endpoint import CurrentCaller, CurrentWriter, read_endpoint, write_endpoint
from lamina.http.operation_policies import SLOW_WRITE
from lamina.review.pending_items import DecisionType

if TYPE_CHECKING:
    from lamina.capture.receipt import Receipt
    from lamina.review.proposals import Proposed

router = APIRouter(tags=["review"])


@read_endpoint(router, "/review")
def review_list(
    context: CurrentCaller,
    source: Annotated[Label | None, Query()] = None,
    kind: Annotated[DecisionType | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> documents.ReviewListDocument:
    """List everything pending review, with what each decision would do."""
    memory = context.memory
    waiting = memory.review.count(source, kind=kind)
    page = memory.review.list(source, kind=kind, limit=offset + limit)[offset:]
    more = waiting > offset + limit
    items = [inbox_item_document(memory, item) for item in page]
    return documents.ReviewListDocument(waiting=waiting, items=items, more=more, next=offset + limit if more else None)


@read_endpoint(router, "/review/pairs")
def review_pairs(
    context: CurrentCaller,
    later: Annotated[
        bool, Query(description="Include postponed pairs, and likely changes that no answer depends on.")
    ] = False,
) -> documents.PairsDocument:
    """List statements that contradict each other, the newest pair first."""
    memory = context.memory
    pairs = [pair_document(memory, pair) for pair in memory.review.pairs(later=later)]
    return documents.PairsDocument(pairs=pairs)


@write_endpoint(router, "/review/confirm")
def review_confirm(context: CurrentWriter, body: bodies.DecisionBody) -> documents.DecisionsDocument:
    """Confirm pending statements; what they replace is superseded."""
    return _decisions(context.memory.review.confirm(atom_id, **body.given_fields("ids")) for atom_id in body.ids)


@write_endpoint(router, "/review/reject")
def review_reject(context: CurrentWriter, body: bodies.DecisionBody) -> documents.DecisionsDocument:
    """Reject pending statements; the same text does not bring them back."""
    return _decisions(context.memory.review.reject(atom_id, **body.given_fields("ids")) for atom_id in body.ids)


@write_endpoint(router, "/review/edit")
def review_edit(context: CurrentWriter, body: bodies.EditBody) -> documents.DecisionsDocument:
    """Confirm a pending statement with other text or fields."""
    return _decisions([context.memory.review.edit(**body.given_fields())])


@write_endpoint(router, "/review/approve_source", SLOW_WRITE)
def review_approve_source(context: CurrentWriter, body: bodies.SourceDecisionBody) -> documents.DecisionsDocument:
    """Confirm every pending statement from one source, oldest first."""
    return _decisions(context.memory.review.approve_source(**body.given_fields()))


@write_endpoint(router, "/review/reject_source", SLOW_WRITE)
def review_reject_source(context: CurrentWriter, body: bodies.SourceDecisionBody) -> documents.DecisionsDocument:
    """Reject every pending statement from one source."""
    return _decisions(context.memory.review.reject_source(**body.given_fields()))


@write_endpoint(router, "/review/keep_a")
def review_keep_a(context: CurrentWriter, body: bodies.PairBody) -> documents.DecisionsDocument:
    """Keep the first statement of a pair."""
    return _decisions([context.memory.review.keep_a(**body.given_fields())])


@write_endpoint(router, "/review/keep_b")
def review_keep_b(context: CurrentWriter, body: bodies.PairBody) -> documents.DecisionsDocument:
    """Keep the second statement of a pair."""
    return _decisions([context.memory.review.keep_b(**body.given_fields())])


@write_endpoint(router, "/review/both_valid")
def review_both_valid(context: CurrentWriter, body: bodies.PairBody) -> documents.DecisionsDocument:
    """Keep both statements of a pair; they are not reported as contradicting again."""
    return _decisions([context.memory.review.both_valid(**body.given_fields())])


@write_endpoint(router, "/review/merge")
def review_merge(context: CurrentWriter, body: bodies.MergePairBody) -> documents.DecisionsDocument:
    """Replace both statements of a pair by one in your words."""
    return _decisions([context.memory.review.merge(**body.given_fields())])


@write_endpoint(router, "/review/need_more")
def review_need_more(context: CurrentWriter, body: bodies.PostponePairBody) -> documents.DecisionsDocument:
    """Postpone a pair: both statements stay, and the pair is hidden for 30 days."""
    return _decisions([context.memory.review.need_more(**body.given_fields())])


@write_endpoint(router, "/review/compact", SLOW_WRITE)
def review_compact(context: CurrentWriter, body: bodies.GroupBody) -> documents.GroupsDocument:
    """Group statements with the same text or topic; `create_proposals` proposes one statement for each group."""
    return _groups(context.memory.review.compact(create_proposals=body.create_proposals), body)


@write_endpoint(router, "/review/dedup", SLOW_WRITE)
def review_dedup(context: CurrentWriter, body: bodies.GroupBody) -> documents.GroupsDocument:
    """Group procedures of one workflow; `create_proposals` proposes the most confident one of each as canonical."""
    return _groups(context.memory.review.dedup(create_proposals=body.create_proposals), body)


def _decisions(receipts: Iterable[Receipt]) -> documents.DecisionsDocument:
    return documents.DecisionsDocument(decisions=[receipt_document(receipt) for receipt in receipts])


def _groups(proposed: Proposed, body: bodies.GroupBody) -> documents.GroupsDocument:
    groups = group_documents(proposed, has_proposals=body.create_proposals)
    return documents.GroupsDocument(commit=proposed.receipt.commit, groups=groups)
