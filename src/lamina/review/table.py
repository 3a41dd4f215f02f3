"""Renders atoms as rows of a CSV file for spreadsheets, with cells guarded so that no formula runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import datetime

from lamina.atom.atom import Atom, Evidence
from lamina.importers.table import BETWEEN, COLUMNS, LISTS, cell_of, guarded
from lamina.text.times import format_time

_MARK = "\ufeff"
"""Tells spreadsheets that the bytes are UTF-8."""


def table(atoms: Sequence[Atom]) -> bytes:
    """Return the rows under their column names, oldest first."""
    out = io.StringIO(newline="")
    rows = csv.writer(out, quoting=csv.QUOTE_ALL)
    rows.writerow(COLUMNS)
    rows.writerows([guarded(_cell(name, getattr(atom, name))) for name in COLUMNS] for atom in atoms)
    return (_MARK + out.getvalue()).encode()


def _part(value: object) -> str:
    return cell_of(value) if isinstance(value, Evidence) else str(value).replace(";", ",")


def _cell(name: str, value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return format_time(value)
        case tuple() if name in LISTS:
            return BETWEEN.join(_part(item) for item in value)
        case _:
            return str(value)
