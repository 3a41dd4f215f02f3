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

ROOT_LOGGER = "lamina"
REQUEST_LOGGER = "lamina.requests"
"""The name of the logger of all of lamina, and of the logger of answered requests."""

_EXTRA_FIELDS = "lamina_facts"
_MAX_ERRORS = 4
_request_id: ContextVar[str] = ContextVar("lamina_request", default="")


def summarise_error(error: BaseException) -> str:
    """Return an error without its message: its class, where it was raised, and the errors that caused it."""
    errors = [error, *_iterate_causes(error)][:_MAX_ERRORS]
    return ", from ".join(_name_error(item) for item in errors)


@contextmanager
def request_context(id: str | None = None) -> Iterator[str]:
    """Add the id of one request to every line that is logged meanwhile, also by threads that copy the context."""
    request_id = id or secrets.token_hex(8)
    token = _request_id.set(request_id)
    try:
        yield request_id
    finally:
        _request_id.reset(token)


def log_request(method: str, route: str, status: int, milliseconds: float, principal: str | None = None) -> None:
    """Log one answered request; `route` is the template that it matched, never the requested path."""
    logging.getLogger(REQUEST_LOGGER).info(
        "%s %s %d %.1f ms %s",
        method,
        route,
        status,
        milliseconds,
        principal or "-",
        extra={
            _EXTRA_FIELDS: {
                "method": method,
                "route": route,
                "status": status,
                "ms": round(milliseconds, 1),
                "principal": principal,
            }
        },
    )


def start_logging(stream: TextIO, *, as_json: bool = False, level: int = logging.INFO) -> logging.Handler:
    """Write lamina's log to a stream and nowhere else; pass the returned handler to `stop_logging` to end it."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLogFormatter() if as_json else PlainLogFormatter())
    logger = logging.getLogger(ROOT_LOGGER)
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    return handler


def stop_logging(handler: logging.Handler) -> None:
    """End what `start_logging` began."""
    logger = logging.getLogger(ROOT_LOGGER)
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


class JsonLogFormatter(logging.Formatter):
    """Formats a record as one JSON document per line: time, level, logger, message, and any request and error."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _format_record_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if _request_id.get():
            line["request"] = _request_id.get()
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            line["error"] = summarise_error(error)
        fields = getattr(record, _EXTRA_FIELDS, None)
        return json.dumps(line | fields if isinstance(fields, dict) else line, ensure_ascii=False)


class PlainLogFormatter(logging.Formatter):
    """Formats a record as one line of text for people; unprintable characters are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        parts = [_format_record_time(record), record.levelname.lower(), _request_id.get(), record.getMessage()]
        line = " ".join(part for part in parts if part) + (f" ({summarise_error(error)})" if error is not None else "")
        return "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)


def _iterate_causes(error: BaseException) -> Iterator[BaseException]:
    visited = {id(error)}
    while (cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__)) is not None:
        if id(cause) in visited:
            return
        visited.add(id(cause))
        yield cause
        error = cause


def _name_error(error: BaseException) -> str:
    reason = f": {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else ""
    return f"{type(error).__name__}{_code_location(error.__traceback__)}{reason}"


def _code_location(trace: TracebackType | None) -> str:
    """Return where an error was raised, as folder and file name only: a full path may reveal a user name."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" at {'/'.join(PurePath(trace.tb_frame.f_code.co_filename).parts[-2:])}:{trace.tb_lineno}"


def _format_record_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
