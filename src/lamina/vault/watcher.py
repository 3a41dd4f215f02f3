"""Report within milliseconds which files of the vault a person has changed.

This is a hint, not a guarantee: the system may drop events when there are very many, so the caller still scans now and
then.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from watchfiles import Change
from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from lamina.logs import summarise_error
from lamina.vault import layout

_DEBOUNCE_MS = 40
_STEP_MS = 8
_JOIN_SECONDS = 1.0

_log = logging.getLogger(__name__)


def _log_error(error: Exception) -> None:
    _log.error("the watcher's listener failed: %s", summarise_error(error))


class Watcher:
    """Calls `on_change` with the paths of changed `.md` files, and with folders (ending in a slash) to scan again.

    In an inbox every file and folder is reported, whatever its name.

    A deleted path that is not a `.md` file may have been a folder, so it is reported as one.
    """

    def __init__(
        self,
        root: Path,
        on_change: Callable[[frozenset[str]], None],
        on_error: Callable[[Exception], None] = _log_error,
    ) -> None:
        self._root, self._on_change, self._on_error = root.resolve(), on_change, on_error
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_alive(self) -> bool:
        """Return whether changes are being reported."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> bool:
        """Start watching before this returns; return False if the system refuses, so that the caller must scan."""
        if self.is_alive:
            return True
        try:
            # The last argument: a folder that cannot be watched is an error, or its edits would be missed silently.
            notify = RustNotify([str(self._root)], False, False, 0, True, False)
        except (OSError, WatchfilesRustInternalError) as error:
            _log.warning("the vault cannot be watched, it will be scanned instead: %s", summarise_error(error))
            return False
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, args=(notify,), name="lamina-watch", daemon=True)
        self._thread.start()
        return True

    def stop(self) -> None:
        """Stop reporting; returns when the last call of `on_change` has ended, or after a second."""
        self._stopping.set()
        # A listener may stop its own watcher, and a thread cannot wait for itself.
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_JOIN_SECONDS)

    def _run(self, notify: RustNotify) -> None:
        try:
            while not self._stopping.is_set():
                changes = notify.watch(_DEBOUNCE_MS, _STEP_MS, 0, self._stopping)
                if isinstance(changes, set):
                    self._notify(changes)
        except (OSError, WatchfilesRustInternalError) as error:
            self._on_error(error)
        finally:
            notify.close()

    def _notify(self, changes: Iterable[tuple[int, str]]) -> None:
        paths = frozenset(
            path for change, name in changes if (path := self._relative_path(Change(change), name)) is not None
        )
        if not paths:
            return
        try:
            self._on_change(paths)
        except Exception as error:  # noqa: BLE001 - the listener is external code; its failure must not end the watcher
            self._on_error(error)

    def _relative_path(self, change: Change, name: str) -> str | None:
        path = PurePosixPath(Path(name).relative_to(self._root).as_posix())
        if any(part.startswith(".") for part in path.parts):
            return None
        if layout.is_inbox_path(str(path)):
            return str(path)
        if change is not Change.modified and self._is_folder(change, name, path):
            return "/" if not path.parts else f"{path}/"
        return str(path) if path.suffix == ".md" else None

    def _is_folder(self, change: Change, name: str, path: PurePosixPath) -> bool:
        if change is Change.added:
            return Path(name).is_dir() and not Path(name).is_symlink()
        return path.suffix != ".md"
