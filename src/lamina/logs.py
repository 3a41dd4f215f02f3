"""Configure logging so that a log never contains user text: it says who did what, when, how long it took and which
error occurred.

Messages of errors are written for the caller and may quote the question, a file name or the output of a model. A log is
read by others, so it shows an error by its class, its place in the code and what the system reported.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import PurePath
from types import TracebackType
from typing import TextIO

ROOT = "lamina"
REQUESTS = "lamina.requests"
"""The name of the logger of all of lamina, and of the logger of answered requests."""

_FACTS = "lamina_facts"
_DEEPEST = 4
_request: ContextVar[str] = ContextVar("lamina_request", default="")


def wordless(error: BaseException) -> str:
    """Return an error without its message: its class, where it was raised, and the errors that caused it."""
    errors = [error, *_causes(error)][:_DEEPEST]
    return ", from ".join(_named(item) for item in errors)


@contextmanager
def in_request(id: str | None = None) -> Iterator[str]:
    """Add the id of one request to every line that is logged meanwhile, also by threads that copy the context."""
    request_id = id or secrets.token_hex(8)
    token = _request.set(request_id)
    try:
        yield request_id
    finally:
        _request.reset(token)


def request_line(method: str, route: str, status: int, milliseconds: float, principal: str | None = None) -> None:
    """Log one answered request; `route` is the template that it matched, never the requested path."""
    logging.getLogger(REQUESTS).info(
        "%s %s %d %.1f ms %s",
        method,
        route,
        status,
        milliseconds,
        principal or "-",
        extra={
            _FACTS: {
                "method": method,
                "route": route,
                "status": status,
                "ms": round(milliseconds, 1),
                "principal": principal,
            }
        },
    )


def to_stream(stream: TextIO, *, as_json: bool = False, level: int = logging.INFO) -> logging.Handler:
    """Write lamina's log to a stream and nowhere else; pass the returned handler to `stop_logging` to end it."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if as_json else PlainLines())
    logger = logging.getLogger(ROOT)
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    return handler


def no_longer(handler: logging.Handler) -> None:
    """End what `start_logging` began."""
    logger = logging.getLogger(ROOT)
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


class JsonLines(logging.Formatter):
    """Formats a record as one JSON document per line: time, level, logger, message, and any request and error."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if _request.get():
            line["request"] = _request.get()
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            line["error"] = wordless(error)
        fields = getattr(record, _FACTS, None)
        return json.dumps(line | fields if isinstance(fields, dict) else line, ensure_ascii=False)


class PlainLines(logging.Formatter):
    """Formats a record as one line of text for people; unprintable characters are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        parts = [_time(record), record.levelname.lower(), _request.get(), record.getMessage()]
        line = " ".join(part for part in parts if part) + (f" ({wordless(error)})" if error is not None else "")
        return "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)


def _causes(error: BaseException) -> Iterator[BaseException]:
    visited = {id(error)}
    while (cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__)) is not None:
        if id(cause) in visited:
            return
        visited.add(id(cause))
        yield cause
        error = cause


def _named(error: BaseException) -> str:
    reason = f": {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else ""
    return f"{type(error).__name__}{_place(error.__traceback__)}{reason}"


def _place(trace: TracebackType | None) -> str:
    """Return where an error was raised, as folder and file name only: a full path may reveal a user name."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" at {'/'.join(PurePath(trace.tb_frame.f_code.co_filename).parts[-2:])}:{trace.tb_lineno}"


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
