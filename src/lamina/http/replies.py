"""Answers kept for a while, so that a write that is sent twice is done once and answered twice."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field

from lamina.http.problem import Problem

HEADER = b"idempotency-key"
REPLAYED = (b"idempotency-replayed", b"true")
LONGEST = 200
MOST, MOST_OF_ONE = 2000, 200
"""Answers kept of everybody and of one caller; the oldest make way."""
MOST_BYTES = 32 * 1024 * 1024

OTHER = Problem(422, "KeyReused", "this Idempotency-Key was sent with another request; take a new one for each write")
BUSY = Problem(
    409,
    "StillAtWork",
    "a request with this Idempotency-Key is still being answered; ask again",
    headers={"Retry-After": "1"},
)
BAD = Problem(422, "InvalidInput", f"an Idempotency-Key has 1 to {LONGEST} visible ASCII characters")


@dataclass(slots=True)
class Reply:
    """What was answered to a key; `status` 0 while that is not known."""

    asked: bytes
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)


class Replies:
    """The last answers by caller and key. Only the server's own loop touches it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], Reply] = OrderedDict()
        self._bytes = 0

    def begin(self, caller: str, key: str, asked: bytes) -> Reply | Problem:
        """What was answered to this key already, or a place for the answer that is about to be made."""
        if not 1 <= len(key) <= LONGEST or not (key.isascii() and key.isprintable()):
            return BAD
        known = self._kept.get((caller, key))
        if known is None:
            known = self._kept[caller, key] = Reply(asked)
            return known
        if known.asked != asked:
            return OTHER
        return known if known.status else BUSY

    def done(self, caller: str, key: str, reply: Reply) -> None:
        """Keep an answer if the write was done; what was refused may be tried again."""
        if not 200 <= reply.status < 300:
            self._kept.pop((caller, key), None)
            return
        self._bytes += len(reply.body)
        self._make_room(caller)

    def forget(self, but: Reply | None) -> None:
        """Let go of every answer `but` one: they hold words, and some have just been taken out for good."""
        for each in [each for each, reply in self._kept.items() if reply.status and reply is not but]:
            self._drop(each)

    def _make_room(self, caller: str) -> None:
        own = [each for each, reply in self._kept.items() if each[0] == caller and reply.status]
        for each in own[: max(0, len(own) - MOST_OF_ONE)]:
            self._drop(each)
        for each in [each for each, reply in self._kept.items() if reply.status]:
            if len(self._kept) <= MOST and self._bytes <= MOST_BYTES:
                return
            self._drop(each)

    def _drop(self, each: tuple[str, str]) -> None:
        self._bytes -= len(self._kept.pop(each).body)


def asked_of(method: str, path: str, query: str, body: bytes) -> bytes:
    """By what a request is known again."""
    told = hashlib.sha256()
    for part in (method.encode(), path.encode(errors="surrogatepass"), query.encode(), body):
        told.update(len(part).to_bytes(8, "big") + part)
    return told.digest()
