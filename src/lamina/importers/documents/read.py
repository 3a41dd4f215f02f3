"""Read any document: detect the type of a file by its name and first bytes, then call the reader for it."""

from __future__ import annotations

from pathlib import Path

from lamina.capture.fence import without_recalled
from lamina.capture.pieces import Form, form_of, pieces_of
from lamina.capture.pieces.form import MARKDOWN_NAMES
from lamina.errors import NotFound
from lamina.importers.documents.decode import decode, holdable
from lamina.importers.documents.document import LARGEST, Document, UnreadableDocument, finished
from lamina.importers.documents.html import declared_encoding, html_words
from lamina.importers.documents.office import read_docx, read_pptx, read_xlsx
from lamina.importers.documents.pdf import read_pdf

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML_NAMES = frozenset({"html", "htm", "xhtml"})
_OLD_NAMES = frozenset({"doc", "ppt", "xls"})
_TEXT_NAMES = frozenset({"txt", "text", "rst", "org", "adoc", "tex"})
_READERS = {"pdf": read_pdf, "docx": read_docx, "pptx": read_pptx, "xlsx": read_xlsx, "xlsm": read_xlsx}

PROSE_NAMES = MARKDOWN_NAMES | _TEXT_NAMES | _HTML_NAMES | _READERS.keys()
"""Suffixes of files that contain text for people."""


def read_document(path: Path) -> Document:
    """Return a file's title and pieces; UnreadableDocument with the reason, NotFound if there is no file."""
    suffix = path.suffix.lower().removeprefix(".")
    head = _head(path)
    if head.startswith(_OLE):
        reason = "it is protected by a password" if suffix in _READERS else "it is in an old Office format"
        raise UnreadableDocument(path, f"{reason}; save it as docx, pptx or xlsx without a password")
    if suffix in _READERS:
        return _READERS[suffix](path)
    if suffix in _OLD_NAMES:
        raise UnreadableDocument(path, "it is in an old Office format; save it as docx, pptx or xlsx")
    if head.startswith(b"%PDF-"):
        return read_pdf(path)
    data = path.read_bytes()
    if suffix in _HTML_NAMES:
        return _html(path, data)
    return read_text(path, _decoded(path, data))


def read_text(path: Path, text: str) -> Document:
    """Return the document of a text that was read from a file; UnreadableDocument if it is empty."""
    text = without_recalled(text).text
    form = form_of(text, path.name)
    if not text.strip():
        raise UnreadableDocument(path, "it is empty")
    return finished(path, form.value, _first_heading(text) if form is Form.MARKDOWN else None, pieces_of(text, form))


def _head(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UnreadableDocument(path, "it is a folder; import it with `lamina import`")
        if path.stat().st_size > LARGEST:
            raise UnreadableDocument(path, f"it is larger than {LARGEST >> 20} MB; split it")
        with path.open("rb") as file:
            return file.read(8)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as error:
        raise UnreadableDocument(path, f"it cannot be opened: {error.strerror}") from error


def _decoded(path: Path, data: bytes) -> str:
    try:
        return decode(data)
    except ValueError as error:
        raise UnreadableDocument(path, str(error)) from error


def _html(path: Path, data: bytes) -> Document:
    encoding = declared_encoding(data)
    try:
        text = holdable(data.decode(encoding)) if encoding else _decoded(path, data)
    except (LookupError, UnicodeDecodeError):
        text = _decoded(path, data)
    title, words = html_words(text)
    if not words:
        raise UnreadableDocument(path, "it contains no text")
    return finished(path, "html", title or _first_heading(words), pieces_of(words, Form.MARKDOWN))


def _first_heading(text: str) -> str | None:
    first = next((line for line in text[:10_000].split("\n") if line.startswith("# ")), None)
    return first[2:].strip(" #") if first else None
