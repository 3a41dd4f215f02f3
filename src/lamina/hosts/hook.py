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
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina.hosts import direct_memory
from lamina.hosts.deadline import Deadline, Timeout
from lamina.hosts.hook_state import HookState
from lamina.hosts.server_client import RequestDeclined, ServerClient, ServerUnavailable

if TYPE_CHECKING:
    from lamina.hosts.transcript_capture import TranscriptCapture


START_BUDGET, PROMPT_BUDGET = 1500, 600
"""Tokens; a host cuts context that is much longer than ten thousand characters."""
MAX_HITS = 6
MAX_QUESTION_BYTES = 4000
"""Bytes; a server rejects questions that are much longer."""
MAX_PROJECT_NAME = 200
_HOST_COMMAND_PREFIXES = ("/", "!", "#")
"""A prompt that starts like this is a command for the host, not a question."""


class HookEvent(StrEnum):
    """An event of an agent session at which a host runs `lamina hook`; the value is its argument."""

    SESSION_START = "session-start"
    USER_PROMPT_SUBMIT = "user-prompt-submit"
    STOP = "stop"
    PRE_COMPACT = "pre-compact"
    SESSION_END = "session-end"

    @property
    def claude_name(self) -> str:
        """The name of the event in Claude Code."""
        return "".join(word.capitalize() for word in self.value.split("-"))

    @property
    def wants_context(self) -> bool:
        """Return whether the host expects context; at other events turns are captured."""
        return self in (HookEvent.SESSION_START, HookEvent.USER_PROMPT_SUBMIT)


def read_question(payload: dict[str, Any]) -> str:
    """Return the question that a prompt asks memory; empty for a command of the host."""
    prompt = _text_or_empty(payload.get("prompt")).strip()
    return "" if prompt.startswith(_HOST_COMMAND_PREFIXES) else _truncate(prompt, MAX_QUESTION_BYTES)


def _project_of(payload: dict[str, Any]) -> str:
    folder = _text_or_empty(payload.get("cwd"))
    return Path(folder).name[:MAX_PROJECT_NAME] if folder else ""


def _truncate(text: str, max_bytes: int) -> str:
    """Cut a text to a number of bytes, replacing characters that are not valid UTF-8."""
    return text.encode(errors="replace")[:max_bytes].decode(errors="ignore").strip()


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


DEFAULT_SECONDS = 1.5
BACKGROUND_SECONDS = 600.0
"""Time limit of a capture that continues in the background."""
MAX_CALL_BYTES = 8 << 20
MAX_DIRECT_BYTES = 1 << 20
"""Largest part of a transcript that a server captures while the host waits."""
SERVER_TIME_SHARE = 0.4
"""Share of the time limit that a server may use; the rest is enough to start a background process."""
CAPTURE_LOCK = "capturing"
MAX_OPEN_FILES = 64
"""File descriptors that the background process closes."""


class HookCall(NamedTuple):
    """One call by a host, for one vault."""

    event: HookEvent
    root: Path
    scope: str | None = None
    seconds: float = DEFAULT_SECONDS


def answer_hook(call: HookCall, read: Callable[[], bytes]) -> str:
    """Return the output for the host; empty if there is nothing to say or anything fails.

    Reading the call counts towards the time limit.
    """
    folder = HookState(call.root, os.environ)
    started_at = time.monotonic()

    def log(outcome: str) -> None:
        folder.log(f"{call.event} {outcome} {1000 * (time.monotonic() - started_at):.0f}ms")

    deadline = Deadline(call.seconds, lambda: log("took too long"))
    try:
        payload = json.loads(read() or b"{}")
        if not isinstance(payload, dict):
            raise ValueError("the call is not a JSON object")
        output, outcome = (_answer_context if call.event.wants_context else _capture_turns)(
            call, payload, folder, deadline
        )
    except Exception as error:  # noqa: BLE001 - the boundary to a host that must continue, whatever fails here
        output, outcome = "", f"failed: {type(error).__name__}"
    deadline.cancel()
    log(outcome)
    return output


def _answer_context(call: HookCall, payload: dict[str, Any], folder: HookState, deadline: Deadline) -> tuple[str, str]:
    is_start = call.event is HookEvent.SESSION_START
    topic = _project_of(payload) if is_start else read_question(payload)
    if not is_start and not topic:
        return "", "no question"
    try:
        context, route = _fetch_context(call, topic, ServerClient(folder.socket_path, deadline)), "served"
    except RequestDeclined as refused:
        return "", f"declined with {refused.status}"
    except ServerUnavailable:
        with folder.guard_slow_open() as is_allowed:
            if not is_allowed:
                return "", "no server"
            if is_start:
                context = direct_memory.session_start_context(call.root, call.scope, topic, START_BUDGET)
            else:
                context = direct_memory.recall_context(call.root, call.scope, topic, MAX_HITS, PROMPT_BUDGET)
            route = "opened"
    return (_format_output(call.event, context), route) if context else ("", f"{route}, nothing known")


