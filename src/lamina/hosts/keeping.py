"""Captures the new turns of a session's transcript in batches."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lamina.hosts import own_hands
from lamina.hosts.bookmarks import Bookmarks
from lamina.hosts.hook_place import HookPlace
from lamina.hosts.transcript import Transcript, Turn
from lamina.hosts.wire import Declined, Wire

SOURCE = "claude-code"
BATCH_TURNS, BATCH_BYTES = 200, 600_000
LONGEST = 60_000
"""Characters of a turn that are sent at once; a longer turn is split."""
_NO_WORDS = (422, "there are no words to capture")
"""The server's answer if the turns contain nothing but recalled context."""

_SESSION = re.compile(r"[!-~]{1,200}")

Keep = Callable[[Sequence[dict[str, str]], str, str], None]
"""Captures turns of a session with an idempotency key."""


class Keeping:
    """One session's transcript and the position up to which it was captured."""

    def __init__(self, place: HookPlace, given: dict[str, Any]) -> None:
        session, path = given.get("session_id"), given.get("transcript_path")
        if not (isinstance(session, str) and _SESSION.fullmatch(session) and isinstance(path, str) and path):
            raise ValueError("the call has no valid session_id or transcript_path")
        self.session = session
        self._transcript = Transcript(Path(path).expanduser())
        self._bookmarks = Bookmarks(place, session)

    def waiting(self) -> int:
        """Return the number of bytes that were not read yet."""
        return self._transcript.size() - self._transcript.start(self._bookmarks.position())

    def hand_over(self, keep: Keep) -> int:
        """Capture every new turn and return their number. Finished batches stay recorded if a later one fails."""
        known, count = self._bookmarks.known(), 0
        start = self._transcript.start(self._bookmarks.position())
        for batch, end in self._batches(start, known):
            if batch:
                keep([part for turn in batch for part in turn.told(LONGEST)], self.session, _key(self.session, batch))
                self._bookmarks.add(turn.name for turn in batch)
                count += len(batch)
            self._bookmarks.keep(self._transcript.position(end))
        return count

    def _batches(self, start: int, known: set[bytes]) -> Iterator[tuple[list[Turn], int]]:
        batch, batch_bytes = list[Turn](), 0
        for turn in self._transcript.turns(start):
            if isinstance(turn, int):
                yield batch, turn
                return
            if turn.name in known:
                continue
            if batch and batch_bytes + turn.size > BATCH_BYTES:
                yield batch, batch[-1].end
                batch, batch_bytes = [], 0
            known.add(turn.name)
            batch.append(turn)
            batch_bytes += turn.size
            if len(batch) >= BATCH_TURNS:
                yield batch, turn.end
                batch, batch_bytes = [], 0


def through(wire: Wire) -> Keep:
    """Return a function that captures turns through the running server."""

    def keep(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        body = {"turns": turns, "session_id": session, "source_id": SOURCE, "key": key}
        try:
            wire.post("/v1/capture", body)
        except Declined as refused:
            if refused.status != _NO_WORDS[0] or not refused.detail.startswith(_NO_WORDS[1]):
                raise

    return keep


def by_own_hands(root: Path, scope: str | None) -> Keep:
    """Return a function that opens the memory and captures turns."""

    def keep(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        own_hands.captured(root, scope, turns, session, SOURCE, key)

    return keep


def _key(session: str, batch: Sequence[Turn]) -> str:
    names = b"".join(turn.name for turn in batch)
    return f"hook:{hashlib.blake2b(session.encode() + names, digest_size=16).hexdigest()}"
