"""The admin port in SQLite."""

from __future__ import annotations

from pathlib import Path

from lamina.clock import Clock
from lamina.store.sqlite.access import SqliteAccess
from lamina.store.sqlite.current_index import CurrentIndex
from lamina.store.sqlite.erasures import SqliteErasures
from lamina.store.sqlite.history import HistoryFile
from lamina.store.sqlite.journal import SqliteJournal
from lamina.store.sqlite.outbox import Outbox
from lamina.store.sqlite.problems import SqliteProblems
from lamina.store.sqlite.scratch_db import SqliteRecalls, SqliteUsage


class SqliteAdmin:
    """Keeps history.db, index.db and the small files beside them in order."""

    def __init__(
        self,
        folder: Path,
        history: HistoryFile,
        outbox: Outbox,
        journal: SqliteJournal,
        index: CurrentIndex,
        clock: Clock,
        *,
        vfs: str | None,
    ) -> None:
        self._history, self._index = history, index
        self.access = SqliteAccess(folder, vfs=vfs)
        self.erasures = SqliteErasures(history, outbox, journal.next_commit, self.scrub_derived)
        self.problems = SqliteProblems(history.db, clock)
        self.recalls = SqliteRecalls(folder / "recalls.db", vfs=vfs)
        self.usage = SqliteUsage(folder / "usage.db", vfs=vfs)

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
