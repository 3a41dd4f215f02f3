"""Read and write atoms as CSV: the columns, and cells that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from lamina.atom.atom import Evidence, Signals
from lamina.errors import InvalidInput
from lamina.importers.import_items import ImportProblem
from lamina.importers.lamina_export import ExportEntry, LaminaExport, parse_entry
from lamina.vault.frontmatter_fields import SIGNAL_FIELDS

_COLUMN_NAMES = """
    id kind status content subject attribute value tags entities observed_at recorded_at valid_from valid_until
    expires_at confidence importance pinned origin source_id session_id segment_id evidence derived_from supersedes
    superseded_by scope
"""
COLUMNS = (*_COLUMN_NAMES.split(), *SIGNAL_FIELDS)
LIST_COLUMNS = frozenset({"tags", "entities", "evidence", "derived_from", "supersedes", "superseded_by"})
LIST_SEPARATOR = "; "
_REQUIRED_COLUMNS = frozenset({"id", "kind", "content", "observed_at"})
_NUMBER_COLUMNS = frozenset({"confidence", "importance"})
_MAX_LINE_LENGTH = 1 << 22
_QUOTE_MARK = "'"
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", _QUOTE_MARK)


def escape_cell(text: str) -> str:
    """Return the text of a cell that a spreadsheet shows and never computes."""
    return _QUOTE_MARK + text if text.startswith(_FORMULA_STARTS) or text.lstrip().startswith(_FORMULA_STARTS) else text


def unescape_cell(cell: str) -> str:
    """Return the text that an escaped cell stands for."""
    return cell.removeprefix(_QUOTE_MARK)


def open_csv_export(path: Path) -> LaminaExport | None:
    """Return the CSV export at a path, or None if its first row does not name our columns."""
    if not path.is_file() or path.suffix.lower() != ".csv":
        return None
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = next(csv.reader([file.readline(_MAX_LINE_LENGTH)]), [])
    except (UnicodeDecodeError, csv.Error):
        return None
    return (
        LaminaExport(lambda: _read_rows(path))
        if set(first) >= _REQUIRED_COLUMNS and set(first) <= set(COLUMNS)
        else None
    )


def _read_rows(path: Path) -> Iterator[ExportEntry]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(_read_lines(file, path), restkey="")
        while True:
            place = f"{path.name} line {rows.line_num + 1}"
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield place, ImportProblem(place, str(error)), Signals()
                continue
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{path.name} is not valid UTF-8: {error}; export it again") from error
            yield parse_entry(place, lambda row=row: _parse_row(row))  # type: ignore[misc]


def _read_lines(file: TextIO, path: Path) -> Iterator[str]:
    """Yield the lines of a file; InvalidInput at one that is longer than any export writes."""
    while line := file.readline(_MAX_LINE_LENGTH):
        if len(line) == _MAX_LINE_LENGTH and not line.endswith("\n"):
            raise InvalidInput(f"{path.name} has a line of more than {_MAX_LINE_LENGTH:,} characters; export it again")
        yield line


def _parse_row(row: Mapping[str, str | None]) -> dict[str, Any]:
    texts = {name: unescape_cell(cell) for name, cell in row.items() if name and cell}
    return {name: _parse_value(name, text) for name, text in texts.items()}


def format_evidence(evidence: Evidence) -> str:
    """Return evidence as one cell: the segment, the passage, and the first and last character."""
    return f"{evidence.segment} {evidence.passage} {evidence.start} {evidence.end}"


def _parse_evidence(cell: str) -> list[str | int]:
    segment, *numbers = cell.split()
    if len(numbers) != len(("passage", "start", "end")):
        raise ValueError(f"{cell!r} is not evidence: segment, passage, start and end are needed")
    return [segment, *map(int, numbers)]


def _parse_value(name: str, text: str) -> object:
    if name == "evidence":
        return [_parse_evidence(part) for part in text.split(LIST_SEPARATOR) if part]
    if name in LIST_COLUMNS:
        return [part for part in text.split(LIST_SEPARATOR) if part]
    if name in _NUMBER_COLUMNS:
        return float(text)
    return text == "yes" if name == "pinned" else text
