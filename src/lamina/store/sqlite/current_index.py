"""The index as queries need it: caught up with the journal before it is read, and rebuilt if it is damaged.

The vector search in memory belongs to it: it is shared by all queries of a process and follows the index.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from lamina.atom.atom import AtomId
from lamina.errors import StoreBusy, StoreError
from lamina.logs import summarise_error
from lamina.store.sqlite.array_files import remove_all
from lamina.store.sqlite.database import CorruptDatabase
from lamina.store.sqlite.history import HistoryFile
from lamina.store.sqlite.in_memory_vectors import SearchLimits
from lamina.store.sqlite.index import SqliteIndex
from lamina.store.sqlite.index_rows import past_passages_of
from lamina.store.sqlite.precision import move_all
from lamina.store.sqlite.signals_and_ageing import SqliteSignals
from lamina.store.sqlite.vector_search import VectorSearch

logger = logging.getLogger(__name__)

REPLAY_BATCH = 2000

T = TypeVar("T")


class CurrentIndex:
    """index.db, which follows history.db. Threads share it through the lock of the store.

    `snapshot_id` is an object for each snapshot, None outside of one: what was read in it may be kept until it ends.
    """

    def __init__(
        self,
        folder: Path,
        history: HistoryFile,
        signals: SqliteSignals,
        lock: threading.RLock,
        *,
        vfs: str | None,
        limits: SearchLimits,
    ) -> None:
        self._limits = limits
        self._folder, self._history, self._signals, self._vfs = folder, history, signals, vfs
        self._search_folder = folder / "board"
        self.lock = lock
        self.snapshot_id: object = None
        self._applied: int | None = None  # the position that the index is known to have
        self._search: VectorSearch | None = None
        self.index = self._open()

    def run(self, work: Callable[[SqliteIndex], T]) -> T:
        """Run a query on an index that knows the last commit.

        If the index cannot be written, it is caught up in a rolled-back transaction: a full disk stops no read, and
        commits of a transaction that may still fail leave nothing in the index.
        """
        with self.lock:
            if self.snapshot_id is not None or self._is_current():
                return self._with_repair(lambda: work(self.index))
            self.drop_search()
            try:
                with self.index.db.trial_transaction():
                    self._replay()
                    return work(self.index)
            finally:
                self._applied = None
                self.drop_search()

    def search(self, work: Callable[[VectorSearch], T]) -> T:
        """Run a query on a vector search that knows the last commit."""
        return self.run(lambda index: work(self._follow(index)))

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        """Catch up once for many queries, or for each of them if the disk does not allow it; yield the journal
        position."""
        with self.lock:
            outer_id = self.snapshot_id
            if outer_id is None and self._is_current():
                self.index.read_state()
                self.snapshot_id = object()
            try:
                is_known = self.snapshot_id is not None and not self._history.db.in_trial
                yield self.index.state.position if is_known else self._history.position()
            finally:
                self.snapshot_id = outer_id

    def catch_up(self) -> None:
        """Bring the index to the last commit; cheap if it is there already.

        Nothing happens in a transaction that is or may be rolled back: the next commit would have the same position.
        """
        with self.lock:
            if not (self._history.db.in_trial or self._history.db.has_uncommitted):
                self._with_repair(self._replay)

    def rebuild(self) -> int:
        """Rebuild the index from the journal; return how many atoms it contains."""
        with self.lock:
            self._with_repair(self._rebuild)
            return len(self._history.heads.all_ids())

    def dump(self) -> list[str]:
        """Return everything that the index contains, in canonical order."""
        with self.lock:
            self.catch_up()
            return self._with_repair(lambda: list(self.index.dump()))

    def close(self) -> None:
        """Close the file."""
        self.index.db.close()

    def _is_current(self) -> bool:
        """Bring the index to the last commit; return False if the disk or an open transaction does not allow it."""
        if self._history.db.has_uncommitted and not self._history.db.in_trial:
            return self._with_repair(lambda: self.index.read_state().position) == self._history.position()
        try:
            self.catch_up()
        except StoreBusy:
            raise
        except StoreError:
            return False
        return True

    def _rebuild(self) -> None:
        with self.index.db.write_transaction(durable=False):
            applied = self._apply_all()
        self._applied = applied

    def note_vectors(self) -> None:
        """Read the state again in a snapshot too: this process has just written vectors."""
        with self.lock:
            self.index.read_state()

    def save_search(self) -> None:
        """Save a large search for the next process; if that fails, every process builds its own."""
        with self.lock:
            search = self._search
            if search is None or not search.is_worth_saving or self.index.db.in_transaction:
                return
            try:
                search.save()
                if not search.belongs_to(self.index.db, self.index.edition_now()):
                    # Something was erased in the meantime: the saved arrays may contain it.
                    remove_all(self._search_folder)
            except OSError as error:
                logger.warning(
                    "the vector search could not be saved, so the next process opens the store more slowly: %s",
                    summarise_error(error),
                )

    def drop_search(self, *, saved: bool = False) -> None:
        """Drop the search in memory, and the saved one too if so; the next query reads the columns again."""
        self._search = None
        if saved:
            remove_all(self._search_folder)

    def _follow(self, index: SqliteIndex) -> VectorSearch:
        """Return the search at the state of the index; a new one if this one cannot get there."""
        if self.snapshot_id is None:
            index.read_state()
        if self._search is None or not self._search.is_at(index.db, index.state):
            with index.db.read_transaction():
                state, search = index.read_state(), self._search
                if (
                    search is None
                    or not search.belongs_to(index.db, state.edition)
                    or not search.catch_up(state.position)
                ):
                    search = VectorSearch(index.db, state.edition, self._search_folder, self._limits)
                    search.catch_up(state.position)
                self._search = search
        self._search.state = index.state
        return self._search

    def _replay(self) -> None:
        position = self._history.position()
        if self._applied is None:
            self._applied = self.index.read_state().position
        if self._applied != position:
            with self.index.db.write_transaction(durable=False):
                applied = self._apply_since(self.index.read_state().position)
            self._applied = applied

    def _apply_all(self) -> int:
        self.index.reset()
        history = self._history
        with history.db.read_transaction():
            position = history.position()
            self._apply(history.heads.all_ids(), position, 0)
            move_all(self.index.db, self._signals.reduced_bits())
        self.index.drop_orphans()
        return position

    def _apply_since(self, applied: int) -> int:
        """Index the changes after a position and return the new one; everything again if any was undone or erased."""
        with self._history.db.read_transaction():
            position, ids, is_any_erased = self._history.changes_since(applied)
            if not applied or applied > position or is_any_erased:
                return self._apply_all()
            self._apply(ids, position, applied)
        return position

    def _apply(self, ids: Sequence[AtomId], position: int, applied: int) -> None:
        for start in range(0, max(len(ids), 1), REPLAY_BATCH):
            heads = self._history.heads.get(ids[start : start + REPLAY_BATCH])
            indexed = self.index.find_indexed(list(heads))
            with_past = {atom_id for atom_id, row in indexed.items() if row.has_past}
            past = past_passages_of(self._history.db, heads, applied, with_past)
            self.index.apply([heads[atom_id] for atom_id in sorted(heads)], indexed, position, past)

    def _with_repair(self, work: Callable[[], T]) -> T:
        """Run a function; if the index is damaged or deleted, rebuild it and run the function again."""
        try:
            if self.index.db.is_current_file():
                return work()
        except CorruptDatabase:
            # Another process may have rebuilt it already: then the file is its new one.
            if self.index.db.is_current_file():
                self._discard_files()
        self.index.db.close()
        self.index, self._applied = self._open(), None
        self.drop_search()
        self._replay()
        return work()

    def _open(self) -> SqliteIndex:
        store_id = str(self._history.meta("store_id"))
        try:
            return SqliteIndex(self._folder / "index.db", store_id, vfs=self._vfs)
        except CorruptDatabase:
            self._discard_files()
            return SqliteIndex(self._folder / "index.db", store_id, vfs=self._vfs)

    def _discard_files(self) -> None:
        for suffix in ("-wal", "-shm", ""):
            (self._folder / f"index.db{suffix}").unlink(missing_ok=True)
