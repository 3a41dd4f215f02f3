"""The extraction buffer in history.db, beside the journal that it has to agree with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.millis import from_millis, to_millis
from lamina.store.waiting_passages import BufferedPassage, SessionBacklog

_LEASE_SCHEMA = """
CREATE TABLE IF NOT EXISTS session_leases(
  scope TEXT NOT NULL, session_id TEXT NOT NULL, holder TEXT NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY(scope, session_id)) WITHOUT ROWID;
"""
"""Advisory and short-lived, so not part of the journal's format: a program that ignores it only reads twice."""


class SqliteBuffer:
    """One row per passage. As durable as the journal: an acknowledged passage survives a power loss."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, passages: Iterable[BufferedPassage]) -> None:
        """Add passages; one that is waiting already stays as it is."""
        rows = [
            (
                passage.segment,
                passage.n,
                passage.scope,
                passage.session_id,
                to_millis(passage.buffered_at),
                passage.is_urgent,
            )
            for passage in passages
        ]
        with self._db.write_transaction(durable=True):
            self._db.run_many("INSERT OR IGNORE INTO waiting VALUES(?,?,?,?,?,?)", rows)

    def backlogs(self) -> list[SessionBacklog]:
        """Return a summary of every session with waiting passages, the longest waiting first."""
        rows = self._db.rows(
            "SELECT scope, session_id, count(*), min(since), max(urgent) FROM waiting "
            "GROUP BY scope, session_id ORDER BY min(since), scope, session_id"
        )
        return [
            SessionBacklog(Scope(scope), session, length, from_millis(oldest), bool(urgent))
            for scope, session, length, oldest, urgent in rows
        ]

    def session_passages(self, scope: Scope, session_id: str) -> list[BufferedPassage]:
        """Return the waiting passages of one session, in the order they were said."""
        rows = self._db.rows(
            "SELECT segment, n, since, urgent FROM waiting WHERE scope=? AND session_id=? ORDER BY since, segment, n",
            (scope, session_id),
        )
        return [
            BufferedPassage(scope, session_id, AtomId(segment), n, from_millis(since), bool(urgent))
            for segment, n, since, urgent in rows
        ]

    def take(self, passages: Iterable[BufferedPassage]) -> bool:
        """Remove these passages, all or none; return False if some were removed already."""
        batch = list(passages)
        with self._db.write_transaction(durable=True):
            if not all(
                self._db.one("SELECT 1 FROM waiting WHERE segment=? AND n=?", (passage.segment, passage.n))
                for passage in batch
            ):
                return False
            self._db.run_many(
                "DELETE FROM waiting WHERE segment=? AND n=?", [(passage.segment, passage.n) for passage in batch]
            )
            self._db.run_many(
                "INSERT INTO taken VALUES(?,1) ON CONFLICT(scope) DO UPDATE SET passages=passages+1",
                [(passage.scope,) for passage in batch],
            )
            return True

    def lease(self, scope: Scope, session_id: str, holder: str, now: datetime, until: datetime) -> bool:
        """Reserve a session for one reader, or renew the lease; return False if another holder has it."""
        with self._db.write_transaction(durable=False):
            self._db.run(_LEASE_SCHEMA)
            self._db.run("DELETE FROM session_leases WHERE until<=?", (to_millis(now),))
            self._db.run(
                "INSERT INTO session_leases VALUES(?1,?2,?3,?4) ON CONFLICT DO UPDATE SET until=?4 WHERE holder=?3",
                (scope, session_id, holder, to_millis(until)),
            )
            return (
                self._db.one(
                    "SELECT 1 FROM session_leases WHERE scope=? AND session_id=? AND holder=?",
                    (scope, session_id, holder),
                )
                is not None
            )

    def release(self, scope: Scope, session_id: str, holder: str) -> None:
        """Give a lease back; do nothing if the holder has none."""
        with self._db.write_transaction(durable=False):
            self._db.run(_LEASE_SCHEMA)
            self._db.run(
                "DELETE FROM session_leases WHERE scope=? AND session_id=? AND holder=?", (scope, session_id, holder)
            )

    def count_taken(self, scope: Scope) -> int:
        """Return how many passages of a scope were ever removed."""
        row = self._db.one("SELECT passages FROM taken WHERE scope=?", (scope,))
        return int(row[0]) if row else 0
