"""PDF: a page at a time, the lines of a paragraph joined again."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lamina.capture.pieces import Piece, paragraphs
from lamina.importers.documents.decode import holdable
from lamina.importers.documents.document import Document, UnreadableDocument, finished, package

MOST_PAGES = 10_000
_ITEM = re.compile(r"\s*(?:[-•*‣◦·–]|\d{1,3}[.)]|[a-z][.)])\s")
_BROKEN_WORD = re.compile(r"(?:^|\s)([^\W\d_]{2,})-$")
_ENDS = re.compile(r"[.!?:;。！？]['\"”’)]*$")
_FULL_LINE = 0.7
_DAMAGED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    EOFError,
    AssertionError,
)


def read_pdf(path: Path) -> Document:
    """The pages of a PDF that holds text."""
    pypdf = package("pypdf", path)
    # What pypdf mends by itself is no news to the reader.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    try:
        reader = pypdf.PdfReader(path)
        _open(reader, pypdf, path)
        if len(reader.pages) > MOST_PAGES:
            raise UnreadableDocument(path, f"it has more than {MOST_PAGES:,} pages; split it")
        read = finished(path, "pdf", _title(reader), _pages(reader))
    except (pypdf.errors.PyPdfError, *_DAMAGED) as error:
        raise UnreadableDocument(path, f"it is damaged or no PDF: {error}") from error
    if not read.pieces:
        raise UnreadableDocument(path, "there is no text in it, only pictures; run text recognition (OCR) on it first")
    return read


def _open(reader: Any, pypdf: Any, path: Path) -> None:
    """Many files are encrypted with an empty password; any other is nobody's business."""
    try:
        opened = not reader.is_encrypted or reader.decrypt("")
    except (pypdf.errors.DependencyError, NotImplementedError):
        opened = False
    if not opened:
        raise UnreadableDocument(path, "it is protected by a password; save a copy without one")


def _title(reader: Any) -> str | None:
    told = reader.metadata.title if reader.metadata else None
    return holdable(str(told)) if told else None


def _pages(reader: Any) -> Iterator[Piece]:
    for n, page in enumerate(reader.pages, 1):
        for piece in paragraphs(flowing(holdable(page.extract_text()))):
            yield replace(piece, page=f"page {n}")


def flowing(text: str) -> str:
    """A page's text with lines joined that only the width of the page parted, and paragraphs apart."""
    lines = [line.rstrip() for line in text.split("\n")]
    width = max(map(len, lines), default=0)
    out: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if before and _is_full(before, width) and _splits(before, line):
            out[-1] = out[-1].removesuffix("-")
            out.append(line.lstrip())
        else:
            out += [_between(before, line, width), line]
    return "".join(out)


def _is_full(line: str, width: int) -> bool:
    return len(line) >= _FULL_LINE * width


def _between(before: str, line: str, width: int) -> str:
    if not before or not line:
        return "\n"
    if _is_full(before, width):
        return "\n" if _ITEM.match(line) else " "
    return "\n\n" if _ENDS.search(before) else "\n"


def _splits(before: str, line: str) -> bool:
    """Whether the end of a line parts a word; a hyphen within a word that has others is its own."""
    return bool(_BROKEN_WORD.search(before)) and line.lstrip()[:1].islower()
