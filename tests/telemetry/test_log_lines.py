"""Log lines: one document each, with the request they belong to, and errors told without their messages."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
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


def test_what_is_too_fine_and_what_others_log_is_left_out(lines: Lines) -> None:
    logger.debug("fine")
    logging.getLogger("elsewhere").error("not ours")
    assert lines() == []


def test_lines_of_one_request_carry_its_id_in_every_thread_that_works_for_it(lines: Lines) -> None:
    with logs.request_context() as first:
        logger.info("asked")
        thread = threading.Thread(target=copy_context().run, args=(logger.info, "worked"))
        thread.start()
        thread.join()
    with logs.request_context("given"):
        logger.info("asked")
    logger.info("idle")
    assert [line.get("request") for line in lines()] == [first, first, "given", None]


def test_a_request_is_told_by_the_template_of_its_route(lines: Lines) -> None:
    with logs.request_context("r1"):
        logs.log_request("GET", "/v1/atoms/{id}", 200, 12.345, "ann")
    logs.log_request("GET", "-", 404, 0.21)
    first, second = lines()
    assert first["message"] == "GET /v1/atoms/{id} 200 12.3 ms ann"
    assert (first["logger"], first["request"], first["route"], first["status"], first["ms"], first["principal"]) == (
        "lamina.requests",
        "r1",
        "/v1/atoms/{id}",
        200,
        12.3,
        "ann",
    )
    assert second["message"] == "GET - 404 0.2 ms -" and second["principal"] is None


def test_an_error_is_told_by_name_place_and_cause_and_never_by_its_message(lines: Lines) -> None:
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


def test_errors_that_go_round_in_a_circle_are_told() -> None:
    one, two = ValueError("a"), KeyError("b")
    one.__cause__, two.__cause__ = two, one
    assert logs.summarise_error(one) == "ValueError, from KeyError"


def test_people_get_the_same_in_plain_lines() -> None:
    stream = io.StringIO()
    handler = logs.start_logging(stream)
    with logs.request_context("r1"):
        logger.warning("one\nline \x1b[31m only")
    logs.stop_logging(handler)
    assert stream.getvalue().endswith(" warning r1 one\\nline \\x1b[31m only\n")
    assert logging.getLogger("lamina").handlers == [] and logging.getLogger("lamina").propagate


@given(st.text(), st.booleans())
def test_whatever_stands_in_a_message_it_stays_one_line(text: str, as_json: bool) -> None:
    stream = io.StringIO()
    handler = logs.start_logging(stream, as_json=as_json)
    logger.warning("%s", text)
    logs.stop_logging(handler)
    assert stream.getvalue().count("\n") == 1 and "\r" not in stream.getvalue()
    if as_json:
        assert json.loads(stream.getvalue())["message"] == text
