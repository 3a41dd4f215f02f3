"""Readers of documents: PDF, Office and web pages, markdown, text and code are split into pieces."""

from lamina.importers.documents.document_reader import DOCUMENT_SUFFIXES, read_document, read_text
from lamina.importers.documents.parsed_document import MAX_FILE_BYTES, ParsedDocument, UnreadableDocument

__all__ = ["DOCUMENT_SUFFIXES", "MAX_FILE_BYTES", "ParsedDocument", "UnreadableDocument", "read_document", "read_text"]
