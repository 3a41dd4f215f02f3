"""The endpoints of working memory: notes of runs and of workstreams."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from lamina.documents.argument_types import MAX_HITS, MAX_TOKENS, Question
from lamina.documents.receipt import ChangeDocument, ReceiptDocument, change_document, receipt_document
from lamina.documents.working_memory import BlockDocument, RunDocument, run_document
from lamina.http.api.endpoint import CurrentCaller, CurrentWriter, read_endpoint, write_endpoint
from lamina.http.api.request_bodies import BlockNoteBody, CloseRunBody, NoteBody

router = APIRouter(tags=["working memory"])

RunName = Annotated[str, Path(min_length=1, max_length=500, description="The run's name.")]
Workstream = Annotated[str, Path(min_length=1, max_length=500, description="The workstream's name.")]
PrivateScope = Annotated[bool, Query(description="In the agent's scope.")]


@read_endpoint(router, "/runs/{id}")
def run(
    context: CurrentCaller,
    id: RunName,
    ask: Annotated[Question | None, Query(description="Order the notes by relevance to this question.")] = None,
    k: Annotated[int, Query(ge=1, le=MAX_HITS)] = 5,
    private: PrivateScope = False,
) -> RunDocument:
    """Return the notes of an open run, or how a closed one ended."""
    memory = context.memory
    run_view = memory.run(id, private=private)
    event, notes = run_view.event, run_view.notes() if ask is None else run_view.recall(ask, k)
    return run_document(memory, run_view, event, notes)


@write_endpoint(router, "/runs/{id}/note")
def run_note(context: CurrentWriter, id: RunName, body: NoteBody) -> ChangeDocument:
    """Add a note to a run; recall finds it only within the run."""
    note = context.memory.run(id, private=body.private).note(**body.given_fields("private"))
    return change_document(context.memory, note)


@write_endpoint(router, "/runs/{id}/close")
def run_close(context: CurrentWriter, id: RunName, body: CloseRunBody) -> ReceiptDocument:
    """Close a run in one commit: its notes are archived and one event records how it ended."""
    return receipt_document(context.memory.run(id, private=body.private).close(**body.given_fields("private")))


@read_endpoint(router, "/blocks/{workstream}")
def block(
    context: CurrentCaller,
    workstream: Workstream,
    budget: Annotated[
        int | None, Query(ge=0, le=MAX_TOKENS, description="Maximum of tokens; the newest notes are kept.")
    ] = None,
    private: PrivateScope = False,
) -> BlockDocument:
    """Return the notes of a workstream as an agent gets them, oldest first."""
    block_view = context.memory.block(workstream, private=private)
    return BlockDocument.of(block_view, text=block_view.text(budget))


@write_endpoint(router, "/blocks/{workstream}/add")
def block_add(context: CurrentWriter, workstream: Workstream, body: BlockNoteBody) -> ChangeDocument:
    """Add a note under a role; beyond fifteen notes the oldest are merged."""
    note = context.memory.block(workstream, private=body.private).add(body.role, body.text)
    return change_document(context.memory, note)
