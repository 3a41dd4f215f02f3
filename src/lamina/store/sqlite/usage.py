"""usage.db: what chat models have used. A separate file, so that no call waits for a writer."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from lamina.store.sqlite.scratch_db import ScratchDb
from lamina.store.usage import DailyUsage, ModelUsage

_SCHEMA = """
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
        self._file = ScratchDb(path, _SCHEMA, vfs=vfs)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def add(self, day: date, model: str, usage: ModelUsage) -> ModelUsage:
        """Add what a model used; return what all models together have used that day, this included."""
        row = (day.isoformat(), model, usage.calls, usage.tokens_in, usage.tokens_out, usage.money)
        with (db := self._file.db).write_transaction(durable=False):
            db.run(_ADD, row)
            return _to_usage(db.rows(_DAY_TOTAL, (day.isoformat(),))[0])

    def day_total(self, day: date) -> ModelUsage:
        """Return what all models together used on a day."""
        return _to_usage(self._file.db.rows(_DAY_TOTAL, (day.isoformat(),))[0]) if self._file.exists() else ModelUsage()

    def days(self) -> list[DailyUsage]:
        """Return the counts of every day and model, the latest day first."""
        rows = self._file.db.rows(_DAYS) if self._file.exists() else []
        return [DailyUsage(date.fromisoformat(day), model, _to_usage(counts)) for day, model, *counts in rows]

    def prune(self, before: date) -> int:
        """Delete the counts of days before this one; return how many."""
        if not self._file.exists():
            return 0
        with (db := self._file.db).write_transaction(durable=False):
            return len(db.rows("DELETE FROM used WHERE day<? RETURNING day", (before.isoformat(),)))


def _to_usage(row: tuple[float, ...] | list[float]) -> ModelUsage:
    calls, tokens_in, tokens_out, money = row
    return ModelUsage(int(calls), int(tokens_in), int(tokens_out), float(money))
