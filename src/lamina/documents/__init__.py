"""The JSON documents that lamina returns: the same keys on the command line, in MCP, in HTTP and on the web page."""

from lamina.documents.answer import AnswerDocument, answer_document
from lamina.documents.atom import AtomDocument, QuoteDocument, atom_document, load_quotes
from lamina.documents.dream import DreamDocument, dream_document
from lamina.documents.erasure import ErasureDocument, erasure_document
from lamina.documents.history import HistoryDocument, history_document
from lamina.documents.inbox import InboxDocument, InboxItemDocument, inbox_document, inbox_item_document
from lamina.documents.journal import EntryDocument, entry_document
from lamina.documents.neighbour import NeighbourDocument, neighbour_documents
from lamina.documents.recall import HitDocument, RecallDocument, hit_document, recall_document
from lamina.documents.receipt import (
    ChangeDocument,
    ReceiptDocument,
    UndoDocument,
    change_document,
    receipt_document,
    undo_document,
)
from lamina.documents.stats import StatsDocument, stats_document

__all__ = [
    "AnswerDocument",
    "AtomDocument",
    "ChangeDocument",
    "DreamDocument",
    "EntryDocument",
    "ErasureDocument",
    "HistoryDocument",
    "HitDocument",
    "InboxDocument",
    "InboxItemDocument",
    "NeighbourDocument",
    "QuoteDocument",
    "RecallDocument",
    "ReceiptDocument",
    "StatsDocument",
    "UndoDocument",
    "answer_document",
    "atom_document",
    "change_document",
    "dream_document",
    "entry_document",
    "erasure_document",
    "history_document",
    "hit_document",
    "inbox_document",
    "inbox_item_document",
    "load_quotes",
    "neighbour_documents",
    "recall_document",
    "receipt_document",
    "stats_document",
    "undo_document",
]
