"""Leases in history.db."""

from __future__ import annotations

import builtins
from datetime import datetime, timedelta

from lamina.clock import Clock
from lamina.store.jobs import Job
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.millis import from_millis, to_millis


class SqliteJobs:
    """One row per job. A lost row only repeats some work, so no write waits for the disk."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    def acquire(self, name: str, holder: str, seconds: float) -> bool:
        """Lease the work; return False if another holder's lease is still valid."""
        now = self._clock.now()
        with self._db.write_transaction(durable=False):
            self._db.run(
                "INSERT INTO jobs VALUES(?1,?2,?3,0,0,?4,NULL,'') ON CONFLICT(name) DO UPDATE "
                "SET holder=?2, until=?3, done=0, total=0, started_at=?4, finished_at=NULL, error='' "
                "WHERE holder='' OR holder=?2 OR until<=?4",
                (name, holder, to_millis(now + timedelta(seconds=seconds)), to_millis(now)),
            )
            return self._holds(name, holder)

    def renew(self, name: str, holder: str, seconds: float, done: int, total: int) -> bool:
        """Extend the lease and report progress; return False if the lease was lost."""
        until = to_millis(self._clock.now() + timedelta(seconds=seconds))
        with self._db.write_transaction(durable=False):
            self._db.run(
                "UPDATE jobs SET until=?, done=?, total=? WHERE name=? AND holder=?", (until, done, total, name, holder)
            )
            return self._holds(name, holder)

    def release(self, name: str, holder: str, error: str = "") -> None:
        """Give the lease back, finished or with an error."""
        with self._db.write_transaction(durable=False):
            self._db.run(
                "UPDATE jobs SET holder='', until=NULL, finished_at=?, error=? WHERE name=? AND holder=?",
                (to_millis(self._clock.now()), error, name, holder),
            )

    def list(self) -> builtins.list[Job]:
        """Return all jobs, by name."""
        return [
            Job(
                name,
                holder,
                from_millis(until) if until is not None else None,
                done,
                total,
                from_millis(started) if started is not None else None,
                from_millis(finished) if finished is not None else None,
                error,
            )
            for name, holder, until, done, total, started, finished, error in self._db.rows(
                "SELECT * FROM jobs ORDER BY name"
            )
        ]

    def prune(self, before: datetime) -> int:
        """Delete jobs that finished, or whose process ended, before a moment; return how many."""
        with self._db.write_transaction(durable=False):
            deleted = self._db.rows(
                "DELETE FROM jobs WHERE (holder='' AND finished_at<?1) OR until<?1 RETURNING name", (to_millis(before),)
            )
            return len(deleted)

    def _holds(self, name: str, holder: str) -> bool:
        return self._db.one("SELECT 1 FROM jobs WHERE name=? AND holder=?", (name, holder)) is not None
