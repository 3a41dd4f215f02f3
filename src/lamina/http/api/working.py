"""The endpoints of working memory: notes of runs and of workstreams."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from lamina.documents import ChangeDocument, ReceiptDocument, atom_document, change_document, receipt_document
from lamina.http.api.answers import BlockDocument, EntryOfBlock, RunDocument
from lamina.http.api.bodies import MOST_HITS, MOST_TOKENS, Add, Asking, Close, Note
from lamina.http.api.route import Here, Key, reads, told, writes

router = APIRouter(tags=["working memory"])

RunName = Annotated[str, Path(min_length=1, max_length=500, description="The run's name.")]
Workstream = Annotated[str, Path(min_length=1, max_length=500, description="The workstream's name.")]
Own = Annotated[bool, Query(description="In the agent's scope.")]


@reads(router, "/runs/{id}", RunDocument)
def run(
    here: Here,
    id: RunName,
    ask: Annotated[Asking | None, Query(description="Order the notes by relevance to this question.")] = None,
    k: Annotated[int, Query(ge=1, le=MOST_HITS)] = 5,
    private: Own = False,
) -> Response:
    """Return the notes of an open run, or how a closed one ended."""
    memory = here.memory
    run_view = memory.run(id, private=private)
    event, notes = run_view.event, run_view.notes() if ask is None else run_view.recall(ask, k)
    event_document = atom_document(event, memory.path_of(event.id)) if event else None
    return told(
        RunDocument(
            run=run_view.id,
            outcome=event.metadata.get("outcome") if event else None,
            event=event_document,
            notes=[atom_document(note, memory.path_of(note.id)) for note in notes],
        )
    )


@writes(router, "/runs/{id}/note", ChangeDocument)
def run_note(here: Here, id: RunName, body: Note, key: Key = None) -> Response:
    """Add a note to a run; recall finds it only within the run."""
    note = here.memory.run(id, private=body.private).note(**body.given("private"))
    return told(change_document(here.memory, note))


@writes(router, "/runs/{id}/close", ReceiptDocument)
def run_close(here: Here, id: RunName, body: Close, key: Key = None) -> Response:
    """Close a run in one commit: its notes are archived and one event records how it ended."""
    return told(receipt_document(here.memory.run(id, private=body.private).close(**body.given("private"))))


@reads(router, "/blocks/{workstream}", BlockDocument)
def block(
    here: Here,
    workstream: Workstream,
    budget: Annotated[
        int | None, Query(ge=0, le=MOST_TOKENS, description="Maximum of tokens; the newest notes are kept.")
    ] = None,
    private: Own = False,
) -> Response:
    """Return the notes of a workstream as an agent gets them, oldest first."""
    block_view = here.memory.block(workstream, private=private)
    entries = [EntryOfBlock(role=entry.role, text=entry.text) for entry in block_view.entries]
    return told(BlockDocument(workstream=block_view.workstream, entries=entries, text=block_view.text(budget)))


@writes(router, "/blocks/{workstream}/add", ChangeDocument)
def block_add(here: Here, workstream: Workstream, body: Add, key: Key = None) -> Response:
    """Add a note under a role; beyond fifteen notes the oldest are folded."""
    note = here.memory.block(workstream, private=body.private).add(body.role, body.text)
    return told(change_document(here.memory, note))
