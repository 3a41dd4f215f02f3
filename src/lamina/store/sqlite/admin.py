"""The admin port in SQLite."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from pathlib import Path

from lamina.atom.atom import AtomId
from lamina.clock import Clock
from lamina.store.admin import FileProblem, Retention
from lamina.store.sqlite.access import SqliteAccess
from lamina.store.sqlite.current_index import CurrentIndex
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.erasures import SqliteErasures
from lamina.store.sqlite.history import HistoryFile
from lamina.store.sqlite.journal import SqliteJournal
from lamina.store.sqlite.outbox import Outbox
from lamina.store.sqlite.queue import SqliteQueue
from lamina.store.sqlite.recalls_and_usage import SqliteRecalls, SqliteUsage
from lamina.text.timestamps import from_millis, to_millis


class SqliteProblems:
    """One row per path and kind."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db, self._clock = db, clock

    def list(self) -> builtins.list[FileProblem]:
        return [
            FileProblem(path, kind, message, line, AtomId(atom_id) if atom_id else None, from_millis(at))
            for path, kind, line, atom_id, message, at in self._db.rows(
                "SELECT * FROM problems ORDER BY at, path, kind"
            )
        ]

    def report(self, problem: FileProblem) -> None:
        existing = self._db.one(
            "SELECT line, message FROM problems WHERE path=? AND kind=?", (problem.path, problem.kind)
        )
        if existing == (problem.line, problem.message):
            return
        with self._db.write_transaction(durable=False):
            self._db.run(
                "INSERT OR REPLACE INTO problems VALUES(?,?,?,?,?,?)",
                (
                    problem.path,
                    problem.kind,
                    problem.line,
                    problem.atom_id,
                    problem.message,
                    to_millis(self._clock.now()),
                ),
            )

    def clear(self, path: str, kinds: Iterable[str] | None = None) -> None:
        chosen_kinds = builtins.list(kinds) if kinds is not None else None
        if self._db.one("SELECT 1 FROM problems WHERE path=?", (path,)) is None:
            return
        with self._db.write_transaction(durable=False):
            if chosen_kinds is None:
                self._db.run("DELETE FROM problems WHERE path=?", (path,))
            else:
                self._db.run_many(
                    "DELETE FROM problems WHERE path=? AND kind=?", [(path, kind) for kind in chosen_kinds]
                )


class SqliteAdmin:
    """Keeps history.db, index.db and the small files beside them in order."""

    def __init__(
        self,
        folder: Path,
        history: HistoryFile,
        outbox: Outbox,
        journal: SqliteJournal,
        index: CurrentIndex,
        queue: SqliteQueue,
        clock: Clock,
        *,
        vfs: str | None,
    ) -> None:
        self._history, self._index, self._queue = history, index, queue
        self.access = SqliteAccess(folder, vfs=vfs)
        self.erasures = SqliteErasures(history, outbox, journal.next_commit, self.scrub_derived)
        self.problems = SqliteProblems(history.db, clock)
        self.recalls = SqliteRecalls(folder / "recalls.db", vfs=vfs)
        self.usage = SqliteUsage(folder / "usage.db", vfs=vfs)

    def prune(self, retention: Retention) -> dict[str, int]:
        """Delete what is older than the retention; return how many recalls, jobs and counts of usage."""
        return {
            "recalls": self.recalls.prune(retention.logs_since),
            "jobs": self._queue.prune_jobs(retention.logs_since),
            "usage": self.usage.prune(retention.usage_since),
        }

    def catch_up(self) -> None:
        """Bring the index to the last commit; cheap if it is there already."""
        self._index.catch_up()

    def rebuild_index(self) -> int:
        """Rebuild the index from the journal; return how many atoms it contains."""
        return self._index.rebuild()

    def check(self) -> list[str]:
        """Return the faults; an index that differs from the journal is rebuilt."""
        with self._index.lock:
            faults = self._history.find_broken_links() or self._history.heads.find_wrong()
            before = self._index.dump()
            self._index.rebuild()
            if before != self._index.dump():
                faults.append("index: it differed from the journal and was rebuilt")
            return faults

    def close(self) -> None:
        """Close the small files."""
        self.recalls.close()
        self.usage.close()
        self.access.close()

    def scrub_derived(self) -> None:
        """Remove every byte of erased text from stored replies and the index, with the vectors computed from it."""
        self.access.scrub()
        with self._index.lock:
            self._index.catch_up()
            self._index.drop_search(saved=True)
            self._index.index.db.scrub()
