"""Renders atoms as rows of a CSV file for spreadsheets, with cells guarded so that no formula runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import datetime

from lamina.atom.atom import Atom, Evidence
from lamina.importers.csv_export import COLUMNS, LIST_COLUMNS, LIST_SEPARATOR, escape_cell, format_evidence
from lamina.text.timestamps import format_time

_BYTE_ORDER_MARK = "\ufeff"
"""Tells spreadsheets that the bytes are UTF-8."""


def render_csv(atoms: Sequence[Atom]) -> bytes:
    """Return the rows under their column names, oldest first."""
    out = io.StringIO(newline="")
    rows = csv.writer(out, quoting=csv.QUOTE_ALL)
    rows.writerow(COLUMNS)
    rows.writerows([escape_cell(_cell_text(name, getattr(atom, name))) for name in COLUMNS] for atom in atoms)
    return (_BYTE_ORDER_MARK + out.getvalue()).encode()


def _list_item(value: object) -> str:
    return format_evidence(value) if isinstance(value, Evidence) else str(value).replace(";", ",")


def _cell_text(name: str, value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return format_time(value)
        case tuple() if name in LIST_COLUMNS:
            return LIST_SEPARATOR.join(_list_item(item) for item in value)
        case _:
            return str(value)
