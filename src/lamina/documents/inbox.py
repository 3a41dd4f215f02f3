"""What waits for a person's word, with the sentence it rests on and what each word would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.atom import AtomDocument, QuoteDocument, atom_document, quotes_of
from lamina.documents.document import Document

if TYPE_CHECKING:
    from lamina.memory import Memory
    from lamina.review.waiting import Item


class VerbDocument(Document):
    """A word there is, and what it would do."""

    verb: str
    does: str


class SaidDocument(Document):
    """One of the statements that wait, and the words it rests on."""

    atom: AtomDocument
    quotes: list[QuoteDocument]


class ItemDocument(Document):
    """One thing that waits: what it says, why it waits, and what each verb would do."""

    kind: str
    ids: list[str]
    text: str
    reason: str
    verbs: list[VerbDocument]
    atoms: list[SaidDocument]


class InboxDocument(Document):
    """What waits, the first of it, and how much there is."""

    waiting: int
    held: int
    items: list[ItemDocument]


def item_document(memory: Memory, item: Item) -> ItemDocument:
    """One thing that waits."""
    return ItemDocument(
        kind=item.kind.value,
        ids=list(item.ids),
        text=item.text,
        reason=item.reason,
        verbs=[VerbDocument(verb=verb, does=does) for verb, does in item.verbs],
        atoms=[
            SaidDocument(atom=atom_document(atom, memory.path_of(atom.id)), quotes=quotes_of(memory, atom))
            for atom in item.atoms
        ],
    )


def inbox_document(
    memory: Memory, source: str | None = None, kind: str | None = None, limit: int | None = 50
) -> InboxDocument:
    """The inbox: of one source, or of one sort of decision, or all of it."""
    items = memory.review.list(source, kind=kind, limit=limit)
    return InboxDocument(
        waiting=memory.review.count(source, kind=kind),
        held=len(memory.review.held(source)),
        items=[item_document(memory, item) for item in items],
    )
