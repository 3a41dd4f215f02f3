"""Captures the new turns of a session's transcript in batches; a bookmark prevents that a turn is captured twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lamina.hosts.direct_memory import SOURCE_ID
from lamina.hosts.hook_state import HookState
from lamina.hosts.server_client import RequestDeclined, ServerClient
from lamina.hosts.transcript import Transcript, TranscriptPosition, TranscriptTurn

DIGEST_BYTES = 8
"""Bytes of a turn's digest."""
MAX_DIGESTS = 65_536
"""Number of digests remembered; older turns of a copied transcript are recognised by the store alone."""


class Bookmarks:
    """The position in one session's transcript, and the digests of recently captured turns of all sessions."""

    def __init__(self, folder: HookState, session: str) -> None:
        self._position_file = folder.file_path(session, "json")
        self._digests_file = folder.file_path("captured", "names")

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


BATCH_TURNS, BATCH_BYTES = 200, 600_000
MAX_TURN_CHARS = 60_000
"""Characters of a turn that are sent at once; a longer turn is split."""
_NOTHING_TO_CAPTURE = (422, "there are no words to capture")
"""The server's answer if the turns contain nothing but recalled context."""

_SESSION_ID = re.compile(r"[!-~]{1,200}")

CaptureTurns = Callable[[Sequence[dict[str, str]], str, str], None]
"""Captures turns of a session with an idempotency key."""


class TranscriptCapture:
    """One session's transcript and the position up to which it was captured."""

    def __init__(self, folder: HookState, payload: dict[str, Any]) -> None:
        session, path = payload.get("session_id"), payload.get("transcript_path")
        if not (isinstance(session, str) and _SESSION_ID.fullmatch(session) and isinstance(path, str) and path):
            raise ValueError("the call has no valid session_id or transcript_path")
        self.session_id = session
        self._transcript = Transcript(Path(path).expanduser())
        self._bookmarks = Bookmarks(folder, session)

    def pending_bytes(self) -> int:
        """Return the number of bytes that were not read yet."""
        return self._transcript.size() - self._transcript.resume_offset(self._bookmarks.load_position())

    def capture_new_turns(self, capture: CaptureTurns) -> int:
        """Capture every new turn and return their number. Finished batches stay recorded if a later one fails."""
        known, count = self._bookmarks.load_digests(), 0
        start = self._transcript.resume_offset(self._bookmarks.load_position())
        for batch, end in self._batches(start, known):
            if batch:
                capture(
                    [part for turn in batch for part in turn.split_for_capture(MAX_TURN_CHARS)],
                    self.session_id,
                    _idempotency_key(self.session_id, batch),
                )
                self._bookmarks.add_digests(turn.digest for turn in batch)
                count += len(batch)
            self._bookmarks.save_position(self._transcript.position_at(end))
        return count

    def _batches(self, start: int, known_digests: set[bytes]) -> Iterator[tuple[list[TranscriptTurn], int]]:
        batch, batch_bytes = list[TranscriptTurn](), 0
        for turn in self._transcript.read_turns(start):
            if isinstance(turn, int):
                yield batch, turn
                return
            if turn.digest in known_digests:
                continue
            if batch and batch_bytes + turn.size > BATCH_BYTES:
                yield batch, batch[-1].end
                batch, batch_bytes = [], 0
            known_digests.add(turn.digest)
            batch.append(turn)
            batch_bytes += turn.size
            if len(batch) >= BATCH_TURNS:
                yield batch, turn.end
                batch, batch_bytes = [], 0


def capture_through_server(client: ServerClient, turns: Sequence[dict[str, str]], session: str, key: str) -> None:
    """Capture turns through the running server."""
    body = {"turns": turns, "session_id": session, "source_id": SOURCE_ID, "key": key}
    try:
        client.post("/v1/capture", body)
    except RequestDeclined as refused:
        if refused.status != _NOTHING_TO_CAPTURE[0] or not refused.detail.startswith(_NOTHING_TO_CAPTURE[1]):
            raise


def _idempotency_key(session: str, batch: Sequence[TranscriptTurn]) -> str:
    names = b"".join(turn.digest for turn in batch)
    return f"hook:{hashlib.blake2b(session.encode() + names, digest_size=16).hexdigest()}"
