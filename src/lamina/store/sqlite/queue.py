"""The queue port in SQLite."""

from __future__ import annotations

from lamina.clock import Clock
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.dream_progress import SqliteDreamProgress
from lamina.store.sqlite.jobs import SqliteJobs
from lamina.store.sqlite.waiting_passages import SqliteBuffer


class SqliteQueue:
    """Buffer, jobs and progress in history.db."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self.buffer = SqliteBuffer(db)
        self.jobs = SqliteJobs(db, clock)
        self.dream_progress = SqliteDreamProgress(db)
