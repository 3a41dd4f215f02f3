"""The turns of a session that are not captured yet, handed to whoever keeps them, a few at a time."""

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
"""Characters of a turn that are sent as one; what is longer comes in parts."""
_NO_WORDS = (422, "there are no words to capture")
"""What a server says where nothing but recalled context was said."""

_SESSION = re.compile(r"[!-~]{1,200}")

Keep = Callable[[Sequence[dict[str, str]], str, str], None]
"""Keeps turns of a session under a key; what was kept under that key already is not kept again."""


class Keeping:
    """One session's transcript and how far it was captured."""

    def __init__(self, place: HookPlace, given: dict[str, Any]) -> None:
        session, path = given.get("session_id"), given.get("transcript_path")
        if not (isinstance(session, str) and _SESSION.fullmatch(session) and isinstance(path, str) and path):
            raise ValueError("the host names no session or no transcript")
        self.session = session
        self._transcript = Transcript(Path(path).expanduser())
        self._bookmarks = Bookmarks(place, session)

    def waiting(self) -> int:
        """Bytes that were not looked at yet."""
        return self._transcript.size() - self._transcript.start(self._bookmarks.position())

    def hand_over(self, keep: Keep) -> int:
        """Let every new turn be kept; returns how many. What was kept stays remembered if a later one fails."""
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
        batch, length = list[Turn](), 0
        for turn in self._transcript.turns(start):
            if isinstance(turn, int):
                yield batch, turn
                return
            if turn.name in known:
                continue
            if batch and length + turn.size > BATCH_BYTES:
                yield batch, batch[-1].end
                batch, length = [], 0
            known.add(turn.name)
            batch.append(turn)
            length += turn.size
            if len(batch) >= BATCH_TURNS:
                yield batch, turn.end
                batch, length = [], 0


def through(wire: Wire) -> Keep:
    """Let the running server keep them."""

    def keep(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        body = {"turns": turns, "session_id": session, "source_id": SOURCE, "key": key}
        try:
            wire.post("/v1/capture", body)
        except Declined as refused:
            if refused.status != _NO_WORDS[0] or not refused.detail.startswith(_NO_WORDS[1]):
                raise

    return keep


def by_own_hands(root: Path, scope: str | None) -> Keep:
    """Open the memory and keep them."""

    def keep(turns: Sequence[dict[str, str]], session: str, key: str) -> None:
        own_hands.captured(root, scope, turns, session, SOURCE, key)

    return keep


def _key(session: str, batch: Sequence[Turn]) -> str:
    names = b"".join(turn.name for turn in batch)
    return f"hook:{hashlib.blake2b(session.encode() + names, digest_size=16).hexdigest()}"