def _fetch_context(call: HookCall, topic: str, client: ServerClient) -> str:
    """Return the context from the running server; ServerUnavailable if there is none for this scope."""
    if call.scope is not None:
        raise ServerUnavailable("a server answers for its own scope only")
    if call.event is HookEvent.SESSION_START:
        from urllib.parse import quote

        about = f"&about={quote(topic, errors='replace')}" if topic else ""
        response = client.get(f"/v1/context?budget={START_BUDGET}{about}")
        has_memories = response.get("known", True)
    else:
        response = client.post("/v1/recall", {"question": topic, "k": MAX_HITS, "budget": PROMPT_BUDGET})
        has_memories = response.get("known", bool(response.get("relevant")))
    return _text_or_empty(response.get("context")) if has_memories else ""


def _format_output(event: HookEvent, context: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event.claude_name, "additionalContext": context}})


def _capture_turns(call: HookCall, payload: dict[str, Any], folder: HookState, deadline: Deadline) -> tuple[str, str]:
    from lamina.hosts.transcript_capture import TranscriptCapture, capture_through_server

    transcript = TranscriptCapture(folder, payload)
    pending_bytes = transcript.pending_bytes()
    if not pending_bytes:
        return "", "nothing new"
    lock = folder.acquire_lock(CAPTURE_LOCK) if call.scope is None and pending_bytes <= MAX_DIRECT_BYTES else None
    if lock is not None:
        try:
            client = ServerClient(folder.socket_path, Timeout(deadline.seconds_left * SERVER_TIME_SHARE))
            return "", _format_outcome("served", transcript.capture_new_turns(partial(capture_through_server, client)))
        except (ServerUnavailable, RequestDeclined, TimeoutError):
            pass  # the background process has more time
        finally:
            os.close(lock)
    session_lock = folder.acquire_lock(f"next {transcript.session_id}")
    if session_lock is None:
        return "", "left to the process that already waits"
    if os.fork():
        os.close(session_lock)
        return "", "left to a background process"
    try:
        _detach_from_host(session_lock)
        _capture_in_background(call, transcript, folder, session_lock)
    finally:
        os._exit(0)


def _detach_from_host(session_lock: int) -> None:
    """Leave the host's process group and close every file descriptor but the lock."""
    os.setsid()
    null_device = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null_device, descriptor)
    for descriptor in range(3, MAX_OPEN_FILES):
        if descriptor != session_lock:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _capture_in_background(call: HookCall, transcript: TranscriptCapture, folder: HookState, session_lock: int) -> None:
    """Capture new turns, one process per vault at a time. Only one process per session waits: it reads everything."""
    started_at = time.monotonic()

    def log(outcome: str) -> None:
        folder.log(f"{call.event} afterwards: {outcome} {1000 * (time.monotonic() - started_at):.0f}ms")

    deadline = Deadline(BACKGROUND_SECONDS, lambda: log("took too long"))
    try:
        folder.acquire_lock(CAPTURE_LOCK, wait=True)
        os.close(session_lock)
        log(_capture_pending(call, transcript, ServerClient(folder.socket_path, deadline)))
    except Exception as error:  # noqa: BLE001 - a detached process has no caller to report to
        log(f"failed: {type(error).__name__}")


def _capture_pending(call: HookCall, transcript: TranscriptCapture, client: ServerClient) -> str:
    from lamina.hosts.transcript_capture import capture_through_server

    if call.scope is None:
        try:
            return _format_outcome("served", transcript.capture_new_turns(partial(capture_through_server, client)))
        except (ServerUnavailable, RequestDeclined, TimeoutError):
            pass
    capture_directly = partial(direct_memory.capture_turns, call.root, call.scope)
    return _format_outcome("opened", transcript.capture_new_turns(capture_directly))


def _format_outcome(route: str, turn_count: int) -> str:
    return f"{route}, {turn_count} turns" if turn_count else "nothing new"


def read_call_from_stdin() -> bytes:
    """Return what the host wrote to standard input; empty on a terminal."""
    return b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(MAX_CALL_BYTES)
