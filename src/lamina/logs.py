"""What may stand in a log: who did what, when, how long it took and what kind of error it met; never what was said.

Messages of errors are written for whoever called, and quote what they gave: their question, a file named after a
person, the words of a model. A log is read by others, so an error is told in it by its name, its place in the code and
what the system said.
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
"""Loggers: of everything, and of what a server was asked."""

_FACTS = "lamina_facts"
_DEEPEST = 4
_request: ContextVar[str] = ContextVar("lamina_request", default="")


def wordless(error: BaseException) -> str:
    """An error without its message: its name, where it was raised, and the errors it came from."""
    chain = [error, *_causes(error)][:_DEEPEST]
    return ", from ".join(_named(each) for each in chain)


@contextmanager
def in_request(id: str | None = None) -> Iterator[str]:
    """Let every line written meanwhile, in threads that take over the context too, carry the id of one request."""
    name = id or secrets.token_hex(8)
    before = _request.set(name)
    try:
        yield name
    finally:
        _request.reset(before)


def request_line(method: str, route: str, status: int, milliseconds: float, principal: str | None = None) -> None:
    """Log one request that was answered; `route` is the template it matched, never the path that was asked for."""
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
    """Write what lamina logs to a stream, and nowhere else; give the handler to `no_longer` to end it."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if as_json else PlainLines())
    logger = logging.getLogger(ROOT)
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    return handler


def no_longer(handler: logging.Handler) -> None:
    """End what `to_stream` began."""
    logger = logging.getLogger(ROOT)
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


class JsonLines(logging.Formatter):
    """One JSON document a line: time, level, logger, message, and the request and error where there are any."""

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
        facts = getattr(record, _FACTS, None)
        return json.dumps(line | facts if isinstance(facts, dict) else line, ensure_ascii=False)


class PlainLines(logging.Formatter):
    """The same for people: one line each, whatever stands in it."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        parts = [_time(record), record.levelname.lower(), _request.get(), record.getMessage()]
        line = " ".join(part for part in parts if part) + (f" ({wordless(error)})" if error is not None else "")
        return "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen = {id(error)}
    while (before := error.__cause__ or (None if error.__suppress_context__ else error.__context__)) is not None:
        if id(before) in seen:
            return
        seen.add(id(before))
        yield before
        error = before


def _named(error: BaseException) -> str:
    reason = f": {os.strerror(error.errno)}" if isinstance(error, OSError) and error.errno else ""
    return f"{type(error).__name__}{_place(error.__traceback__)}{reason}"


def _place(trace: TracebackType | None) -> str:
    """Where an error was raised: the file's name and its folder's, for paths of a machine are nobody's business."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" at {'/'.join(PurePath(trace.tb_frame.f_code.co_filename).parts[-2:])}:{trace.tb_lineno}"


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
