"""Idempotency keys of HTTP: the reply to a write is stored and sent again, whichever process gets the request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

from lamina.documents.argument_types import MAX_KEY_LENGTH
from lamina.http.problem import ProblemDetails
from lamina.store.access import AccessState, ReplyLimits, StoredReply

KEY_HEADER = b"idempotency-key"
REPLAYED_HEADER = (b"idempotency-replayed", b"true")
REPLY_LIMITS = ReplyLimits(per_caller=200, in_total=2000, max_bytes=32 * 1024 * 1024)
REPLY_LIFETIME = timedelta(days=1)
RUNNING_LIFETIME = timedelta(minutes=10)
"""How long a key waits for a request whose process may have ended."""

KEY_REUSED = ProblemDetails(
    422, "KeyReused", "this Idempotency-Key was used for another request; use a new key for each write"
)
KEY_IN_USE = ProblemDetails(
    409, "StillAtWork", "a request with this Idempotency-Key is still running; try again", headers={"Retry-After": "1"}
)
INVALID_KEY = ProblemDetails(
    422, "InvalidInput", f"an Idempotency-Key has 1 to {MAX_KEY_LENGTH} visible ASCII characters"
)


class RunningReply:
    """The reply to a request while it is made; `status` is 0 until it is complete."""

    def __init__(self, caller: str, key: str, request_digest: bytes) -> None:
        self.caller, self.key, self._request_digest = caller, key, request_digest
        self.status, self.body = 0, bytearray()
        self.headers: list[tuple[bytes, bytes]] = []

    def to_stored(self) -> StoredReply:
        """Return the complete reply."""
        return StoredReply(self._request_digest, self.status, tuple(self.headers), bytes(self.body))


class IdempotencyKeys:
    """The latest replies by caller and key."""

    def __init__(self, state: AccessState, now: Callable[[], datetime]) -> None:
        self._state, self._now = state, now

    def begin(self, caller: str, key: str, request_digest: bytes) -> StoredReply | RunningReply | ProblemDetails:
        """Return the stored reply for this key or a new one to fill; a problem if the key cannot be used."""
        if not 1 <= len(key) <= MAX_KEY_LENGTH or not (key.isascii() and key.isprintable()):
            return INVALID_KEY
        now = self._now()
        reply = self._state.begin_reply(caller, key, request_digest, now, now + RUNNING_LIFETIME)
        if reply is None:
            return RunningReply(caller, key, request_digest)
        if reply.request_digest != request_digest:
            return KEY_REUSED
        return reply if reply.status else KEY_IN_USE

    def finish(self, reply: RunningReply) -> None:
        """Store the reply if the write succeeded; a refused write may be tried again with the same key."""
        stored = reply.to_stored() if 200 <= reply.status < 300 else None
        self._state.finish_reply(reply.caller, reply.key, stored, self._now() + REPLY_LIFETIME, REPLY_LIMITS)


def digest_request(method: str, path: str, query: str, body: bytes) -> bytes:
    """Return a digest that identifies a request."""
    digest = hashlib.sha256()
    for part in (method.encode(), path.encode(errors="surrogatepass"), query.encode(), body):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
