"""Read and write atoms as CSV: the columns, and cells that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lamina.atom.atom import Evidence
from lamina.errors import InvalidInput
from lamina.importers.item import Problem
from lamina.importers.own import Entry, Own, atom_at

COLUMNS = (
    "id",
    "kind",
    "status",
    "content",
    "subject",
    "attribute",
    "value",
    "tags",
    "entities",
    "observed_at",
    "recorded_at",
    "valid_from",
    "valid_until",
    "expires_at",
    "confidence",
    "importance",
    "pinned",
    "origin",
    "source_id",
    "session_id",
    "segment_id",
    "evidence",
    "derived_from",
    "supersedes",
    "superseded_by",
    "scope",
)
LISTS = frozenset({"tags", "entities", "evidence", "derived_from", "supersedes", "superseded_by"})
BETWEEN = "; "
_NEEDED = frozenset({"id", "kind", "content", "observed_at"})
_NUMBERS = frozenset({"confidence", "importance"})
_GUARD = "'"
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", _GUARD)


def guarded(text: str) -> str:
    """Return the text of a cell that a spreadsheet shows and never computes."""
    return _GUARD + text if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def unguarded(cell: str) -> str:
    """Return the text that an escaped cell stands for."""
    return cell.removeprefix(_GUARD)


def own_table(path: Path) -> Own | None:
    """Return the CSV export at a path, or None if its first row does not name our columns."""
    if not path.is_file() or path.suffix.lower() != ".csv":
        return None
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = next(csv.reader(file), [])
    except (UnicodeDecodeError, csv.Error):
        return None
    return Own(lambda: _rows(path)) if set(first) >= _NEEDED and set(first) <= set(COLUMNS) else None


def _rows(path: Path) -> Iterator[Entry]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file, restkey="")
        while True:
            place = f"{path.name} line {rows.line_num + 1}"
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield place, Problem(place, str(error))
                continue
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{path.name} is not valid UTF-8: {error}; export it again") from error
            yield atom_at(place, lambda row=row: _record(row))  # type: ignore[misc]


def _record(row: Mapping[str, str | None]) -> dict[str, Any]:
    texts = {name: unguarded(cell) for name, cell in row.items() if name and cell}
    return {name: _value(name, text) for name, text in texts.items()}


def cell_of(evidence: Evidence) -> str:
    """Return evidence as one cell: the segment, the passage, and the first and last character."""
    return f"{evidence.segment} {evidence.passage} {evidence.start} {evidence.end}"


def _evidence(cell: str) -> list[str | int]:
    segment, *numbers = cell.split()
    if len(numbers) != len(("passage", "start", "end")):
        raise ValueError(f"{cell!r} is not evidence: segment, passage, start and end are needed")
    return [segment, *map(int, numbers)]


def _value(name: str, text: str) -> object:
    if name == "evidence":
        return [_evidence(part) for part in text.split(BETWEEN) if part]
    if name in LISTS:
        return [part for part in text.split(BETWEEN) if part]
    if name in _NUMBERS:
        return float(text)
    return text == "yes" if name == "pinned" else text
