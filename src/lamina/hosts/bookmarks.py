"""Remembers how far each session was captured, and which turns, so that no turn is captured twice."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from lamina.hosts.hook_folder import HookFolder
from lamina.hosts.transcript import TranscriptPosition

DIGEST_BYTES = 8
"""Bytes of a turn's digest."""
MAX_DIGESTS = 65_536
"""Number of digests remembered; older turns of a copied transcript are recognised by the store alone."""


class Bookmarks:
    """The position in one session's transcript, and the digests of recently captured turns of all sessions."""

    def __init__(self, folder: HookFolder, session: str) -> None:
        self._position_file, self._digests_file = (
            folder.file_path(session, "json"),
            folder.file_path("captured", "names"),
        )

    def load_position(self) -> TranscriptPosition:
        """Return the saved position; the start if none can be read."""
        try:
            saved = json.loads(self._position_file.read_text(encoding="utf-8"))
            return TranscriptPosition(int(saved["offset"]), str(saved["before"]))
        except (OSError, ValueError, KeyError, TypeError):
            return TranscriptPosition()

    def save_position(self, position: TranscriptPosition) -> None:
        """Save the position up to which turns were captured."""
        _write_atomically(
            self._position_file, json.dumps({"offset": position.offset, "before": position.fingerprint}).encode()
        )

    def load_digests(self) -> set[bytes]:
        """Return the digests of captured turns."""
        try:
            data = self._digests_file.read_bytes()
        except FileNotFoundError:
            return set()
        return {data[at : at + DIGEST_BYTES] for at in range(0, len(data) - DIGEST_BYTES + 1, DIGEST_BYTES)}

    def add_digests(self, digests: Iterable[bytes]) -> None:
        """Add digests of captured turns, dropping the oldest beyond the limit."""
        data = b""
        with contextlib.suppress(FileNotFoundError):
            data = self._digests_file.read_bytes()
        all_digests = data[: len(data) - len(data) % DIGEST_BYTES] + b"".join(digests)
        _write_atomically(self._digests_file, all_digests[-MAX_DIGESTS * DIGEST_BYTES :])


def _write_atomically(path: Path, data: bytes) -> None:
    """Write a file completely or not at all."""
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
