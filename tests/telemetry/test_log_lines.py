"""Log lines: one document each, and errors told without their messages."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina import logs
from lamina.errors import StoreError

logger = logging.getLogger("lamina.somewhere")

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines() -> Iterator[Lines]:
    stream = io.StringIO()
    handler = logs.start_logging(stream, as_json=True)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logs.stop_logging(handler)


def test_a_line_is_a_document_with_time_level_logger_and_message(lines: Lines) -> None:
    logger.warning("%d files wait", 3)
    (line,) = lines()
    assert line.pop("time").endswith("Z")
    assert line == {"level": "warning", "logger": "lamina.somewhere", "message": "3 files wait"}


def test_debug_lines_and_foreign_loggers_are_left_out(lines: Lines) -> None:
    logger.debug("fine")
    logging.getLogger("elsewhere").error("not ours")
    assert lines() == []


def test_an_error_is_logged_by_name_place_and_cause_and_never_by_its_message(lines: Lines) -> None:
    try:
        try:
            raise OSError(28, "no room for Vexlomquo", "Vexlomquo.md")
        except OSError as error:
            raise StoreError("the disk failed: Vexlomquo") from error
    except StoreError:
        logger.exception("it failed")
    (line,) = lines()
    first, second = line["error"].split(", from ")
    assert first.startswith("StoreError at telemetry/test_log_lines.py:")
    assert second.startswith("OSError at telemetry/test_log_lines.py:")
    assert second.endswith(": No space left on device")
    assert "Vexlomquo" not in json.dumps(line)


def test_a_cycle_of_causes_is_logged() -> None:
    one, two = ValueError("a"), KeyError("b")
    one.__cause__, two.__cause__ = two, one
    assert logs.summarise_error(one) == "ValueError, from KeyError"


def test_the_plain_format_has_the_same_fields() -> None:
    stream = io.StringIO()
    handler = logs.start_logging(stream)
    logger.warning("one\nline \x1b[31m only")
    logs.stop_logging(handler)
    assert stream.getvalue().endswith(" warning one\\nline \\x1b[31m only\n")
    assert logging.getLogger("lamina").handlers == [] and logging.getLogger("lamina").propagate


@given(st.text(), st.booleans())
def test_any_message_stays_on_one_line(text: str, as_json: bool) -> None:
    stream = io.StringIO()
    handler = logs.start_logging(stream, as_json=as_json)
    logger.warning("%s", text)
    logs.stop_logging(handler)
    assert stream.getvalue().count("\n") == 1 and "\r" not in stream.getvalue()
    if as_json:
        assert json.loads(stream.getvalue())["message"] == text
