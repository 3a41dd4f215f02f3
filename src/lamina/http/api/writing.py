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
    undone_document,
)
from lamina.documents.receipt import UndoneDocument
from lamina.http.api.answers import TaughtDocument
from lamina.http.api.bodies import (
    Capture,
    Cite,
    Erase,
    Feedback,
    MayReason,
    Moved,
    Quarantine,
    Reasoned,
    Relate,
    Remember,
    RememberMany,
    Revise,
    Undo,
)
from lamina.http.api.route import Here, Id, Key, told, writes

router = APIRouter(tags=["writing"])


@writes(router, "/capture", ReceiptDocument)
def capture(here: Here, body: Capture, key: Key = None) -> Response:
    """Store text verbatim and extract statements from it.

    The text is durable and searchable when this returns; with `wait` the statements are as well.
    """
    text = body.text if body.text is not None else [turn.given() for turn in body.turns or ()]
    receipt = here.memory.capture(text, **body.given("text", "turns", "key"), key=here.key(key or body.key, body))
    return told(receipt_document(receipt))


@writes(router, "/remember", ReceiptDocument)
def remember(here: Here, body: Remember, key: Key = None) -> Response:
    """Write one explicit statement, compared with existing statements."""
    return told(receipt_document(here.memory.remember(**body.given(), key=here.key(key, body))))


@writes(router, "/remember_many", ReceiptDocument)
def remember_many(here: Here, body: RememberMany, key: Key = None) -> Response:
    """Write many explicit statements in one commit: all or none."""
    statements = [statement.given() for statement in body.statements]
    receipt = here.memory.remember_many(statements, **body.given("statements"), key=here.key(key, body))
    return told(receipt_document(receipt))


@writes(router, "/propose", ReceiptDocument)
def propose(here: Here, body: Remember, key: Key = None) -> Response:
    """Propose a statement: it is pending and counts once a person confirms it."""
    return told(receipt_document(here.memory.propose(**body.given(), key=here.key(key, body))))


@writes(router, "/atoms/{id}/revise", ChangeDocument)
def revise(here: Here, id: Id, body: Revise, key: Key = None) -> Response:
    """Write a new version of an atom; the old one is kept."""
    return told(change_document(here.memory, here.memory.revise(id, **body.given())))


@writes(router, "/atoms/{id}/update_status", ChangeDocument)
def update_status(here: Here, id: Id, body: Moved, key: Key = None) -> Response:
    """Change an atom's status along the status table; leaving an ended status is a restore."""
    return told(change_document(here.memory, here.memory.update_status(id, body.status, body.reason)))


@writes(router, "/atoms/{id}/forget", ChangeDocument)
def forget(here: Here, id: Id, body: Reasoned, key: Key = None) -> Response:
    """Tombstone an atom: recall no longer finds it; its text and history are kept."""
    return told(change_document(here.memory, here.memory.forget(id, body.reason)))


@writes(router, "/atoms/{id}/pin", ChangeDocument)
def pin(here: Here, id: Id, body: MayReason, key: Key = None) -> Response:
    """Protect an atom from being forgotten, merged or archived by maintenance."""
    return told(change_document(here.memory, here.memory.pin(id, **body.given())))


@writes(router, "/atoms/{id}/unpin", ChangeDocument)
def unpin(here: Here, id: Id, body: MayReason, key: Key = None) -> Response:
    """Let maintenance treat an atom as any other."""
    return told(change_document(here.memory, here.memory.unpin(id, **body.given())))


@writes(router, "/atoms/{id}/promote", ChangeDocument)
def promote(here: Here, id: Id, body: MayReason, key: Key = None) -> Response:
    """Move an atom one layer up, towards the layers that do not fade."""
    return told(change_document(here.memory, here.memory.promote(id, **body.given())))


@writes(router, "/atoms/{id}/demote", ChangeDocument)
def demote(here: Here, id: Id, body: MayReason, key: Key = None) -> Response:
    """Move an atom one layer down, where it fades unless it is used."""
    return told(change_document(here.memory, here.memory.demote(id, **body.given())))


@writes(router, "/atoms/{id}/resolve", ChangeDocument)
def resolve(here: Here, id: Id, body: MayReason, key: Key = None) -> Response:
    """Mark a commitment, a goal or a reminder as done."""
    return told(change_document(here.memory, here.memory.resolve(id, **body.given())))


@writes(router, "/atoms/{id}/relate", ChangeDocument)
def relate(here: Here, id: Id, body: Relate, key: Key = None) -> Response:
    """Link an atom to another; repeating a link sets the new confidence."""
    after = here.memory.relate(id, body.relation, body.to, body.confidence)
    return told(change_document(here.memory, after))


@writes(router, "/atoms/{id}/rollback", ReceiptDocument)
def rollback(here: Here, id: Id, body: MayReason, key: Key = None) -> Response:
    """Remove a statement and restore what it had superseded."""
    return told(receipt_document(here.memory.rollback(id, **body.given())))


@writes(router, "/undo", UndoneDocument)
def undo(here: Here, body: Undo, key: Key = None) -> Response:
    """Undo a commit or a dream, by default the last commit; refused if later commits build on it."""
    return told(undone_document(here.memory, here.memory.undo(body.commit, cascade=body.cascade)))


@writes(router, "/erase", ErasureDocument)
def erase(here: Here, body: Erase, key: Key = None) -> Response:
    """Erase atoms for good: every version, copy, vector and file. Only a person may; it cannot be undone."""
    return told(erasure_document(here.memory.erase(**body.given())))


@writes(router, "/quarantine", ReceiptDocument)
def quarantine(here: Here, body: Quarantine, key: Key = None) -> Response:
    """Hold everything from a source, session or origin, and all that is derived from it, for review."""
    return told(receipt_document(here.memory.quarantine(**body.given())))


@writes(router, "/feedback", TaughtDocument)
def feedback(here: Here, body: Feedback, key: Key = None) -> Response:
    """Record, once, how good an answer made from a recall was."""
    return told(TaughtDocument(ids=list(here.memory.feedback(body.recall_id, body.cited, body.verdict))))


@writes(router, "/cite", TaughtDocument)
def cite(here: Here, body: Cite, key: Key = None) -> Response:
    """Record that these atoms were used, without a verdict."""
    return told(TaughtDocument(ids=list(here.memory.cite(body.ids))))
