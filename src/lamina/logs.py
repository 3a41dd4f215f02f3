"""Configure logging so that a log never contains user text: it says who did what, when, how long it took and which
error occurred.

Messages of errors are written for the caller and may quote the question, a file name or the output of a model. A log is
read by others, so it shows an error by its class, its place in the code and what the system reported.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from types import TracebackType
from typing import TextIO

ROOT_LOGGER = "lamina"

_MAX_ERRORS = 4


def summarise_error(error: BaseException) -> str:
    """Return an error without its message: its class, where it was raised, and the errors that caused it."""
    errors = [error, *_iterate_causes(error)][:_MAX_ERRORS]
    return ", from ".join(_name_error(item) for item in errors)


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
    """Formats a record as one JSON document per line: time, level, logger, message, and any error."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _format_record_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            line["error"] = summarise_error(error)
        return json.dumps(line, ensure_ascii=False)


class PlainLogFormatter(logging.Formatter):
    """Formats a record as one line of text for people; unprintable characters are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        parts = [_format_record_time(record), record.levelname.lower(), record.getMessage()]
        line = " ".join(parts) + (f" ({summarise_error(error)})" if error is not None else "")
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
