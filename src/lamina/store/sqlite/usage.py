"""usage.db: what chat models have used. A separate file, so that no call waits for a writer."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from lamina.store.sqlite.apart import Apart
from lamina.store.usage import Used, UsedOn

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
_OF = "SELECT total(calls), total(tokens_in), total(tokens_out), total(money) FROM used WHERE day=?"
_DAYS = "SELECT day, model, calls, tokens_in, tokens_out, money FROM used ORDER BY day DESC, model"


class SqliteUsage:
    """Usage counts of a store, in a file that is created at first use and recreated if damaged."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        self._file = Apart(path, _SCHEMA, vfs=vfs)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def add(self, day: date, model: str, used: Used) -> Used:
        """Add what a model used; return what all models together have used that day, this included."""
        row = (day.isoformat(), model, used.calls, used.tokens_in, used.tokens_out, used.money)
        with (db := self._file.db).writing(durable=False):
            db.run(_ADD, row)
            return _used(db.rows(_OF, (day.isoformat(),))[0])

    def of(self, day: date) -> Used:
        """Return what all models together used on a day."""
        return _used(self._file.db.rows(_OF, (day.isoformat(),))[0]) if self._file.is_there() else Used()

    def days(self) -> list[UsedOn]:
        """Return the counts of every day and model, the latest day first."""
        rows = self._file.db.rows(_DAYS) if self._file.is_there() else []
        return [UsedOn(date.fromisoformat(day), model, _used(counts)) for day, model, *counts in rows]

    def prune(self, before: date) -> int:
        """Delete the counts of days before this one; return how many."""
        if not self._file.is_there():
            return 0
        with (db := self._file.db).writing(durable=False):
            return len(db.rows("DELETE FROM used WHERE day<? RETURNING day", (before.isoformat(),)))


def _used(row: tuple[float, ...] | list[float]) -> Used:
    calls, tokens_in, tokens_out, money = row
    return Used(int(calls), int(tokens_in), int(tokens_out), float(money))
