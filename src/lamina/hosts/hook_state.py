"""The folder where hooks store their state between calls: positions in transcripts, a log and locks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from lamina.local_socket import socket_path

HOOKS_FOLDER = "hooks"
LAMINA_FOLDER, MARKER, HISTORY, SETTINGS = ".lamina", "vault.toml", "history.db", "settings.toml"
"""Copies of names in `lamina.vault.vault_setup`: importing that module would take a third of a hook's time."""
MAX_LOG_BYTES = 256 << 10
SLOW_OPEN_SECONDS = 600.0
"""Seconds to wait before the memory is opened in a hook again, after opening it took too long."""
_UNSAFE_NAME_CHARS = re.compile(r"[^A-Za-z0-9_-]")


class HookState:
    """The folder of a vault's hooks. It can be deleted: turns are then captured again, and recognised by the store."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self.state_folder = _state_folder(root, environ)
        self.socket_path = socket_path(self.state_folder)
        self._folder = self.state_folder / HOOKS_FOLDER

    def file_path(self, name: str, ending: str) -> Path:
        """Return the path of a file with a safe version of this name; its folder is created."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder / f"{_UNSAFE_NAME_CHARS.sub('_', name)[:100]}.{ending}"

    def log(self, line: str) -> None:
        """Write one line without memory text to the log; errors are ignored."""
        with contextlib.suppress(OSError):
            path = self.file_path("hooks", "log")
            if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
                path.replace(path.with_suffix(".log.1"))
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="utf-8") as file:
                file.write(f"{stamp} {line}\n")

    def acquire_lock(self, name: str, *, wait: bool = False) -> int | None:
        """Acquire a lock and return its file descriptor, which releases it when closed; None if it is taken."""
        lock = os.open(self.file_path(name, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        return lock

    @contextlib.contextmanager
    def guard_slow_open(self) -> Iterator[bool]:
        """Yield whether a slow action may be tried: False if it was too slow within the last minutes."""
        mark = self.file_path("slow", "mark")
        try:
            was_slow_lately = 0 <= time.time() - mark.stat().st_mtime < SLOW_OPEN_SECONDS
        except FileNotFoundError:
            was_slow_lately = False
        if was_slow_lately:
            yield False
            return
        mark.touch(mode=0o600)  # stays behind if the deadline ends the process
        yield True
        mark.unlink(missing_ok=True)


def is_vault(root: Path) -> bool:
    """Return whether a folder is a vault."""
    return (root / LAMINA_FOLDER / MARKER).is_file()


def _state_folder(root: Path, environ: Mapping[str, str]) -> Path:
    """Return the folder of a vault's databases."""
    configured = _configured_state_folder(root, environ)
    if configured is None and (root / LAMINA_FOLDER / HISTORY).exists():
        return root / LAMINA_FOLDER
    from lamina.vault import vault_setup

    return vault_setup.state_folder(root, configured)


def _configured_state_folder(root: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the `state_dir` setting, read without loading the settings module; None if it is not set."""
    if environ.get("LAMINA_STATE_DIR"):
        return Path(environ["LAMINA_STATE_DIR"])
    settings = root / LAMINA_FOLDER / SETTINGS
    if not settings.exists():
        return None
    import tomllib

    with contextlib.suppress(OSError, ValueError):
        state_dir = tomllib.loads(settings.read_text(encoding="utf-8")).get("state_dir")
        if isinstance(state_dir, str):
            return Path(state_dir)
    return None
