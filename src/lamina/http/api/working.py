"""Working memory: the notes of a run, and those of a workstream."""

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
Own = Annotated[bool, Query(description="In the agent's own scope.")]


@reads(router, "/runs/{id}", RunDocument)
def run(
    here: Here,
    id: RunName,
    ask: Annotated[Asking | None, Query(description="Order the notes by how well they answer this.")] = None,
    k: Annotated[int, Query(ge=1, le=MOST_HITS)] = 5,
    private: Own = False,
) -> Response:
    """The notes of an open run, or how a closed one ended."""
    memory = here.memory
    shown = memory.run(id, private=private)
    event, notes = shown.event, shown.notes() if ask is None else shown.recall(ask, k)
    ended = atom_document(event, memory.path_of(event.id)) if event else None
    return told(
        RunDocument(
            run=shown.id,
            outcome=event.metadata.get("outcome") if event else None,
            event=ended,
            notes=[atom_document(note, memory.path_of(note.id)) for note in notes],
        )
    )


@writes(router, "/runs/{id}/note", ChangeDocument)
def run_note(here: Here, id: RunName, body: Note, key: Key = None) -> Response:
    """Note something for as long as the run lasts; no recall outside the run finds it."""
    made = here.memory.run(id, private=body.private).note(**body.given("private"))
    return told(change_document(here.memory, made))


@writes(router, "/runs/{id}/close", ReceiptDocument)
def run_close(here: Here, id: RunName, body: Close, key: Key = None) -> Response:
    """End the run in one commit: its notes are laid aside and one event tells how it ended."""
    return told(receipt_document(here.memory.run(id, private=body.private).close(**body.given("private"))))


@reads(router, "/blocks/{workstream}", BlockDocument)
def block(
    here: Here,
    workstream: Workstream,
    budget: Annotated[int | None, Query(ge=0, le=MOST_TOKENS, description="Tokens; the youngest notes stay.")] = None,
    private: Own = False,
) -> Response:
    """A workstream's notes as an agent is told them, oldest first."""
    shown = here.memory.block(workstream, private=private)
    entries = [EntryOfBlock(role=entry.role, text=entry.text) for entry in shown.entries]
    return told(BlockDocument(workstream=shown.workstream, entries=entries, text=shown.text(budget)))


@writes(router, "/blocks/{workstream}/add", ChangeDocument)
def block_add(here: Here, workstream: Workstream, body: Add, key: Key = None) -> Response:
    """Note something under a role; beyond fifteen notes the oldest are folded."""
    made = here.memory.block(workstream, private=body.private).add(body.role, body.text)
    return told(change_document(here.memory, made))
