"""Stored replies by idempotency key, so that a write that is sent twice is done once and answered twice."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field

from lamina.documents.verb_arguments import MAX_KEY_LENGTH
from lamina.http.problem import ProblemDetails

KEY_HEADER = b"idempotency-key"
REPLAYED_HEADER = (b"idempotency-replayed", b"true")
MAX_REPLIES, MAX_REPLIES_PER_CALLER = 2000, 200
"""Replies stored in total and for one caller; the oldest are removed first."""
MAX_BYTES = 32 * 1024 * 1024

KEY_REUSED = ProblemDetails(
    422, "KeyReused", "this Idempotency-Key was used for another request; use a new key for each write"
)
KEY_IN_USE = ProblemDetails(
    409, "StillAtWork", "a request with this Idempotency-Key is still running; try again", headers={"Retry-After": "1"}
)
INVALID_KEY = ProblemDetails(
    422, "InvalidInput", f"an Idempotency-Key has 1 to {MAX_KEY_LENGTH} visible ASCII characters"
)


@dataclass(slots=True)
class StoredReply:
    """The reply for a key; `status` is 0 while the request is running."""

    request_digest: bytes
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)


class IdempotencyCache:
    """The latest replies by caller and key. Only the server's event loop uses it."""

    def __init__(self) -> None:
        self._replies: OrderedDict[tuple[str, str], StoredReply] = OrderedDict()
        self._bytes = 0

    def begin(self, caller: str, key: str, request_digest: bytes) -> StoredReply | ProblemDetails:
        """Return the stored reply for this key or a new one to fill; a problem if the key cannot be used."""
        if not 1 <= len(key) <= MAX_KEY_LENGTH or not (key.isascii() and key.isprintable()):
            return INVALID_KEY
        reply = self._replies.get((caller, key))
        if reply is None:
            reply = self._replies[caller, key] = StoredReply(request_digest)
            return reply
        if reply.request_digest != request_digest:
            return KEY_REUSED
        return reply if reply.status else KEY_IN_USE

    def finish(self, caller: str, key: str, reply: StoredReply) -> None:
        """Store the reply if the write succeeded; a refused write may be tried again with the same key."""
        if not 200 <= reply.status < 300:
            self._replies.pop((caller, key), None)
            return
        self._bytes += len(reply.body)
        self._evict(caller)

    def clear(self, keep: StoredReply | None) -> None:
        """Remove every finished reply except `keep`: replies contain text, and some of it was just erased."""
        for key in [key for key, reply in self._replies.items() if reply.status and reply is not keep]:
            self._drop(key)

    def _evict(self, caller: str) -> None:
        keys = [key for key, reply in self._replies.items() if key[0] == caller and reply.status]
        for key in keys[: max(0, len(keys) - MAX_REPLIES_PER_CALLER)]:
            self._drop(key)
        for key in [key for key, reply in self._replies.items() if reply.status]:
            if len(self._replies) <= MAX_REPLIES and self._bytes <= MAX_BYTES:
                return
            self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        self._bytes -= len(self._replies.pop(key).body)


def digest_request(method: str, path: str, query: str, body: bytes) -> bytes:
    """Return a digest that identifies a request."""
    digest = hashlib.sha256()
    for part in (method.encode(), path.encode(errors="surrogatepass"), query.encode(), body):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
