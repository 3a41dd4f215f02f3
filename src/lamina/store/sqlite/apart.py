"""A small database beside the journal for data that may be lost: created at first use, recreated if damaged."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from lamina.logs import wordless
from lamina.store.sqlite.database import Corrupt, Database

logger = logging.getLogger("lamina")


class Apart:
    """A separate file, so that its writers do not wait for writers of atoms."""

    def __init__(self, path: Path, schema: str, *, vfs: str | None = None) -> None:
        self._path, self._schema, self._vfs = path, schema, vfs
        self._opening = threading.Lock()
        self._opened: Database | None = None

    @property
    def db(self) -> Database:
        """Return the open database; create the file, or replace it if it is damaged."""
        with self._opening:  # threads that open it at the same time share one connection
            if self._opened is None:
                try:
                    self._opened = self._open()
                except Corrupt as error:
                    logger.warning("%s is damaged and was recreated: %s", self._path.name, wordless(error))
                    for suffix in ("-wal", "-shm", ""):
                        self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                    self._opened = self._open()
            return self._opened

    def is_there(self) -> bool:
        """Return whether anything was ever written; reading creates no file."""
        return self._opened is not None or self._path.exists()

    def close(self) -> None:
        """Close the file."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _open(self) -> Database:
        db = Database(self._path, vfs=self._vfs)
        with db.or_closed(), db.writing(durable=False):
            db.run(self._schema)
        return db
