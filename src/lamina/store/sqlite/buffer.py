"""Waiting passages in history.db, beside the journal they have to agree with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.buffer import Queue, Waiting
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.history import millis, moment

_LEASES = """
CREATE TABLE IF NOT EXISTS session_leases(
  scope TEXT NOT NULL, session_id TEXT NOT NULL, holder TEXT NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY(scope, session_id)) WITHOUT ROWID;
"""
"""Advisory and short-lived, hence no part of the journal's format: a program that ignores it only reads twice."""


class SqliteBuffer:
    """One row a passage. As precious as the journal: what is acknowledged as waiting survives a power loss."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, waiting: Iterable[Waiting]) -> None:
        """Let passages wait."""
        rows = [(w.segment, w.n, w.scope, w.session_id, millis(w.since), w.urgent) for w in waiting]
        with self._db.writing(durable=True):
            self._db.run_many("INSERT OR IGNORE INTO waiting VALUES(?,?,?,?,?,?)", rows)

    def queues(self) -> list[Queue]:
        """Every session of which something waits."""
        found = self._db.rows(
            "SELECT scope, session_id, count(*), min(since), max(urgent) FROM waiting "
            "GROUP BY scope, session_id ORDER BY min(since), scope, session_id"
        )
        return [
            Queue(Scope(scope), session, length, moment(oldest), bool(urgent))
            for scope, session, length, oldest, urgent in found
        ]

    def of(self, scope: Scope, session_id: str) -> list[Waiting]:
        """What waits of one session."""
        found = self._db.rows(
            "SELECT segment, n, since, urgent FROM waiting WHERE scope=? AND session_id=? ORDER BY since, segment, n",
            (scope, session_id),
        )
        return [
            Waiting(scope, session_id, AtomId(segment), n, moment(since), bool(urgent))
            for segment, n, since, urgent in found
        ]

    def take(self, waiting: Iterable[Waiting]) -> bool:
        """Take these out, all or none."""
        wanted = list(waiting)
        with self._db.writing(durable=True):
            if not all(self._db.one("SELECT 1 FROM waiting WHERE segment=? AND n=?", (w.segment, w.n)) for w in wanted):
                return False
            self._db.run_many("DELETE FROM waiting WHERE segment=? AND n=?", [(w.segment, w.n) for w in wanted])
            self._db.run_many(
                "INSERT INTO taken VALUES(?,1) ON CONFLICT(scope) DO UPDATE SET passages=passages+1",
                [(w.scope,) for w in wanted],
            )
            return True

    def lease(self, scope: Scope, session_id: str, holder: str, now: datetime, until: datetime) -> bool:
        """Reserve a session for one reader, or renew that."""
        with self._db.writing(durable=False):
            self._db.run(_LEASES)
            self._db.run("DELETE FROM session_leases WHERE until<=?", (millis(now),))
            self._db.run(
                "INSERT INTO session_leases VALUES(?1,?2,?3,?4) ON CONFLICT DO UPDATE SET until=?4 WHERE holder=?3",
                (scope, session_id, holder, millis(until)),
            )
            return (
                self._db.one(
                    "SELECT 1 FROM session_leases WHERE scope=? AND session_id=? AND holder=?",
                    (scope, session_id, holder),
                )
                is not None
            )

    def release(self, scope: Scope, session_id: str, holder: str) -> None:
        """Give a lease back."""
        with self._db.writing(durable=False):
            self._db.run(_LEASES)
            self._db.run(
                "DELETE FROM session_leases WHERE scope=? AND session_id=? AND holder=?", (scope, session_id, holder)
            )

    def taken(self, scope: Scope) -> int:
        """How many passages of a scope were ever taken out."""
        found = self._db.one("SELECT passages FROM taken WHERE scope=?", (scope,))
        return int(found[0]) if found else 0
