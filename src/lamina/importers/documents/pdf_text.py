"""Read PDF files page by page, and join the lines of each paragraph."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lamina.capture.pieces import TextPiece, split_paragraphs
from lamina.importers.documents.parsed_document import (
    DAMAGED_FILE_ERRORS,
    ParsedDocument,
    UnreadableDocument,
    build_document,
    import_extra,
)
from lamina.importers.documents.text_decoding import storable_text

MAX_PAGES = 10_000
MAX_OPERATIONS = 20_000_000
"""Operations of all pages together: pages may share one long drawing."""
_LIST_ITEM = re.compile(r"\s*(?:[-•*‣◦·–]|\d{1,3}[.)]|[a-z][.)])\s")
_BROKEN_WORD = re.compile(r"(?:^|\s)([^\W\d_]{2,})-$")
_SENTENCE_END = re.compile(r"[.!?:;。！？]['\"”’)]*$")
_FULL_LINE_SHARE = 0.7


def read_pdf(path: Path) -> ParsedDocument:
    """Return the pages of a PDF; UnreadableDocument if it is damaged, protected or has no text."""
    pypdf = import_extra("pypdf", path)
    # pypdf warns about damage that it repairs itself.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    try:
        reader = pypdf.PdfReader(path)
        _decrypt(reader, pypdf, path)
        if len(reader.pages) > MAX_PAGES:
            raise UnreadableDocument(path, f"it has more than {MAX_PAGES:,} pages; split it")
        document = build_document(path, "pdf", _read_title(reader), _page_pieces(reader, path))
    except (pypdf.errors.PyPdfError, AssertionError, *DAMAGED_FILE_ERRORS) as error:
        raise UnreadableDocument(path, f"it is damaged or not a PDF: {error}") from error
    if not document.pieces:
        raise UnreadableDocument(path, "it contains no text, only images; run text recognition (OCR) on it first")
    return document


def _decrypt(reader: Any, pypdf: Any, path: Path) -> None:
    """Decrypt with the empty password, as many files need; UnreadableDocument if they need another."""
    try:
        is_open = not reader.is_encrypted or reader.decrypt("")
    except (pypdf.errors.DependencyError, NotImplementedError):
        is_open = False
    if not is_open:
        raise UnreadableDocument(path, "it is protected by a password; save a copy without a password")


def _read_title(reader: Any) -> str | None:
    title = reader.metadata.title if reader.metadata else None
    return storable_text(str(title)) if title else None


@dataclass(slots=True)
class OperationLimit:
    """A limit for the drawing operations of a file; forms may draw each other very often."""

    path: Path
    remaining: int = MAX_OPERATIONS

    def count(self, *operation: object) -> None:
        """Count one operation; UnreadableDocument beyond the limit."""
        self.remaining -= 1
        if self.remaining < 0:
            raise UnreadableDocument(self.path, f"it has more than {MAX_OPERATIONS:,} drawing operations; split it")


def _page_pieces(reader: Any, path: Path) -> Iterator[TextPiece]:
    limit = OperationLimit(path)
    for n, page in enumerate(reader.pages, 1):
        text = page.extract_text(visitor_operand_before=limit.count)
        for piece in split_paragraphs(join_broken_lines(storable_text(text))):
            yield replace(piece, page=f"page {n}")


def join_broken_lines(text: str) -> str:
    """Return a page's text with lines joined that were broken by the page width only, and paragraphs separated."""
    lines = [line.rstrip() for line in text.split("\n")]
    width = max(map(len, lines), default=0)
    out: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if before and _is_full(before, width) and _splits_word(before, line):
            out[-1] = out[-1].removesuffix("-")
            out.append(line.lstrip())
        else:
            out += [_separator(before, line, width), line]
    return "".join(out)


def _is_full(line: str, width: int) -> bool:
    return len(line) >= _FULL_LINE_SHARE * width


def _separator(before: str, line: str, width: int) -> str:
    if not before or not line:
        return "\n"
    if _is_full(before, width):
        return "\n" if _LIST_ITEM.match(line) else " "
    return "\n\n" if _SENTENCE_END.search(before) else "\n"


def _splits_word(before: str, line: str) -> bool:
    """Return whether a line end splits a word; a hyphen in a hyphenated word stays."""
    return bool(_BROKEN_WORD.search(before)) and line.lstrip()[:1].islower()
