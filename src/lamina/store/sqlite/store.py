"""The embedded store: history.db is the source of truth, index.db follows it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import assert_never

from lamina.clock import Clock
from lamina.store.base import TransactionMode
from lamina.store.sqlite.admin import SqliteAdmin
from lamina.store.sqlite.atoms import SqliteAtoms
from lamina.store.sqlite.current_index import CurrentIndex
from lamina.store.sqlite.encodings import SqliteEncodings
from lamina.store.sqlite.graph import SqliteGraph
from lamina.store.sqlite.history import HistoryFile
from lamina.store.sqlite.history_repair import HISTORY, check_copy, mark_as_checked
from lamina.store.sqlite.in_memory_vectors import SEARCH_LIMITS, SearchLimits
from lamina.store.sqlite.journal import SqliteJournal
from lamina.store.sqlite.passages import SqlitePassages
from lamina.store.sqlite.projection import SqliteProjection
from lamina.store.sqlite.queue import SqliteQueue
from lamina.store.sqlite.signals_and_ageing import SqliteSignals


class SqliteStore:
    """SQLite files in one folder. Threads share them through one lock, processes through SQLite's locks."""

    def __init__(
        self, folder: Path, clock: Clock, *, vfs: str | None = None, limits: SearchLimits = SEARCH_LIMITS
    ) -> None:
        self.lock = threading.RLock()
        is_copy = check_copy(folder, clock, vfs=vfs)
        self.history = HistoryFile(folder / HISTORY, vfs=vfs)
        mark_as_checked(folder)
        db = self.history.db
        self.signals = SqliteSignals(db)
        with db.close_on_error():
            self.current_index = CurrentIndex(folder, self.history, self.signals, self.lock, vfs=vfs, limits=limits)
            if is_copy:
                self.current_index.rebuild()
        self.journal = SqliteJournal(self.history, clock, self.lock)
        self.atoms = SqliteAtoms(self.history, self.lock)
        self.passages = SqlitePassages(self.current_index, SqliteEncodings(self.current_index, self.history))
        self.graph = SqliteGraph(self.current_index)
        self.queue = SqliteQueue(db, clock)
        self.projection = SqliteProjection(self.history, self.journal.append, self.signals.counters, self.lock)
        outbox = self.projection.outbox
        self.admin = SqliteAdmin(
            folder, self.history, outbox, self.journal, self.current_index, self.queue, clock, vfs=vfs
        )

    @contextmanager
    def transaction(self, mode: TransactionMode) -> Iterator[SqliteTransaction]:
        """Run a transaction on the one connection of the store; other threads wait for its end."""
        with self.lock, ExitStack() as stack:
            match mode:
                case TransactionMode.WRITE:
                    stack.enter_context(self.history.db.exclusive_transaction())
                case TransactionMode.TRIAL:
                    stack.enter_context(self.history.db.trial_transaction())
                case TransactionMode.SNAPSHOT:
                    position = stack.enter_context(self.current_index.snapshot())
                    yield SqliteTransaction(self, mode, position)
                    return
                case _:
                    assert_never(mode)
            yield SqliteTransaction(self, mode)

    def dump(self) -> list[str]:
        """Return everything that the index contains, in canonical order."""
        return self.current_index.dump()

    def close(self) -> None:
        """Close every file."""
        with self.lock:
            self.admin.close()
            self.current_index.close()
            self.history.db.close()


class SqliteTransaction:
    """The ports of a store inside a transaction."""

    def __init__(self, store: SqliteStore, mode: TransactionMode, position: int | None = None) -> None:
        self.mode, self._position = mode, position
        self.journal, self.atoms, self.passages, self.graph = store.journal, store.atoms, store.passages, store.graph
        self.signals, self.queue, self.projection, self.admin = (
            store.signals,
            store.queue,
            store.projection,
            store.admin,
        )
        self.transaction = store.transaction

    @property
    def position(self) -> int:
        """Return the journal position that is read in the transaction."""
        return self.journal.position() if self._position is None else self._position
