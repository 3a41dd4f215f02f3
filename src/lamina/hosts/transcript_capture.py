"""Captures the new turns of a session's transcript in batches."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lamina.hosts import direct_memory
from lamina.hosts.bookmarks import Bookmarks
from lamina.hosts.hook_folder import HookFolder
from lamina.hosts.server_client import RequestDeclined, ServerClient
from lamina.hosts.transcript import Transcript, TranscriptTurn

SOURCE_ID = "claude-code"
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

    def __init__(self, folder: HookFolder, payload: dict[str, Any]) -> None:
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


def capture_through_server(client: ServerClient) -> CaptureTurns:
    """Return a function that captures turns through the running server."""

    def keep(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        body = {"turns": turns, "session_id": session, "source_id": SOURCE_ID, "key": key}
        try:
            client.post("/v1/capture", body)
        except RequestDeclined as refused:
            if refused.status != _NOTHING_TO_CAPTURE[0] or not refused.detail.startswith(_NOTHING_TO_CAPTURE[1]):
                raise

    return keep


def capture_directly(root: Path, scope: str | None) -> CaptureTurns:
    """Return a function that opens the memory and captures turns."""

    def keep(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        direct_memory.capture_turns(root, scope, turns, session, SOURCE_ID, key)

    return keep


def _idempotency_key(session: str, batch: Sequence[TranscriptTurn]) -> str:
    names = b"".join(turn.digest for turn in batch)
    return f"hook:{hashlib.blake2b(session.encode() + names, digest_size=16).hexdigest()}"
