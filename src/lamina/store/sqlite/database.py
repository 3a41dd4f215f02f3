"""One SQLite file: how it is opened, locked and written, and how SQLite's errors become lamina's."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from lamina.errors import StoreBusy, StoreError

BUSY_SECONDS = 30.0
LOG_PAGES = 1000


class CorruptDatabase(StoreError):
    """The file is not a valid database."""


class Database:
    """A connection whose write transactions are exclusive from the beginning and atomic.

    Threads share it through a lock: one never sees or joins another's transaction.
    """

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._in_trial = self._in_exclusive = False
        self._is_suspect = False
        self._changes_before = 0
        self._wait_started = 0.0
        self._sync = ""
        with translate_errors(path):
            self._db = apsw.Connection(str(path), vfs=vfs)
        with self.close_on_error(), translate_errors(path):
            self._db.set_busy_handler(self._handle_busy)
            self._db.set_wal_hook(self._checkpoint_long_wal)
            self._enable_wal()
            self._db.pragma("temp_store", "memory")
            self._db.pragma("cache_size", -32_000)
            path.chmod(0o600)
            self._inode = path.stat().st_ino

    def _enable_wal(self) -> None:
        """Switch to a write-ahead log; retry, because SQLite refuses without waiting while another one does."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._db.pragma("journal_mode", "wal")
                return
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(random.uniform(0.002, 0.02))

    def rows(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        with self._lock, translate_errors(self.path):
            return self._db.execute(sql, values).fetchall()

    def one(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a statement; None if there is none."""
        with self._lock, translate_errors(self.path):
            return self._db.execute(sql, values).fetchone()

    def run(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> None:
        """Execute one or more statements."""
        with self._lock, translate_errors(self.path):
            self._db.execute(sql, values)

    def run_many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Execute a statement once for each tuple of values."""
        if values:
            with self._lock, translate_errors(self.path):
                self._db.executemany(sql, values)

    @contextmanager
    def write_transaction(self, *, durable: bool) -> Iterator[None]:
        """Run one write transaction.

        Durable: on the disk when it returns; otherwise a power loss may roll it back.
        """
        with self._lock:
            if self._in_trial or self._in_exclusive:
                with self._savepoint():
                    yield
                return
            self._checkpoint_after_failed_sync()
            self._set_sync("full" if durable else "normal")
            self.run("BEGIN IMMEDIATE")
            try:
                yield
                self._commit()
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        """Run an inner transaction that leaves nothing behind if it fails; the outer one goes on."""
        self.run("SAVEPOINT inner_transaction")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # a disk error may have rolled back all of it
                self.run("ROLLBACK TO inner_transaction; RELEASE inner_transaction")
            raise
        self.run("RELEASE inner_transaction")

    @contextmanager
    def exclusive_transaction(self) -> Iterator[None]:
        """Run one durable write transaction that transactions begun inside become part of."""
        with self.write_transaction(durable=True):
            was_exclusive, self._in_exclusive = self._in_exclusive, True
            if not was_exclusive:
                self._changes_before = self._db.total_changes()
            try:
                yield
            finally:
                self._in_exclusive = was_exclusive

    @contextmanager
    def trial_transaction(self) -> Iterator[None]:
        """Run one write transaction that is always rolled back at the end."""
        with self._lock:
            self.run("BEGIN IMMEDIATE")
            self._in_trial = True
            try:
                yield
            finally:
                self._in_trial = False
                self._roll_back()

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Run a read transaction: everything read inside is of one moment."""
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            self.run("BEGIN")
            try:
                yield
            finally:
                self._roll_back()

    def scrub(self) -> None:
        """Rewrite the file without deleted data, and empty its log.

        StoreBusy while another program reads: a log that it still needs cannot be emptied.
        """
        with self._lock, translate_errors(self.path):
            self._db.execute("VACUUM")
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def compact(self) -> None:
        """Rewrite the file without unused space; while another program reads, it shrinks later."""
        with self._lock, translate_errors(self.path):
            self._db.execute("VACUUM")
            self._db.set_busy_handler(None)
            try:
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                pass  # a later checkpoint copies the log
            finally:
                self._db.set_busy_handler(self._handle_busy)

    def forbid_writes(self) -> None:
        """Refuse every later change with StoreError."""
        self.run("PRAGMA query_only=1")

    def keep_log(self) -> None:
        """Leave the log as it is when the connection is closed, so that a damaged file is kept as it was found."""
        self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def copy_to(self, path: Path) -> None:
        """Write the database as it is at this moment to a new file, while other processes write."""
        with self._lock, translate_errors(self.path):
            target = apsw.Connection(str(path))
            try:
                with target.backup("main", self._db, "main") as backup:
                    backup.step(-1)
            finally:
                target.close()
        path.chmod(0o600)

    def is_current_file(self) -> bool:
        """Return whether the file at the path is still the one that was opened."""
        try:
            return self.path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    @property
    def connection(self) -> apsw.Connection:
        """Return the connection, for tools that watch it."""
        return self._db

    @property
    def in_trial(self) -> bool:
        """Return whether a trial transaction is open."""
        return self._in_trial

    @property
    def has_uncommitted(self) -> bool:
        """Return whether an exclusive transaction is open that has changed something."""
        return self._in_exclusive and self._db.total_changes() != self._changes_before

    @property
    def in_transaction(self) -> bool:
        return self._db.in_transaction

    @contextmanager
    def close_on_error(self) -> Iterator[None]:
        """Close the connection if opening fails half-way."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with self._lock, translate_errors(self.path):
            self._db.close()

    def _set_sync(self, level: str) -> None:
        if self._sync != level:
            self.run(f"PRAGMA synchronous={level}")
            self._sync = level

    def _commit(self) -> None:
        try:
            with translate_errors(self.path):
                self._db.execute("COMMIT")
        except StoreError as error:
            self._is_suspect = _is_failed_sync(error.__cause__)
            raise

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self.run("ROLLBACK")

    def _checkpoint_after_failed_sync(self) -> None:
        # A failed fsync may have dropped earlier frames of the log that were not acknowledged, but that later,
        # acknowledged ones would depend on. So the pages are copied into the database and synced there before any
        # other write is accepted; if that fails too, the write is refused.
        if self._is_suspect:
            with translate_errors(self.path):
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._is_suspect = False

    def _checkpoint_long_wal(self, db: apsw.Connection, name: str, pages: int) -> int:
        """Copy a long log into the database; SQLite's automatic checkpoint hides a failed sync of the log."""
        if pages >= LOG_PAGES:
            try:
                db.wal_checkpoint(name, apsw.SQLITE_CHECKPOINT_PASSIVE)
            except apsw.Error as error:
                self._is_suspect = self._is_suspect or _is_failed_sync(error)
        return apsw.SQLITE_OK

    def _handle_busy(self, attempts: int) -> bool:
        if attempts == 0:
            self._wait_started = time.monotonic()
        elif time.monotonic() - self._wait_started > BUSY_SECONDS:
            return False
        time.sleep(random.uniform(0.5, 1.5) * min(0.0005 * 1.5 ** min(attempts, 8), 0.01))
        return True


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Convert SQLite's errors to lamina's: `StoreBusy`, `StoreError` or `CorruptDatabase`."""
    try:
        yield
    except apsw.BusyError as error:
        raise StoreBusy(f"{path.name}: another process held the lock for {BUSY_SECONDS:.0f} s; try again") from error
    except apsw.FullError as error:
        raise StoreError(
            f"the disk is full; nothing was changed. Free some space beside {path.name} and try again"
        ) from error
    except apsw.ReadOnlyError as error:
        raise StoreError(
            "the disk is read-only: nothing can be written, and nothing was changed; reading goes on"
        ) from error
    except (apsw.IOError, apsw.CantOpenError, apsw.PermissionsError, apsw.NoMemError) as error:
        raise StoreError(
            f"{path.name}: {error}; the change was not acknowledged. Check the disk and try again"
        ) from error
    except (apsw.Error, UnicodeDecodeError) as error:
        # Our statements are valid, so any other error means that the file does not contain what we wrote.
        raise CorruptDatabase(f"{path.name} is damaged: {error}; `lamina doctor --repair` repairs it") from error


def _is_failed_sync(error: BaseException | None) -> bool:
    return isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) in (
        apsw.SQLITE_IOERR_FSYNC,
        apsw.SQLITE_IOERR_DIR_FSYNC,
    )
