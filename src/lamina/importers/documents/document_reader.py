"""Read any document: detect the type of a file by its name and first bytes, then call the reader for it."""

from __future__ import annotations

from pathlib import Path

from lamina.capture.echo_filter import remove_recalled_context
from lamina.capture.pieces import TextFormat, detect_format, split_text
from lamina.capture.pieces.text_format import MARKDOWN_SUFFIXES
from lamina.errors import NotFound
from lamina.importers.documents.html_text import find_declared_encoding, html_to_markdown
from lamina.importers.documents.office_files import read_docx, read_pptx, read_xlsx
from lamina.importers.documents.parsed_document import (
    MAX_FILE_BYTES,
    ParsedDocument,
    UnreadableDocument,
    build_document,
)
from lamina.importers.documents.pdf_text import read_pdf
from lamina.importers.documents.regular_file import read_head, read_regular_file
from lamina.importers.documents.text_decoding import decode_text, storable_text

_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML_SUFFIXES = frozenset({"html", "htm", "xhtml"})
_OLD_OFFICE_SUFFIXES = frozenset({"doc", "ppt", "xls"})
_TEXT_SUFFIXES = frozenset({"txt", "text", "rst", "org", "adoc", "tex"})
_READERS = {"pdf": read_pdf, "docx": read_docx, "pptx": read_pptx, "xlsx": read_xlsx, "xlsm": read_xlsx}

DOCUMENT_SUFFIXES = MARKDOWN_SUFFIXES | _TEXT_SUFFIXES | _HTML_SUFFIXES | _READERS.keys()
"""Suffixes of files that contain text for people."""


def read_document(path: Path) -> ParsedDocument:
    """Return a file's title and pieces; UnreadableDocument with the reason, NotFound if there is no file."""
    suffix = path.suffix.lower().removeprefix(".")
    head = _read_head(path)
    if head.startswith(_OLE_SIGNATURE):
        reason = "it is protected by a password" if suffix in _READERS else "it is in an old Office format"
        raise UnreadableDocument(path, f"{reason}; save it as docx, pptx or xlsx without a password")
    if suffix in _READERS:
        return _READERS[suffix](path)
    if suffix in _OLD_OFFICE_SUFFIXES:
        raise UnreadableDocument(path, "it is in an old Office format; save it as docx, pptx or xlsx")
    if head.startswith(b"%PDF-"):
        return read_pdf(path)
    data = read_regular_file(path, MAX_FILE_BYTES)
    if suffix in _HTML_SUFFIXES:
        return _read_html(path, data)
    return read_text(path, _decode_or_raise(path, data))


def read_text(path: Path, text: str) -> ParsedDocument:
    """Return the document of a text that was read from a file; UnreadableDocument if it is empty."""
    text = remove_recalled_context(text).text
    form = detect_format(text, path.name)
    if not text.strip():
        raise UnreadableDocument(path, "it is empty")
    return build_document(
        path, form.value, _first_heading(text) if form is TextFormat.MARKDOWN else None, split_text(text, form)
    )


def _read_head(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UnreadableDocument(path, "it is a folder; import it with `lamina import`")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UnreadableDocument(path, f"it is larger than {MAX_FILE_BYTES >> 20} MB; split it")
        return read_head(path, 8)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise UnreadableDocument(path, f"it cannot be opened: {error.strerror}") from error


def _decode_or_raise(path: Path, data: bytes) -> str:
    try:
        return decode_text(data)
    except ValueError as error:
        raise UnreadableDocument(path, str(error)) from error


def _read_html(path: Path, data: bytes) -> ParsedDocument:
    encoding = find_declared_encoding(data)
    try:
        text = storable_text(data.decode(encoding)) if encoding else _decode_or_raise(path, data)
    except (LookupError, UnicodeDecodeError):
        text = _decode_or_raise(path, data)
    title, words = html_to_markdown(text)
    if not words:
        raise UnreadableDocument(path, "it contains no text")
    return build_document(path, "html", title or _first_heading(words), split_text(words, TextFormat.MARKDOWN))


def _first_heading(text: str) -> str | None:
    first = next((line for line in text[:10_000].split("\n") if line.startswith("# ")), None)
    return first[2:].strip(" #") if first else None
