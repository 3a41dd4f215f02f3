"""Readers of documents: PDF, Office and web pages, markdown, text and code are split into pieces."""

from lamina.importers.documents.document import LARGEST, Document, UnreadableDocument
from lamina.importers.documents.read import PROSE_NAMES, read_document, read_text

__all__ = ["LARGEST", "PROSE_NAMES", "Document", "UnreadableDocument", "read_document", "read_text"]
