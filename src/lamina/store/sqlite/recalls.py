"""recalls.db: what the last recalls returned. A separate file, so that no recall waits for a writer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.recalls import MAX_RECALLS, unknown_recall
from lamina.store.sqlite.journal import to_millis
from lamina.store.sqlite.scratch_db import ScratchDb

_SCHEMA = """
CREATE TABLE IF NOT EXISTS recalls(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, scope TEXT NOT NULL, atom_ids TEXT NOT NULL,
  answered INTEGER NOT NULL DEFAULT 0);
"""


class SqliteRecalls:
    """The last recalls of a store, in a file that is created at first use and recreated if damaged."""

    def __init__(self, path: Path, limit: int = MAX_RECALLS, *, vfs: str | None = None) -> None:
        self._limit = limit
        self._file = ScratchDb(path, _SCHEMA, vfs=vfs)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def save(self, recall_id: str, atom_ids: Iterable[AtomId], at: datetime, scope: Scope) -> None:
        """Store what a recall returned to a caller of this scope; the oldest beyond the limit are deleted."""
        row = (recall_id, to_millis(at), scope, json.dumps(list(dict.fromkeys(atom_ids)), separators=(",", ":")))
        with (db := self._file.db).write_transaction(durable=False):
            db.run("INSERT OR IGNORE INTO recalls(id, at, scope, atom_ids) VALUES(?,?,?,?)", row)
            db.run("DELETE FROM recalls WHERE n<=(SELECT max(n) FROM recalls)-?", (self._limit,))

    def hits(self, recall_id: str, scope: Scope) -> list[AtomId] | None:
        """Return the atoms that a recall of this scope returned, best first, each once; None if unknown."""
        rows = self._file.db.rows("SELECT atom_ids FROM recalls WHERE id=? AND scope=?", (recall_id, scope))
        return [AtomId(atom_id) for atom_id in json.loads(rows[0][0])] if rows else None

    def recent(self, scope: Scope, limit: int) -> list[AtomId]:
        """Return the atoms that the last recalls of a scope returned, each once."""
        if not self._file.exists():
            return []
        rows = self._file.db.rows("SELECT atom_ids FROM recalls WHERE scope=? ORDER BY n DESC LIMIT ?", (scope, limit))
        return list(dict.fromkeys(AtomId(atom_id) for (ids,) in rows for atom_id in json.loads(ids)))

    def prune(self, before: datetime) -> int:
        """Delete the recalls made before a moment; return how many."""
        if not self._file.exists():
            return 0
        with (db := self._file.db).write_transaction(durable=False):
            return len(db.rows("DELETE FROM recalls WHERE at<? RETURNING n", (to_millis(before),)))

    def mark_answered(self, recall_id: str, scope: Scope) -> bool:
        """Mark a recall as answered; return whether this is the first time. NotFound if it is unknown."""
        with (db := self._file.db).write_transaction(durable=False):
            if db.rows(
                "UPDATE recalls SET answered=1 WHERE id=? AND scope=? AND NOT answered RETURNING n", (recall_id, scope)
            ):
                return True
            if not db.rows("SELECT n FROM recalls WHERE id=? AND scope=?", (recall_id, scope)):
                raise unknown_recall(recall_id)
            return False
