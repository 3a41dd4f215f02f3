"""`lamina hook`: the command that a host runs at events of a session.

It is fast and has a time limit. If anything fails, it prints nothing, exits with 0, and writes one line to a log; the
log never contains memory text.
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
"""Time limit of a capture that continues in the background."""
LARGEST_CALL = 8 << 20
AT_ONCE = 1 << 20
"""Largest part of a transcript that a server captures while the host waits."""
SHARE = 0.4
"""Share of the time limit that a server may use; the rest is enough to start a background process."""
LOCK = "capturing"
MOST_FILES = 64
"""File descriptors that the background process closes."""


class Call(NamedTuple):
    """One call by a host, for one vault."""

    event: Event
    root: Path
    scope: str | None = None
    seconds: float = SECONDS


def answer(call: Call, read: Callable[[], bytes]) -> str:
    """Return the output for the host; empty if there is nothing to say or anything fails.

    Reading the call counts towards the time limit.
    """
    folder = HookPlace(call.root, os.environ)
    started_at = time.monotonic()

    def log(outcome: str) -> None:
        folder.log(f"{call.event} {outcome} {1000 * (time.monotonic() - started_at):.0f}ms")

    deadline = Deadline(call.seconds, lambda: log("took too long"))
    try:
        payload = json.loads(read() or b"{}")
        if not isinstance(payload, dict):
            raise ValueError("the call is not a JSON object")
        output, outcome = (_context if call.event.asks else _capture)(call, payload, folder, deadline)
    except Exception as error:  # noqa: BLE001 - the boundary to a host that must continue, whatever fails here
        output, outcome = "", f"failed: {type(error).__name__}"
    deadline.lift()
    log(outcome)
    return output


def _context(call: Call, given: dict[str, Any], place: HookPlace, deadline: Deadline) -> tuple[str, str]:
    from lamina.hosts.context import Asking

    client = Wire(place.socket, deadline) if call.scope is None else None
    request = Asking(call.event, given, call.root, call.scope, client)
    if not request.is_needed:
        return "", "no question"
    try:
        context, route = request.served(), "served"
    except Declined as refused:
        return "", f"declined with {refused.status}"
    except NoServer:
        with place.patiently() as is_allowed:
            if not is_allowed:
                return "", "no server"
            context, route = request.by_own_hands(), "opened"
    return (_as_output(call.event, context), route) if context else ("", f"{route}, nothing known")


def _as_output(event: Event, context: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event.name_at_host, "additionalContext": context}})


def _capture(call: Call, given: dict[str, Any], place: HookPlace, deadline: Deadline) -> tuple[str, str]:
    from lamina.hosts.keeping import Keeping, through

    transcript = Keeping(place, given)
    pending_bytes = transcript.waiting()
    if not pending_bytes:
        return "", "nothing new"
    lock = place.take(LOCK) if call.scope is None and pending_bytes <= AT_ONCE else None
    if lock is not None:
        try:
            client = Wire(place.socket, Moment(deadline.left * SHARE))
            return "", _counted("served", transcript.hand_over(through(client)))
        except (NoServer, Declined, TimeoutError):
            pass  # the background process has more time
        finally:
            os.close(lock)
    session_lock = place.take(f"next {transcript.session}")
    if session_lock is None:
        return "", "left to the process that already waits"
    if os.fork():
        os.close(session_lock)
        return "", "left to a background process"
    try:
        _let_go_of_the_host(session_lock)
        _later(call, transcript, place, session_lock)
    finally:
        os._exit(0)


def _let_go_of_the_host(following: int) -> None:
    """Leave the host's process group and close every file descriptor but the lock."""
    os.setsid()
    null_device = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null_device, descriptor)
    for descriptor in range(3, MOST_FILES):
        if descriptor != following:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _later(call: Call, keeping: Keeping, place: HookPlace, following: int) -> None:
    """Capture new turns, one process per vault at a time. Only one process per session waits: it reads everything."""
    started_at = time.monotonic()

    def log(outcome: str) -> None:
        place.log(f"{call.event} afterwards: {outcome} {1000 * (time.monotonic() - started_at):.0f}ms")

    deadline = Deadline(LONGER, lambda: log("took too long"))
    try:
        place.take(LOCK, wait=True)
        os.close(following)
        log(_kept(call, keeping, Wire(place.socket, deadline)))
    except Exception as error:  # noqa: BLE001 - a detached process has no caller to report to
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
    """Return what the host wrote to standard input; empty on a terminal."""
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(LARGEST_CALL)
