"""Small databases beside the journal for data that may be lost: recalls.db and usage.db.

Each is a separate file, so that no recall and no call of a chat model waits for a writer of atoms. It is created at
first use, and recreated if damaged.
"""

from __future__ import annotations

import json
import logging
import threading
from datetime import date, datetime
from pathlib import Path

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.logs import summarise_error
from lamina.store.admin import MAX_RECALLS, DailyUsage, ModelUsage, SavedRecall, unknown_recall
from lamina.store.sqlite.database import CorruptDatabase, Database
from lamina.text.timestamps import to_millis

logger = logging.getLogger("lamina")


class ScratchDb:
    """A separate file, so that its writers do not wait for writers of atoms."""

    def __init__(self, path: Path, schema: str, *, vfs: str | None = None) -> None:
        self._path, self._schema, self._vfs = path, schema, vfs
        self._open_lock = threading.Lock()
        self._db: Database | None = None

    @property
    def db(self) -> Database:
        """Return the open database; create the file, or replace it if it is damaged."""
        with self._open_lock:  # threads that open it at the same time share one connection
            if self._db is None:
                try:
                    self._db = self._open()
                except CorruptDatabase as error:
                    logger.warning("%s is damaged and was recreated: %s", self._path.name, summarise_error(error))
                    for suffix in ("-wal", "-shm", ""):
                        self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                    self._db = self._open()
            return self._db

    def exists(self) -> bool:
        """Return whether anything was ever written; reading creates no file."""
        return self._db is not None or self._path.exists()

    def close(self) -> None:
        """Close the file."""
        with self._open_lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _open(self) -> Database:
        db = Database(self._path, vfs=self._vfs)
        with db.close_on_error(), db.write_transaction(durable=False):
            db.run(self._schema)
        return db


_RECALLS_SCHEMA = """
CREATE TABLE IF NOT EXISTS recalls(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, scope TEXT NOT NULL, atom_ids TEXT NOT NULL,
  answered INTEGER NOT NULL DEFAULT 0);
"""


class SqliteRecalls:
    """The last recalls of a store, in a file that is created at first use and recreated if damaged."""

    def __init__(self, path: Path, limit: int = MAX_RECALLS, *, vfs: str | None = None) -> None:
        # A temporary trigger deletes the oldest in the same statement, so that saving is one round trip.
        prune = (
            "CREATE TEMP TRIGGER prune AFTER INSERT ON main.recalls "
            f"BEGIN DELETE FROM recalls WHERE n<=new.n-{limit}; END;"
        )
        self.file = ScratchDb(path, _RECALLS_SCHEMA + prune, vfs=vfs)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def save(self, recall: SavedRecall, at: datetime, scope: Scope) -> None:
        """Store what a recall returned to a caller of this scope; the oldest beyond the limit are deleted."""
        ids = json.dumps(list(dict.fromkeys(recall.atom_ids)), separators=(",", ":"))
        row = (recall.id, to_millis(at), scope, ids)
        self.file.db.run("INSERT OR IGNORE INTO recalls(id, at, scope, atom_ids) VALUES(?,?,?,?)", row)

    def read(self, scope: Scope, *, recall_id: str | None = None, limit: int = 1) -> list[SavedRecall]:
        """Return the last recalls of a scope, the latest first, or the one with this id."""
        if not self.file.exists():
            return []
        rows = self.file.db.rows(
            "SELECT id, atom_ids FROM recalls WHERE scope=?1 AND (?2 IS NULL OR id=?2) ORDER BY n DESC LIMIT ?3",
            (scope, recall_id, limit),
        )
        return [SavedRecall(id_, tuple(AtomId(atom_id) for atom_id in json.loads(ids))) for id_, ids in rows]

    def prune(self, before: datetime) -> int:
        """Delete the recalls made before a moment; return how many."""
        if not self.file.exists():
            return 0
        with (db := self.file.db).write_transaction(durable=False):
            return len(db.rows("DELETE FROM recalls WHERE at<? RETURNING n", (to_millis(before),)))

    def mark_answered(self, recall_id: str, scope: Scope) -> bool:
        """Mark a recall as answered; return whether this is the first time. NotFound if it is unknown."""
        with (db := self.file.db).write_transaction(durable=False):
            if db.rows(
                "UPDATE recalls SET answered=1 WHERE id=? AND scope=? AND NOT answered RETURNING n", (recall_id, scope)
            ):
                return True
            if not db.rows("SELECT n FROM recalls WHERE id=? AND scope=?", (recall_id, scope)):
                raise unknown_recall(recall_id)
            return False


_USAGE_SCHEMA = """
CREATE TABLE IF NOT EXISTS used(
  day TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL, money REAL NOT NULL, PRIMARY KEY(day, model)) WITHOUT ROWID;
"""
_ADD = """
INSERT INTO used(day, model, calls, tokens_in, tokens_out, money) VALUES(?,?,?,?,?,?)
ON CONFLICT(day, model) DO UPDATE SET calls=calls+excluded.calls, tokens_in=tokens_in+excluded.tokens_in,
  tokens_out=tokens_out+excluded.tokens_out, money=money+excluded.money
"""
_DAY_TOTAL = "SELECT total(calls), total(tokens_in), total(tokens_out), total(money) FROM used WHERE day=?"
_DAYS = "SELECT day, model, calls, tokens_in, tokens_out, money FROM used ORDER BY day DESC, model"


class SqliteUsage:
    """Usage counts of a store, in a file that is created at first use and recreated if damaged."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        self.file = ScratchDb(path, _USAGE_SCHEMA, vfs=vfs)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def add(self, day: date, model: str, usage: ModelUsage) -> ModelUsage:
        """Add what a model used; return what all models together have used that day, this included."""
        row = (day.isoformat(), model, usage.calls, usage.tokens_in, usage.tokens_out, usage.money)
        with (db := self.file.db).write_transaction(durable=False):
            db.run(_ADD, row)
            return _to_usage(db.rows(_DAY_TOTAL, (day.isoformat(),))[0])

    def days(self) -> list[DailyUsage]:
        """Return the counts of every day and model, the latest day first."""
        rows = self.file.db.rows(_DAYS) if self.file.exists() else []
        return [DailyUsage(date.fromisoformat(day), model, _to_usage(counts)) for day, model, *counts in rows]

    def prune(self, before: date) -> int:
        """Delete the counts of days before this one; return how many."""
        if not self.file.exists():
            return 0
        with (db := self.file.db).write_transaction(durable=False):
            return len(db.rows("DELETE FROM used WHERE day<? RETURNING day", (before.isoformat(),)))


def _to_usage(row: tuple[float, ...] | list[float]) -> ModelUsage:
    calls, tokens_in, tokens_out, money = row
    return ModelUsage(int(calls), int(tokens_in), int(tokens_out), float(money))
