"""The JSON documents that lamina returns: the same keys on the command line, in MCP, in HTTP and on the web page."""

from lamina.documents.answer import AnswerDocument, answer_document
from lamina.documents.atom import AtomDocument, QuoteDocument, atom_document, quotes_of
from lamina.documents.dream import DreamDocument, dream_document
from lamina.documents.erasure import ErasureDocument, erasure_document
from lamina.documents.history import HistoryDocument, history_document
from lamina.documents.inbox import InboxDocument, ItemDocument, inbox_document, item_document
from lamina.documents.journal import EntryDocument, entry_document
from lamina.documents.neighbour import NeighbourDocument, neighbour_documents
from lamina.documents.recall import HitDocument, RecallDocument, hit_document, recall_document
from lamina.documents.receipt import (
    ChangeDocument,
    ReceiptDocument,
    UndoneDocument,
    change_document,
    receipt_document,
    undone_document,
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
    "ItemDocument",
    "NeighbourDocument",
    "QuoteDocument",
    "RecallDocument",
    "ReceiptDocument",
    "StatsDocument",
    "UndoneDocument",
    "answer_document",
    "atom_document",
    "change_document",
    "dream_document",
    "entry_document",
    "erasure_document",
    "history_document",
    "hit_document",
    "inbox_document",
    "item_document",
    "neighbour_documents",
    "quotes_of",
    "recall_document",
    "receipt_document",
    "stats_document",
    "undone_document",
]
