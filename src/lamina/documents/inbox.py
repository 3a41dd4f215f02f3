"""The JSON documents of the review inbox: pending items with their evidence and possible decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.atom import AtomDocument, QuoteDocument, atom_document, load_quotes
from lamina.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.review.pending_items import Item


class VerbDocument(JsonDocument):
    """A possible decision and its effect."""

    verb: str
    does: str


class PendingStatementDocument(JsonDocument):
    """A pending statement and the text it rests on."""

    atom: AtomDocument
    quotes: list[QuoteDocument]


class InboxItemDocument(JsonDocument):
    """One pending item: its text, why it is pending, and what each decision would do."""

    kind: str
    ids: list[str]
    text: str
    reason: str
    verbs: list[VerbDocument]
    atoms: list[PendingStatementDocument]


class InboxDocument(JsonDocument):
    """The first pending items and their number."""

    waiting: int
    held: int
    items: list[InboxItemDocument]


def inbox_item_document(memory: Memory, item: Item) -> InboxItemDocument:
    """Return the document of one pending item."""
    return InboxItemDocument(
        kind=item.kind.value,
        ids=list(item.ids),
        text=item.text,
        reason=item.reason,
        verbs=[VerbDocument(verb=verb, does=does) for verb, does in item.verbs],
        atoms=[
            PendingStatementDocument(
                atom=atom_document(atom, memory.path_of(atom.id)), quotes=load_quotes(memory, atom)
            )
            for atom in item.atoms
        ],
    )


def inbox_document(
    memory: Memory, source: str | None = None, kind: str | None = None, limit: int | None = 50
) -> InboxDocument:
    """Return the pending items, of one source or of one kind if given."""
    items = memory.review.list(source, kind=kind, limit=limit)
    return InboxDocument(
        waiting=memory.review.count(source, kind=kind),
        held=len(memory.review.held(source)),
        items=[inbox_item_document(memory, item) for item in items],
    )
