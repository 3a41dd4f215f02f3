"""The endpoints that write."""

from __future__ import annotations

from fastapi import APIRouter

from lamina.documents.receipt import (
    ChangeDocument,
    ErasureDocument,
    ReceiptDocument,
    UndoDocument,
    change_document,
    erasure_document,
    receipt_document,
    undo_document,
)
from lamina.http.api import request_bodies as bodies
from lamina.http.api.endpoint import AtomIdPath, CurrentWriter, write_endpoint
from lamina.http.api.response_documents import UpdatedSignalsDocument
from lamina.http.operation_policies import SLOW_ADMIN

router = APIRouter(tags=["writing"])


@write_endpoint(router, "/capture")
def capture(context: CurrentWriter, body: bodies.CaptureBody) -> ReceiptDocument:
    """Store text verbatim and extract statements from it.

    The text is durable and searchable when this returns; with `wait` the statements are as well.
    """
    text = body.text if body.text is not None else [turn.given_fields() for turn in body.turns or ()]
    key = context.scope_key(body, body.key)
    return receipt_document(context.memory.capture(text, **body.given_fields("text", "turns", "key"), key=key))


@write_endpoint(router, "/remember")
def remember(context: CurrentWriter, body: bodies.RememberBody) -> ReceiptDocument:
    """Write one explicit statement, compared with existing statements."""
    return receipt_document(context.memory.remember(**body.given_fields(), key=context.scope_key(body)))


@write_endpoint(router, "/remember_many")
def remember_many(context: CurrentWriter, body: bodies.RememberManyBody) -> ReceiptDocument:
    """Write many explicit statements in one commit: all or none."""
    statements = [statement.given_fields() for statement in body.statements]
    receipt = context.memory.remember_many(statements, **body.given_fields("statements"), key=context.scope_key(body))
    return receipt_document(receipt)


@write_endpoint(router, "/propose")
def propose(context: CurrentWriter, body: bodies.RememberBody) -> ReceiptDocument:
    """Propose a statement: it is pending and counts once a person confirms it."""
    return receipt_document(context.memory.propose(**body.given_fields(), key=context.scope_key(body)))


@write_endpoint(router, "/atoms/{id}/revise")
def revise(context: CurrentWriter, id: AtomIdPath, body: bodies.ReviseBody) -> ChangeDocument:
    """Write a new version of an atom; the old one is kept."""
    return change_document(context.memory, context.memory.revise(id, **body.given_fields()))


@write_endpoint(router, "/atoms/{id}/update_status")
def update_status(context: CurrentWriter, id: AtomIdPath, body: bodies.StatusBody) -> ChangeDocument:
    """Change an atom's status along the status table; leaving an ended status is a restore."""
    return change_document(context.memory, context.memory.update_status(id, body.status, body.reason))


@write_endpoint(router, "/atoms/{id}/forget")
def forget(context: CurrentWriter, id: AtomIdPath, body: bodies.ReasonBody) -> ChangeDocument:
    """Tombstone an atom: recall no longer finds it; its text and history are kept."""
    return change_document(context.memory, context.memory.forget(id, body.reason))


@write_endpoint(router, "/atoms/{id}/pin")
def pin(context: CurrentWriter, id: AtomIdPath, body: bodies.OptionalReasonBody) -> ChangeDocument:
    """Protect an atom from being forgotten, merged or archived by maintenance."""
    return change_document(context.memory, context.memory.pin(id, **body.given_fields()))


@write_endpoint(router, "/atoms/{id}/unpin")
def unpin(context: CurrentWriter, id: AtomIdPath, body: bodies.OptionalReasonBody) -> ChangeDocument:
    """Let maintenance treat an atom as any other."""
    return change_document(context.memory, context.memory.unpin(id, **body.given_fields()))


@write_endpoint(router, "/atoms/{id}/promote")
def promote(context: CurrentWriter, id: AtomIdPath, body: bodies.OptionalReasonBody) -> ChangeDocument:
    """Move an atom one layer up, towards the layers that do not fade."""
    return change_document(context.memory, context.memory.upkeep.promote(id, **body.given_fields()))


@write_endpoint(router, "/atoms/{id}/demote")
def demote(context: CurrentWriter, id: AtomIdPath, body: bodies.OptionalReasonBody) -> ChangeDocument:
    """Move an atom one layer down, where it fades unless it is used."""
    return change_document(context.memory, context.memory.upkeep.demote(id, **body.given_fields()))


@write_endpoint(router, "/atoms/{id}/resolve")
def resolve(context: CurrentWriter, id: AtomIdPath, body: bodies.OptionalReasonBody) -> ChangeDocument:
    """Mark a commitment, a goal or a reminder as done."""
    return change_document(context.memory, context.memory.resolve(id, **body.given_fields()))


@write_endpoint(router, "/atoms/{id}/relate")
def relate(context: CurrentWriter, id: AtomIdPath, body: bodies.RelateBody) -> ChangeDocument:
    """Link an atom to another; repeating a link sets the new confidence."""
    after = context.memory.relate(id, body.relation, body.to, body.confidence)
    return change_document(context.memory, after)


@write_endpoint(router, "/atoms/{id}/rollback")
def rollback(context: CurrentWriter, id: AtomIdPath, body: bodies.OptionalReasonBody) -> ReceiptDocument:
    """Remove a statement and restore what it had superseded."""
    return receipt_document(context.memory.rollback(id, **body.given_fields()))


@write_endpoint(router, "/undo")
def undo(context: CurrentWriter, body: bodies.UndoBody) -> UndoDocument:
    """Undo a commit or a dream, by default the last commit; refused if later commits build on it."""
    return undo_document(context.memory, context.memory.undo(body.commit, cascade=body.cascade))


@write_endpoint(router, "/erase", SLOW_ADMIN)
def erase(context: CurrentWriter, body: bodies.EraseBody) -> ErasureDocument:
    """Erase atoms for good: every version, copy, vector and file. Only a person may; it cannot be undone."""
    fields = body.given_fields()
    if not fields.pop("dry_run", False):
        return erasure_document(context.memory.erase(**fields))
    with context.memory.trial() as trial:
        return erasure_document(trial.erase(**fields))


@write_endpoint(router, "/quarantine", SLOW_ADMIN)
def quarantine(context: CurrentWriter, body: bodies.QuarantineBody) -> ReceiptDocument:
    """Hold everything from a source, session or origin, and all that is derived from it, for review."""
    return receipt_document(context.memory.quarantine(**body.given_fields()))


@write_endpoint(router, "/feedback")
def feedback(context: CurrentWriter, body: bodies.FeedbackBody) -> UpdatedSignalsDocument:
    """Record, once, how good an answer made from a recall was."""
    return UpdatedSignalsDocument(ids=list(context.memory.feedback(body.recall_id, body.cited, body.verdict)))


@write_endpoint(router, "/cite")
def cite(context: CurrentWriter, body: bodies.CiteBody) -> UpdatedSignalsDocument:
    """Record that these atoms were used, without a verdict."""
    return UpdatedSignalsDocument(ids=list(context.memory.cite(body.ids)))
