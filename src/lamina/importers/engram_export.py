"""Read the memories of engram: its SQLite file, or its JSON export.

Layer, type, importance, valence, tags, names, dates and accesses are kept. A memory that was active there is pending
review here; one that was challenged, superseded, merged, invalidated or forgotten keeps that status, with its history.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import apsw

from lamina.errors import InvalidInput, LaminaError
from lamina.importers.documents.parsed_document import DAMAGED_FILE_ERRORS
from lamina.importers.documents.regular_file import MAX_EXPORT_BYTES, read_head, read_regular_file
from lamina.importers.engram_rows import EngramContext, Row, import_diary, import_memory, import_names, import_relation
from lamina.importers.import_items import ImportProblem, ImportStep, SkippedItem
from lamina.text.normal_form import one_line

_SQLITE_MAGIC = b"SQLite format 3\0"
_SNIFFED_BYTES = 65536
_MAX_VALUE_BYTES = 20 << 20
_MEMORY_COLUMNS = frozenset({"id", "content", "layer", "importance"})
_TABLES = (
    "memories",
    "entities",
    "entity_mentions",
    "relationships",
    "status_history",
    "access_log",
    "importance_history",
    "diary_entries",
)
"""The tables that are read; the keys of the JSON export are the same, or the shorter ones."""
_SHORT_KEYS = {"relationships": "relations", "entity_mentions": "mentions"}
_LEFT_OUT = {
    "hypothetical_queries": "hypothetical question; recall computes its own",
    "events": "event of the other program's log",
    "ingest_log": "file that was read there; import the file itself",
    "session_handoffs": "handoff between sessions of the other program",
}
"""What has no meaning here, by table, with the reason that the summary gives."""

StepBuilder: TypeAlias = Callable[[Row, str], Iterable[ImportStep]]
"""Returns the steps of one row; it receives the row and its place."""
TableReader: TypeAlias = Callable[[str], Iterator[Row]]
"""Yields the rows of a table, none if it does not exist."""


@dataclass(frozen=True, slots=True)
class EngramExport:
    """The tables of engram, in a file of its own or in an export."""

    path: Path
    read_table: TableReader
    name: str

    def total(self) -> int:
        return sum(1 for _ in self.steps())

    def steps(self) -> Iterator[ImportStep]:
        """Yield the diary, the memories, the relations and other names of entities, and what is left out."""
        tables = {name: list(self.read_table(name)) for name in _TABLES}
        context = EngramContext.from_tables(tables)
        builders: tuple[tuple[str, StepBuilder], ...] = (
            ("diary_entries", import_diary),
            ("memories", lambda row, place: [import_memory(row, place, context)]),
            ("relationships", lambda row, place: [import_relation(row, place, context)]),
            ("entities", import_names),
        )
        for table, build in builders:
            for n, row in enumerate(tables[table], 1):
                yield from _build_steps(f"{self.path.name} {table} #{n}", row, build)
        yield from self._left_out(tables["memories"])

    def _left_out(self, memories: Sequence[Row]) -> Iterator[SkippedItem]:
        has_vector = sum(bool(row.get("embedding") or row.get("embedding_b64")) for row in memories)
        counts = Counter(
            {
                "vector; vectors are computed again here": has_vector,
                "hash of a text; hashes are computed again here": sum(bool(row.get("chunk_hash")) for row in memories),
            }
        )
        for table, reason in _LEFT_OUT.items():
            counts[reason] += sum(1 for _ in self.read_table(table))
        for reason, count in counts.items():
            yield from (SkippedItem(self.path.name, reason) for _ in range(count))


def open_engram_export(path: Path) -> EngramExport | None:
    """Return the memories at a path, or None if it is no complete file of engram."""
    if not path.is_file():
        return None
    head = read_head(path, _SNIFFED_BYTES)
    if head.startswith(_SQLITE_MAGIC):
        return _open_database(path)
    if path.suffix.lower() != ".json" or b'"memories"' not in head or b'"lamina_export"' in head:
        return None
    return _open_json(path)


def _open_database(path: Path) -> EngramExport | None:
    try:
        db = _connect(path)
        columns = {row[1] for row in db.execute("PRAGMA table_info(memories)")}
    except apsw.Error:
        return None
    if not columns >= _MEMORY_COLUMNS:
        return None

    def read_table(name: str) -> Iterator[Row]:
        try:
            exists = db.execute("SELECT 1 FROM sqlite_master WHERE type='table' AND name=?", (name,)).fetchone()
            if exists is None:
                return
            cursor = db.execute(f'SELECT * FROM "{name}" ORDER BY rowid')
            for row in cursor:
                yield dict(zip((column[0] for column in cursor.description), row, strict=True))
        except apsw.Error as error:
            raise InvalidInput(f"{path.name} is a damaged SQLite file: {one_line(str(error))}") from error

    return EngramExport(path, read_table, "engram database")


def _connect(path: Path) -> apsw.Connection:
    """Open a database for reading only; a copy without its log, in a folder that may not be written, as it is."""
    try:
        db = _open_limited(path, "mode=ro")
        db.execute("SELECT count(*) FROM sqlite_master").fetchall()
        return db
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        return _open_limited(path, "mode=ro&immutable=1")


def _open_limited(path: Path, options: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    db = apsw.Connection(f"{path.resolve().as_uri()}?{options}", flags=flags)
    db.limit(apsw.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)  # a computed column may be as long as it likes
    return db


def _open_json(path: Path) -> EngramExport | None:
    try:
        export = json.loads(read_regular_file(path, MAX_EXPORT_BYTES))
    except (ValueError, RecursionError):
        return None
    memories = export.get("memories") if isinstance(export, dict) else None
    if not isinstance(memories, list) or not all(map(_is_memory, memories[:1])):
        return None

    def read_table(name: str) -> Iterator[Row]:
        rows = export.get(name, export.get(_SHORT_KEYS.get(name, name)))
        yield from (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()

    return EngramExport(path, read_table, "engram export")


def _is_memory(row: object) -> bool:
    return isinstance(row, dict) and row.keys() >= _MEMORY_COLUMNS


def _build_steps(place: str, row: Row, build: StepBuilder) -> Iterator[ImportStep]:
    try:
        yield from build(row, place)
    except LaminaError as error:
        yield ImportProblem(place, one_line(str(error)))
    except DAMAGED_FILE_ERRORS as error:
        yield ImportProblem(place, f"unknown format: {one_line(str(error))}")
