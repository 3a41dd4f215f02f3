"""Reads request bodies completely or not at all, within a size limit and a time limit."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import Message, Receive

from lamina.http.problem import ProblemDetails

MAX_BYTES = 1024 * 1024
MAX_SECONDS = 8.0
MAX_DISCARDED_BYTES, DISCARD_SECONDS = 8 * MAX_BYTES, 1.0
"""A client that is cut off while it sends never reads why: an excess of so many bytes, for so many seconds, is read and
discarded.
"""
TOO_LARGE = ProblemDetails(
    413,
    "TooLarge",
    "the body is larger than 1 MiB; split long texts and send the parts with one session_id",
    {"limit": MAX_BYTES},
    {"Connection": "close"},
)
TOO_SLOW = ProblemDetails(
    408, "TooSlow", "the body did not arrive in time; send it again", headers={"Connection": "close"}
)


class ClientDisconnected(Exception):
    """The client disconnected."""


async def read_body(receive: Receive, declared: str, seconds: float = MAX_SECONDS) -> bytes | ProblemDetails:
    """Return the body of a request, or why it is not accepted; `declared` is the unchecked Content-Length."""
    if declared and (not declared.isdecimal() or int(declared[:12]) > MAX_DISCARDED_BYTES):
        return TOO_LARGE
    try:
        async with asyncio.timeout(seconds):
            result = TOO_LARGE if declared and int(declared) > MAX_BYTES else await _read_within_limit(receive)
    except TimeoutError:
        return TOO_SLOW
    if result is TOO_LARGE:
        await _discard_rest(receive)
    return result


async def _read_within_limit(receive: Receive) -> bytes | ProblemDetails:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        body += message.get("body", b"")
        if len(body) > MAX_BYTES:
            return TOO_LARGE
        if not message.get("more_body", False):
            return bytes(body)


async def _discard_rest(receive: Receive) -> None:
    remaining = MAX_DISCARDED_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while remaining > 0:
                message = await receive()
                remaining -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first gives a body that was already read."""
    is_sent = False

    async def receive_again() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
