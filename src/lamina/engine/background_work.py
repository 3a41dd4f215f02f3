"""The threads of an open vault: they watch files, read what was captured and encode texts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from lamina.logs import summarise_error
from lamina.model_registry import ModelRegistry
from lamina.models.encoding_worker import EncodingWorker
from lamina.store.base import Store
from lamina.sync import VaultSync
from lamina.vault import layout
from lamina.vault.watcher import Watcher
from lamina.worker import Worker

logger = logging.getLogger("lamina")


class Duties(Protocol):
    """The work of the threads in the name of the caller who opened the vault."""

    def run(self, stop: Callable[[], bool]) -> float | None:
        """Do what is due; return the seconds until the next time, None for when woken."""

    def request_inbox_import(self) -> None:
        """Import the inbox, now or in the background."""

    def finish(self) -> None:
        """Write what the last work changed, before the vault is closed."""


class BackgroundWork:
    """The threads of one engine; there are none before `start`, and only those that are enabled."""

    def __init__(
        self, root: Path, store: Store, models: ModelRegistry, sync: VaultSync, *, enabled: bool, watch: bool
    ) -> None:
        self._root, self._store, self._models, self._sync = root, store, models, sync
        self._enabled, self._watch = enabled, watch
        self._duties: Duties | None = None
        self._watcher: Watcher | None = None
        self.reading: Worker | None = None
        """The worker that reads captured words and imports the inbox."""
        self.encoding: EncodingWorker | None = None

    @property
    def is_watching(self) -> bool:
        """Return whether changes of files are reported."""
        return self._watcher is not None

    def start(self, duties: Duties) -> None:
        """Create the workers, which start when they are woken, and watch the files."""
        self._duties = duties
        if self._enabled:
            self.encoding = EncodingWorker(self._store, self._models.embedders)
            self.reading = Worker("reading", duties.run)
        if self._watch:
            watcher = Watcher(
                self._root, self._on_change, lambda error: logger.warning("file watcher: %s", summarise_error(error))
            )
            self._watcher = watcher if watcher.start() else None

    def stop(self) -> None:
        """End the threads after their current piece of work, and write what it changed."""
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
        for worker in (self.reading, self.encoding):
            if worker is not None:
                worker.stop()
        if self.reading is not None and self._duties is not None:
            self._duties.finish()

    def wake_reading(self) -> None:
        """Wake the reading worker, if there is one."""
        if self.reading is not None:
            self.reading.wake()

    def wake_encoding(self) -> None:
        """Wake the encoding worker, if there is one."""
        if self.encoding is not None:
            self.encoding.wake()

    def _on_change(self, paths: frozenset[str]) -> None:
        self._sync.sync_files(paths)
        if self._duties is not None and any(map(layout.is_inbox_path, paths)):
            self._duties.request_inbox_import()
        self._store.admin.catch_up()
        self.wake_encoding()
