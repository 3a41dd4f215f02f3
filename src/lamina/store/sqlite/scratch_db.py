"""A small database beside the journal for data that may be lost: created at first use, recreated if damaged."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from lamina.logs import summarise_error
from lamina.store.sqlite.database import CorruptDatabase, Database

logger = logging.getLogger("lamina")


class ScratchDb:
    """A separate file, so that its writers do not wait for writers of atoms."""

    def __init__(self, path: Path, schema: str, *, vfs: str | None = None) -> None:
        self._path, self._schema, self._vfs = path, schema, vfs
        self._open_lock = threading.Lock()
        self._db: Database | None = None

    @property
    def db(self) -> Database:
        """Return the open database; create the file, or replace it if it is damaged."""
        with self._open_lock:  # threads that open it at the same time share one connection
            if self._db is None:
                try:
                    self._db = self._open()
                except CorruptDatabase as error:
                    logger.warning("%s is damaged and was recreated: %s", self._path.name, summarise_error(error))
                    for suffix in ("-wal", "-shm", ""):
                        self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                    self._db = self._open()
            return self._db

    def exists(self) -> bool:
        """Return whether anything was ever written; reading creates no file."""
        return self._db is not None or self._path.exists()

    def close(self) -> None:
        """Close the file."""
        with self._open_lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _open(self) -> Database:
        db = Database(self._path, vfs=self._vfs)
        with db.close_on_error(), db.write_transaction(durable=False):
            db.run(self._schema)
        return db
