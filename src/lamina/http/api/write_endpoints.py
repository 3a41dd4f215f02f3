"""The endpoints that write."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from lamina.documents import (
    ChangeDocument,
    ErasureDocument,
    ReceiptDocument,
    change_document,
    erasure_document,
    receipt_document,
    undo_document,
)
from lamina.documents.receipt import UndoDocument
from lamina.http.api.endpoint import AtomIdPath, CurrentCaller, IdempotencyKey, json_response, write_endpoint
from lamina.http.api.request_bodies import (
    CaptureBody,
    CiteBody,
    EraseBody,
    FeedbackBody,
    OptionalReasonBody,
    QuarantineBody,
    ReasonBody,
    RelateBody,
    RememberBody,
    RememberManyBody,
    ReviseBody,
    StatusBody,
    UndoBody,
)
from lamina.http.api.response_documents import UpdatedSignalsDocument

router = APIRouter(tags=["writing"])


@write_endpoint(router, "/capture", ReceiptDocument)
def capture(context: CurrentCaller, body: CaptureBody, key: IdempotencyKey = None) -> Response:
    """Store text verbatim and extract statements from it.

    The text is durable and searchable when this returns; with `wait` the statements are as well.
    """
    text = body.text if body.text is not None else [turn.given_fields() for turn in body.turns or ()]
    receipt = context.memory.capture(
        text, **body.given_fields("text", "turns", "key"), key=context.scope_key(key or body.key, body)
    )
    return json_response(receipt_document(receipt))


@write_endpoint(router, "/remember", ReceiptDocument)
def remember(context: CurrentCaller, body: RememberBody, key: IdempotencyKey = None) -> Response:
    """Write one explicit statement, compared with existing statements."""
    return json_response(
        receipt_document(context.memory.remember(**body.given_fields(), key=context.scope_key(key, body)))
    )


@write_endpoint(router, "/remember_many", ReceiptDocument)
def remember_many(context: CurrentCaller, body: RememberManyBody, key: IdempotencyKey = None) -> Response:
    """Write many explicit statements in one commit: all or none."""
    statements = [statement.given_fields() for statement in body.statements]
    receipt = context.memory.remember_many(
        statements, **body.given_fields("statements"), key=context.scope_key(key, body)
    )
    return json_response(receipt_document(receipt))


@write_endpoint(router, "/propose", ReceiptDocument)
def propose(context: CurrentCaller, body: RememberBody, key: IdempotencyKey = None) -> Response:
    """Propose a statement: it is pending and counts once a person confirms it."""
    return json_response(
        receipt_document(context.memory.propose(**body.given_fields(), key=context.scope_key(key, body)))
    )


@write_endpoint(router, "/atoms/{id}/revise", ChangeDocument)
def revise(context: CurrentCaller, id: AtomIdPath, body: ReviseBody, key: IdempotencyKey = None) -> Response:
    """Write a new version of an atom; the old one is kept."""
    return json_response(change_document(context.memory, context.memory.revise(id, **body.given_fields())))


@write_endpoint(router, "/atoms/{id}/update_status", ChangeDocument)
def update_status(context: CurrentCaller, id: AtomIdPath, body: StatusBody, key: IdempotencyKey = None) -> Response:
    """Change an atom's status along the status table; leaving an ended status is a restore."""
    return json_response(change_document(context.memory, context.memory.update_status(id, body.status, body.reason)))


@write_endpoint(router, "/atoms/{id}/forget", ChangeDocument)
def forget(context: CurrentCaller, id: AtomIdPath, body: ReasonBody, key: IdempotencyKey = None) -> Response:
    """Tombstone an atom: recall no longer finds it; its text and history are kept."""
    return json_response(change_document(context.memory, context.memory.forget(id, body.reason)))


@write_endpoint(router, "/atoms/{id}/pin", ChangeDocument)
def pin(context: CurrentCaller, id: AtomIdPath, body: OptionalReasonBody, key: IdempotencyKey = None) -> Response:
    """Protect an atom from being forgotten, merged or archived by maintenance."""
    return json_response(change_document(context.memory, context.memory.pin(id, **body.given_fields())))


