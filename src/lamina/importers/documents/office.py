"""Read Office files: text documents as markdown, presentations by slide, spreadsheets by sheet."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from lamina.capture.pieces import Form, Piece, pieces_of
from lamina.importers.documents.decode import holdable
from lamina.importers.documents.document import Document, UnreadableDocument, check_archive, finished, package
from lamina.text.normal import one_line

MOST_CELLS = 2_000_000
ROWS_LIMIT = 1_200
"""Characters of the rows in one piece: a few rows are found better than a page of them."""

_CELLS = " | "
_DAMAGED = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    OSError,
    EOFError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_docx(path: Path) -> Document:
    """Read a text document; its headings become markdown headings. UnreadableDocument if it is damaged or empty."""
    docx = _library("docx", path)

    def read() -> Document:
        document = docx.Document(str(path))
        text = "\n\n".join(_docx_blocks(document))
        return finished(path, "docx", document.core_properties.title, pieces_of(text, Form.MARKDOWN))

    errors = package("docx.opc.exceptions", path).OpcError, package("docx.exceptions", path).PythonDocxError
    return _guarded(path, read, *errors)


def read_pptx(path: Path) -> Document:
    """Read a presentation, one page for each slide with its notes. UnreadableDocument if it is damaged or empty."""
    pptx = _library("pptx", path)

    def read() -> Document:
        deck = pptx.Presentation(str(path))
        return finished(path, "pptx", deck.core_properties.title, _slides(deck))

    return _guarded(path, read, package("pptx.exc", path).PythonPptxError)


def read_xlsx(path: Path) -> Document:
    """Read a spreadsheet, one page for each sheet, a line for each row; the first row is context for the others."""
    openpyxl = _library("openpyxl", path)

    def read() -> Document:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            try:
                return finished(path, "xlsx", book.properties.title, _sheets(book, path))
            finally:
                book.close()

    return _guarded(path, read, package("openpyxl.utils.exceptions", path).InvalidFileException)


def _library(module: str, path: Path) -> Any:
    check_archive(path)
    return package(module, path)


def _guarded(path: Path, read: Callable[[], Document], *own: type[Exception]) -> Document:
    damaged: tuple[type[Exception], ...] = (*_DAMAGED, *own)
    try:
        document = read()
    except damaged as error:
        raise UnreadableDocument(
            path, f"it is damaged or not of the type its name says: {one_line(str(error))}"
        ) from error
    if not document.pieces:
        raise UnreadableDocument(path, "it contains no text")
    return document


def _docx_blocks(document: Any) -> Iterator[str]:
    # `paragraph.style` searches all styles of the document at every call.
    styles = {style.style_id: style.name or "" for style in document.styles}
    for block in document.iter_inner_content():
        if hasattr(block, "rows"):
            yield from filter(None, ["\n".join(_table(block))])
            continue
        words = holdable(block.text).strip()
        if words:
            yield _styled(words, styles.get(block._p.style, ""))


def _styled(words: str, style: str) -> str:
    if style == "Title":
        return f"# {one_line(words)}"
    if style.startswith("Heading") and style[-1:].isdecimal():
        return f"{'#' * min(6, int(style[-1]))} {one_line(words)}"
    return f"- {words}" if style.startswith("List") else words


def _table(table: Any) -> Iterator[str]:
    for row in table.rows:
        # The library lists a cell that spans several columns once for each column.
        cells = list(dict.fromkeys((id(cell._tc), one_line(holdable(cell.text))) for cell in row.cells))
        line = _CELLS.join(text for _, text in cells)
        if line.strip(" |"):
            yield line


def _slides(deck: Any) -> Iterator[Piece]:
    for n, slide in enumerate(deck.slides, 1):
        title = slide.shapes.title
        blocks = (
            [f"# {one_line(holdable(title.text_frame.text))}"]
            if title is not None and title.text_frame.text.strip()
            else []
        )
        blocks += _shapes(slide.shapes, title)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            blocks.append(holdable(slide.notes_slide.notes_text_frame.text).strip())
        for piece in pieces_of("\n\n".join(filter(None, blocks)), Form.MARKDOWN):
            yield replace(piece, page=f"slide {n}")


def _shapes(shapes: Iterable[Any], title: Any) -> Iterator[str]:
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes, title)
        elif shape.has_text_frame:
            yield holdable(shape.text_frame.text.replace("\v", "\n")).strip()
        elif getattr(shape, "has_table", False):
            rows = ([one_line(holdable(cell.text)) for cell in row.cells] for row in shape.table.rows)
            yield "\n".join(_CELLS.join(row) for row in rows if any(row))


def _sheets(book: Any, path: Path) -> Iterator[Piece]:
    cells = 0
    for sheet in book.worksheets:
        # The dimensions that a file declares may be wrong.
        sheet.reset_dimensions()
        rows: list[str] = []
        for row in sheet.iter_rows(values_only=True):
            cells += max(1, len(row))
            if cells > MOST_CELLS:
                raise UnreadableDocument(path, f"it has more than {MOST_CELLS:,} cells; split it")
            line = _CELLS.join(_cell(value) for value in row).rstrip(" |")
            if line:
                rows.append(line)
        for piece in _grouped(rows):
            yield replace(piece, page=f"sheet {one_line(sheet.title)}")


def _grouped(rows: list[str]) -> Iterator[Piece]:
    """Yield rows in groups; the first row, usually the column names, is the context of all groups but the first."""
    group: list[str] = []
    length, context = 0, ""
    for row in rows:
        if group and length + len(row) > ROWS_LIMIT:
            yield from _told(group, context)
            group, length, context = [], 0, rows[0][:ROWS_LIMIT]
        group.append(row)
        length += len(row) + 1
    yield from _told(group, context)


def _told(group: list[str], context: str) -> Iterator[Piece]:
    for piece in pieces_of("\n".join(group), Form.PLAIN):
        yield replace(piece, context=context)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time.min:
        value = value.date()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return one_line(holdable(str(value)))
