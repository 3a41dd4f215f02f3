"""Where hooks keep what they need between two calls: positions in transcripts, a log, and who is at work."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from lamina.local_socket import socket_path

FOLDER = "hooks"
OWN, MARKER, HISTORY, SETTINGS = ".lamina", "vault.toml", "history.db", "settings.toml"
"""Names that the vault knows best; here they are told again, because loading it takes a third of a hook's time."""
LONGEST_LOG = 256 << 10
SLOW_FOR = 600.0
"""Seconds for which opening the memory by oneself is not tried again after it took too long."""
_FILE_NAME = re.compile(r"[^A-Za-z0-9_-]")


class HookPlace:
    """The folder of a vault's hooks. Nothing in it is precious: what is lost there is asked or captured once more."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self.state = _state(root, environ)
        self.socket = socket_path(self.state)
        self._folder = self.state / FOLDER

    def file(self, name: str, ending: str) -> Path:
        """A file of this name, whatever the name is; its folder is made on the way."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder / f"{_FILE_NAME.sub('_', name)[:100]}.{ending}"

    def log(self, line: str) -> None:
        """Write one line, which never holds words of a memory. A log that cannot be written is no reason to fail."""
        with contextlib.suppress(OSError):
            path = self.file("hooks", "log")
            if path.exists() and path.stat().st_size > LONGEST_LOG:
                path.replace(path.with_suffix(".log.1"))
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="utf-8") as file:
                file.write(f"{stamp} {line}\n")

    def take(self, name: str, *, wait: bool = False) -> int | None:
        """The lock of this name, to be closed by whoever holds it last; None where somebody else has it."""
        lock = os.open(self.file(name, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        return lock

    @contextlib.contextmanager
    def patiently(self) -> Iterator[bool]:
        """Try something that may take too long. Where it did lately, it is not tried: False comes out."""
        mark = self.file("slow", "mark")
        try:
            lately = 0 <= time.time() - mark.stat().st_mtime < SLOW_FOR
        except FileNotFoundError:
            lately = False
        if lately:
            yield False
            return
        mark.touch(mode=0o600)  # who is ended by the clock leaves it behind
        yield True
        mark.unlink(missing_ok=True)


def is_vault(root: Path) -> bool:
    """Whether a folder is a vault."""
    return (root / OWN / MARKER).is_file()


def _state(root: Path, environ: Mapping[str, str]) -> Path:
    """Where the databases of a vault live."""
    chosen = _chosen_state(root, environ)
    if chosen is None and (root / OWN / HISTORY).exists():
        return root / OWN
    from lamina.vault import home

    return home.state_folder(root, chosen)


def _chosen_state(root: Path, environ: Mapping[str, str]) -> Path | None:
    """Where the settings put the databases, read without loading all there is to settings."""
    if environ.get("LAMINA_STATE_DIR"):
        return Path(environ["LAMINA_STATE_DIR"])
    settings = root / OWN / SETTINGS
    if not settings.exists():
        return None
    import tomllib

    with contextlib.suppress(OSError, ValueError):
        told = tomllib.loads(settings.read_text(encoding="utf-8")).get("state_dir")
        if isinstance(told, str):
            return Path(told)
    return None
