"""Bodies: all of it or nothing, no longer than they may be and no slower, however they are sent."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import Message, Receive

from lamina.http.problem import Problem

MOST_BYTES = 1024 * 1024
SLOWEST = 8.0
MOST_DISCARDED, HEARD_OUT = 8 * MOST_BYTES, 1.0
"""Who is cut off while still sending never reads why: so many bytes that are too many, and seconds, are heard out."""
TOO_LARGE = Problem(
    413,
    "TooLarge",
    "a body has at most 1 MiB; send long texts in pieces under one session_id",
    {"limit": MOST_BYTES},
    {"Connection": "close"},
)
TOO_SLOW = Problem(408, "TooSlow", "the body did not come in time; send it again", headers={"Connection": "close"})


class Gone(Exception):
    """Whoever asked is no longer there."""


async def whole_body(receive: Receive, declared: str, seconds: float = SLOWEST) -> bytes | Problem:
    """The body of a request, or why it is not taken; `declared` is its Content-Length, which nobody has to believe."""
    if declared and (not declared.isdecimal() or int(declared[:12]) > MOST_DISCARDED):
        return TOO_LARGE
    try:
        async with asyncio.timeout(seconds):
            found = TOO_LARGE if declared and int(declared) > MOST_BYTES else await _read(receive)
    except TimeoutError:
        return TOO_SLOW
    if found is TOO_LARGE:
        await _hear_out(receive)
    return found


async def _read(receive: Receive) -> bytes | Problem:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += message.get("body", b"")
        if len(body) > MOST_BYTES:
            return TOO_LARGE
        if not message.get("more_body", False):
            return bytes(body)


async def _hear_out(receive: Receive) -> None:
    left = MOST_DISCARDED
    with suppress(TimeoutError):
        async with asyncio.timeout(HEARD_OUT):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body that was read already, and then whatever else happens."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
