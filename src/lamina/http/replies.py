"""Stored replies by idempotency key, so that a write that is sent twice is done once and answered twice."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field

from lamina.http.problem import Problem

HEADER = b"idempotency-key"
REPLAYED = (b"idempotency-replayed", b"true")
LONGEST = 200
MOST, MOST_OF_ONE = 2000, 200
"""Replies stored in total and for one caller; the oldest are removed first."""
MOST_BYTES = 32 * 1024 * 1024

OTHER = Problem(422, "KeyReused", "this Idempotency-Key was used for another request; use a new key for each write")
BUSY = Problem(
    409, "StillAtWork", "a request with this Idempotency-Key is still running; try again", headers={"Retry-After": "1"}
)
BAD = Problem(422, "InvalidInput", f"an Idempotency-Key has 1 to {LONGEST} visible ASCII characters")


@dataclass(slots=True)
class Reply:
    """The reply for a key; `status` is 0 while the request is running."""

    asked: bytes
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)


class Replies:
    """The latest replies by caller and key. Only the server's event loop uses it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], Reply] = OrderedDict()
        self._bytes = 0

    def begin(self, caller: str, key: str, asked: bytes) -> Reply | Problem:
        """Return the stored reply for this key or a new one to fill; a problem if the key cannot be used."""
        if not 1 <= len(key) <= LONGEST or not (key.isascii() and key.isprintable()):
            return BAD
        reply = self._kept.get((caller, key))
        if reply is None:
            reply = self._kept[caller, key] = Reply(asked)
            return reply
        if reply.asked != asked:
            return OTHER
        return reply if reply.status else BUSY

    def done(self, caller: str, key: str, reply: Reply) -> None:
        """Store the reply if the write succeeded; a refused write may be tried again with the same key."""
        if not 200 <= reply.status < 300:
            self._kept.pop((caller, key), None)
            return
        self._bytes += len(reply.body)
        self._make_room(caller)

    def forget(self, but: Reply | None) -> None:
        """Remove every finished reply except `keep`: replies contain text, and some of it was just erased."""
        for key in [key for key, reply in self._kept.items() if reply.status and reply is not but]:
            self._drop(key)

    def _make_room(self, caller: str) -> None:
        keys = [key for key, reply in self._kept.items() if key[0] == caller and reply.status]
        for key in keys[: max(0, len(keys) - MOST_OF_ONE)]:
            self._drop(key)
        for key in [key for key, reply in self._kept.items() if reply.status]:
            if len(self._kept) <= MOST and self._bytes <= MOST_BYTES:
                return
            self._drop(key)

    def _drop(self, each: tuple[str, str]) -> None:
        self._bytes -= len(self._kept.pop(each).body)


def asked_of(method: str, path: str, query: str, body: bytes) -> bytes:
    """Return a digest that identifies a request."""
    digest = hashlib.sha256()
    for part in (method.encode(), path.encode(errors="surrogatepass"), query.encode(), body):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