@write_endpoint(router, "/atoms/{id}/unpin", ChangeDocument)
def unpin(context: CurrentCaller, id: AtomIdPath, body: OptionalReasonBody, key: IdempotencyKey = None) -> Response:
    """Let maintenance treat an atom as any other."""
    return json_response(change_document(context.memory, context.memory.unpin(id, **body.given_fields())))


@write_endpoint(router, "/atoms/{id}/promote", ChangeDocument)
def promote(context: CurrentCaller, id: AtomIdPath, body: OptionalReasonBody, key: IdempotencyKey = None) -> Response:
    """Move an atom one layer up, towards the layers that do not fade."""
    return json_response(change_document(context.memory, context.memory.promote(id, **body.given_fields())))


@write_endpoint(router, "/atoms/{id}/demote", ChangeDocument)
def demote(context: CurrentCaller, id: AtomIdPath, body: OptionalReasonBody, key: IdempotencyKey = None) -> Response:
    """Move an atom one layer down, where it fades unless it is used."""
    return json_response(change_document(context.memory, context.memory.demote(id, **body.given_fields())))


@write_endpoint(router, "/atoms/{id}/resolve", ChangeDocument)
def resolve(context: CurrentCaller, id: AtomIdPath, body: OptionalReasonBody, key: IdempotencyKey = None) -> Response:
    """Mark a commitment, a goal or a reminder as done."""
    return json_response(change_document(context.memory, context.memory.resolve(id, **body.given_fields())))


@write_endpoint(router, "/atoms/{id}/relate", ChangeDocument)
def relate(context: CurrentCaller, id: AtomIdPath, body: RelateBody, key: IdempotencyKey = None) -> Response:
    """Link an atom to another; repeating a link sets the new confidence."""
    after = context.memory.relate(id, body.relation, body.to, body.confidence)
    return json_response(change_document(context.memory, after))


@write_endpoint(router, "/atoms/{id}/rollback", ReceiptDocument)
def rollback(context: CurrentCaller, id: AtomIdPath, body: OptionalReasonBody, key: IdempotencyKey = None) -> Response:
    """Remove a statement and restore what it had superseded."""
    return json_response(receipt_document(context.memory.rollback(id, **body.given_fields())))


@write_endpoint(router, "/undo", UndoDocument)
def undo(context: CurrentCaller, body: UndoBody, key: IdempotencyKey = None) -> Response:
    """Undo a commit or a dream, by default the last commit; refused if later commits build on it."""
    return json_response(undo_document(context.memory, context.memory.undo(body.commit, cascade=body.cascade)))


@write_endpoint(router, "/erase", ErasureDocument)
def erase(context: CurrentCaller, body: EraseBody, key: IdempotencyKey = None) -> Response:
    """Erase atoms for good: every version, copy, vector and file. Only a person may; it cannot be undone."""
    return json_response(erasure_document(context.memory.erase(**body.given_fields())))


@write_endpoint(router, "/quarantine", ReceiptDocument)
def quarantine(context: CurrentCaller, body: QuarantineBody, key: IdempotencyKey = None) -> Response:
    """Hold everything from a source, session or origin, and all that is derived from it, for review."""
    return json_response(receipt_document(context.memory.quarantine(**body.given_fields())))


@write_endpoint(router, "/feedback", UpdatedSignalsDocument)
def feedback(context: CurrentCaller, body: FeedbackBody, key: IdempotencyKey = None) -> Response:
    """Record, once, how good an answer made from a recall was."""
    return json_response(
        UpdatedSignalsDocument(ids=list(context.memory.feedback(body.recall_id, body.cited, body.verdict)))
    )


@write_endpoint(router, "/cite", UpdatedSignalsDocument)
def cite(context: CurrentCaller, body: CiteBody, key: IdempotencyKey = None) -> Response:
    """Record that these atoms were used, without a verdict."""
    return json_response(UpdatedSignalsDocument(ids=list(context.memory.cite(body.ids))))
