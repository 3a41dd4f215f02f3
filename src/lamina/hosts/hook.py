"""`lamina hook`: what a host runs at moments of a session. Quick, bounded in time, and never in the host's way.

Whatever goes wrong, it ends with 0, tells the host nothing, and leaves one line in a log without anybody's words.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina.hosts.deadline import Deadline, Moment
from lamina.hosts.event import Event
from lamina.hosts.hook_place import HookPlace
from lamina.hosts.wire import Declined, NoServer, Wire

if TYPE_CHECKING:
    from lamina.hosts.keeping import Keeping

SECONDS = 1.5
LONGER = 600.0
"""Seconds for words that are kept after the host has gone on."""
LARGEST_CALL = 8 << 20
AT_ONCE = 1 << 20
"""Bytes of a transcript that are captured while the host waits, where a server does it."""
SHARE = 0.4
"""The part of the time a server may take to capture; what is left is enough to leave it to another process."""
LOCK = "capturing"
MOST_FILES = 64
"""Files that a hook may have open when it goes on alone."""


class Call(NamedTuple):
    """One call of a host, for one vault."""

    event: Event
    root: Path
    scope: str | None = None
    seconds: float = SECONDS


def answer(call: Call, read: Callable[[], bytes]) -> str:
    """What the host is told; empty where there is nothing to tell. Its own words are read within the time, too."""
    place = HookPlace(call.root, os.environ)
    began = time.monotonic()

    def log(outcome: str) -> None:
        place.log(f"{call.event} {outcome} {1000 * (time.monotonic() - began):.0f}ms")

    deadline = Deadline(call.seconds, lambda: log("took too long"))
    try:
        asked = json.loads(read() or b"{}")
        if not isinstance(asked, dict):
            raise ValueError("the call is no JSON object")
        told, outcome = (_context if call.event.asks else _capture)(call, asked, place, deadline)
    except Exception as error:  # noqa: BLE001 - the border to a host that must go on, whatever is wrong here
        told, outcome = "", f"failed: {type(error).__name__}"
    deadline.lift()
    log(outcome)
    return told


def _context(call: Call, given: dict[str, Any], place: HookPlace, deadline: Deadline) -> tuple[str, str]:
    from lamina.hosts.context import Asking

    wire = Wire(place.socket, deadline) if call.scope is None else None
    asking = Asking(call.event, given, call.root, call.scope, wire)
    if not asking.is_needed:
        return "", "nothing asked"
    try:
        context, way = asking.served(), "served"
    except Declined as refused:
        return "", f"declined with {refused.status}"
    except NoServer:
        with place.patiently() as may:
            if not may:
                return "", "no server"
            context, way = asking.by_own_hands(), "opened"
    return (_as_output(call.event, context), way) if context else ("", f"{way}, nothing known")


def _as_output(event: Event, context: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event.name_at_host, "additionalContext": context}})


def _capture(call: Call, given: dict[str, Any], place: HookPlace, deadline: Deadline) -> tuple[str, str]:
    from lamina.hosts.keeping import Keeping, through

    keeping = Keeping(place, given)
    waiting = keeping.waiting()
    if not waiting:
        return "", "nothing new"
    lock = place.take(LOCK) if call.scope is None and waiting <= AT_ONCE else None
    if lock is not None:
        try:
            wire = Wire(place.socket, Moment(deadline.left * SHARE))
            return "", _counted("served", keeping.hand_over(through(wire)))
        except (NoServer, Declined, TimeoutError):
            pass  # somebody with more time sees to it
        finally:
            os.close(lock)
    following = place.take(f"next {keeping.session}")
    if following is None:
        return "", "left to who waits already"
    if os.fork():
        os.close(following)
        return "", "left to another"
    try:
        _let_go_of_the_host(following)
        _later(call, keeping, place, following)
    finally:
        os._exit(0)


def _let_go_of_the_host(following: int) -> None:
    """Keep nothing that a host could wait for or end, but the lock."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nowhere, each)
    for each in range(3, MOST_FILES):
        if each != following:
            with contextlib.suppress(OSError):
                os.close(each)


def _later(call: Call, keeping: Keeping, place: HookPlace, following: int) -> None:
    """Keep what is new, one process of a vault at a time. Of a session only one waits: it reads all there is."""
    began = time.monotonic()

    def log(outcome: str) -> None:
        place.log(f"{call.event} afterwards: {outcome} {1000 * (time.monotonic() - began):.0f}ms")

    deadline = Deadline(LONGER, lambda: log("took too long"))
    try:
        place.take(LOCK, wait=True)
        os.close(following)
        log(_kept(call, keeping, Wire(place.socket, deadline)))
    except Exception as error:  # noqa: BLE001 - nobody is left to tell
        log(f"failed: {type(error).__name__}")


def _kept(call: Call, keeping: Keeping, wire: Wire) -> str:
    from lamina.hosts.keeping import by_own_hands, through

    if call.scope is None:
        try:
            return _counted("served", keeping.hand_over(through(wire)))
        except (NoServer, Declined, TimeoutError):
            pass
    return _counted("opened", keeping.hand_over(by_own_hands(call.root, call.scope)))


def _counted(way: str, turns: int) -> str:
    return f"{way}, {turns} turns" if turns else "nothing new"


def read_call() -> bytes:
    """What the host wrote to standard input."""
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(LARGEST_CALL)
