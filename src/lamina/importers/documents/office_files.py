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

from lamina.capture.pieces import TextFormat, TextPiece, split_text
from lamina.importers.documents.parsed_document import (
    DAMAGED_FILE_ERRORS,
    LONGEST,
    ParsedDocument,
    UnreadableDocument,
    build_document,
    check_archive,
    import_extra,
)
from lamina.importers.documents.text_decoding import storable_text
from lamina.text.normal_form import one_line

MAX_CELLS = 2_000_000
MAX_GROUP_LENGTH = 1_200
"""Characters of the rows in one piece: a few rows are found better than a page of them."""

_CELL_SEPARATOR = " | "
_ARCHIVE_ERRORS = (OSError, SyntaxError, zipfile.BadZipFile, zlib.error)


def read_docx(path: Path) -> ParsedDocument:
    """Read a text document; its headings become markdown headings. UnreadableDocument if it is damaged or empty."""
    docx = _load_library("docx", path)

    def read() -> ParsedDocument:
        document = docx.Document(str(path))
        text = "\n\n".join(_docx_blocks(document))
        return build_document(path, "docx", document.core_properties.title, split_text(text, TextFormat.MARKDOWN))

    errors = import_extra("docx.opc.exceptions", path).OpcError, import_extra("docx.exceptions", path).PythonDocxError
    return _read_or_raise(path, read, *errors)


def read_pptx(path: Path) -> ParsedDocument:
    """Read a presentation, one page for each slide with its notes. UnreadableDocument if it is damaged or empty."""
    pptx = _load_library("pptx", path)

    def read() -> ParsedDocument:
        deck = pptx.Presentation(str(path))
        return build_document(path, "pptx", deck.core_properties.title, _slide_pieces(deck))

    return _read_or_raise(path, read, import_extra("pptx.exc", path).PythonPptxError)


def read_xlsx(path: Path) -> ParsedDocument:
    """Read a spreadsheet, one page for each sheet, a line for each row; the first row is context for the others."""
    openpyxl = _load_library("openpyxl", path)

    def read() -> ParsedDocument:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            try:
                return build_document(path, "xlsx", book.properties.title, _sheet_pieces(book, path))
            finally:
                book.close()

    return _read_or_raise(path, read, import_extra("openpyxl.utils.exceptions", path).InvalidFileException)


def _load_library(module: str, path: Path) -> Any:
    check_archive(path)
    return import_extra(module, path)


def _read_or_raise(path: Path, read: Callable[[], ParsedDocument], *library_errors: type[Exception]) -> ParsedDocument:
    damaged: tuple[type[Exception], ...] = (*DAMAGED_FILE_ERRORS, *_ARCHIVE_ERRORS, *library_errors)
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
            yield from filter(None, ["\n".join(_table_rows(block))])
            continue
        words = storable_text(block.text).strip()
        if words:
            yield _markdown_of(words, styles.get(block._p.style, ""))


def _markdown_of(words: str, style: str) -> str:
    if style == "Title":
        return f"# {one_line(words)}"
    if style.startswith("Heading") and style[-1:].isdecimal():
        return f"{'#' * min(6, int(style[-1]))} {one_line(words)}"
    return f"- {words}" if style.startswith("List") else words


def _table_rows(table: Any) -> Iterator[str]:
    """Yield the rows of a table, a cell that spans several columns once; one that spans rows is repeated in each.

    The library's own list has a cell for each column that a file claims to have.
    """
    above: dict[int, str] = {}
    for row in table._tbl.tr_lst:
        texts: dict[int, str] = {}
        column = row.grid_before
        for cell in row.tc_lst:
            words = "\n".join(paragraph.text for paragraph in cell.p_lst)
            texts[column] = above.get(column, "") if cell.vMerge == "continue" else one_line(storable_text(words))
            column += cell.grid_span
        line = _CELL_SEPARATOR.join(texts.values())
        if line.strip(" |"):
            yield line
        above = texts


def _slide_pieces(deck: Any) -> Iterator[TextPiece]:
    for n, slide in enumerate(deck.slides, 1):
        title = slide.shapes.title
        blocks = (
            [f"# {one_line(storable_text(title.text_frame.text))}"]
            if title is not None and title.text_frame.text.strip()
            else []
        )
        blocks += _shape_texts(slide.shapes, title)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            blocks.append(storable_text(slide.notes_slide.notes_text_frame.text).strip())
        for piece in split_text("\n\n".join(filter(None, blocks)), TextFormat.MARKDOWN):
            yield replace(piece, page=f"slide {n}")


def _shape_texts(shapes: Iterable[Any], title: Any) -> Iterator[str]:
    for shape in shapes:
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if hasattr(shape, "shapes"):
            yield from _shape_texts(shape.shapes, title)
        elif shape.has_text_frame:
            yield storable_text(shape.text_frame.text.replace("\v", "\n")).strip()
        elif getattr(shape, "has_table", False):
            # The library searches all rows and cells of a table for each of them.
            rows = ([one_line(storable_text(cell.text)) for cell in row.tc_lst] for row in shape.table._tbl.tr_lst)
            yield "\n".join(_CELL_SEPARATOR.join(row) for row in rows if any(row))


def _sheet_pieces(book: Any, path: Path) -> Iterator[TextPiece]:
    cells, length = 0, 0
    for sheet in book.worksheets:
        # The dimensions that a file declares may be wrong.
        sheet.reset_dimensions()
        rows: list[str] = []
        for row in sheet.iter_rows(values_only=True):
            cells += max(1, len(row))
            if cells > MAX_CELLS:
                raise UnreadableDocument(path, f"it has more than {MAX_CELLS:,} cells; split it")
            line = _CELL_SEPARATOR.join(_cell_text(value) for value in row).rstrip(" |")
            # Many cells may share one long text.
            length += len(line)
            if length > LONGEST:
                raise UnreadableDocument(path, f"it has more than {LONGEST:,} characters; split it")
            if line:
                rows.append(line)
        for piece in _group_rows(rows):
            yield replace(piece, page=f"sheet {one_line(sheet.title)}")


def _group_rows(rows: list[str]) -> Iterator[TextPiece]:
    """Yield rows in groups; the first row, usually the column names, is the context of all groups but the first."""
    group: list[str] = []
    length, context = 0, ""
    for row in rows:
        if group and length + len(row) > MAX_GROUP_LENGTH:
            yield from _row_pieces(group, context)
            group, length, context = [], 0, rows[0][:MAX_GROUP_LENGTH]
        group.append(row)
        length += len(row) + 1
    yield from _row_pieces(group, context)


def _row_pieces(group: list[str], context: str) -> Iterator[TextPiece]:
    for piece in split_text("\n".join(group), TextFormat.PLAIN):
        yield replace(piece, context=context)


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time.min:
        value = value.date()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return one_line(storable_text(str(value)))
