"""A lease on one session, so that a language model is not paid twice for reading the same passages.

Background reading skips a session that is leased; a caller who waits for statements takes the lease before the words
are written, so that no other reader is first.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from lamina.atom.scope import Scope
from lamina.store.buffer import Buffer

LEASE_SECONDS = 180.0
"""How long a lease lasts unless it is renewed; a batch of passages takes less, and a crash blocks no longer."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25


class SessionLease:
    """A lease on the waiting passages of one session."""

    def __init__(self, buffer: Buffer, scope: Scope, session_id: str, now: Callable[[], datetime]) -> None:
        self._buffer, self._scope, self._session_id, self._now = buffer, scope, session_id, now
        self._holder = f"{os.getpid()}-{secrets.token_hex(4)}"

    def acquire(self) -> bool:
        """Take or renew the lease; False if another reader has it."""
        now = self._now()
        until = now + timedelta(seconds=LEASE_SECONDS)
        return self._buffer.lease(self._scope, self._session_id, self._holder, now, until)

    def release(self) -> None:
        """Give the lease back, if this reader has it."""
        self._buffer.release(self._scope, self._session_id, self._holder)


@contextmanager
def hold_lease(lease: SessionLease) -> Iterator[SessionLease]:
    """Wait for the lease, at most as long as a lease lasts, run the block, and release it."""
    pause, waited = _FIRST_PAUSE, 0.0
    while not lease.acquire() and waited <= LEASE_SECONDS:
        time.sleep(pause)
        pause, waited = min(2 * pause, _LONGEST_PAUSE), waited + pause
    try:
        yield lease
    finally:
        lease.release()
