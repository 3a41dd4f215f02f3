"""The JSON documents of working memory: the notes of a run and of a workstream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lamina.documents.atom import AtomDocument, atom_document, atom_documents
from lamina.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory
    from lamina.working.run import Run


class RunDocument(JsonDocument):
    """The notes of an open run, or how a closed one ended."""

    run: str
    outcome: str | None
    event: AtomDocument | None
    notes: list[AtomDocument]


class BlockEntryDocument(JsonDocument):
    """One note of a block."""

    role: str
    text: str


class BlockDocument(JsonDocument):
    """The notes of a workstream, oldest first."""

    workstream: str
    entries: list[BlockEntryDocument]
    text: str


def run_document(memory: Memory, run: Run, event: Atom | None, notes: Iterable[Atom]) -> RunDocument:
    """Return the document of a run: these notes, and the event of its close if it is closed."""
    return RunDocument(
        run=run.id,
        outcome=event.metadata_text("outcome") if event else None,
        event=atom_document(event, memory.path_of(event.id)) if event else None,
        notes=atom_documents(memory, notes),
    )
