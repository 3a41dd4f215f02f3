"""A host that sends what nobody can read, hangs up, goes away or wants us gone: nobody waits in vain."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mcp.types as types
import pytest
from mcp.types import jsonrpc_message_adapter

from lamina.mcp.host_connection import error_for_line
from lamina.memory import Memory

HELLO: list[Mapping[str, Any]] = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _call(id: int, name: str, **given: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": given}}


def _command(vault: Path) -> list[str]:
    return [sys.executable, "-m", "lamina", "mcp", "--vault", str(vault)]


def _lines(messages: list[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(message)}\n" for message in messages).encode()


def _said(vault: Path, said: bytes) -> list[dict[str, Any]]:
    """What a host hears that said this and hung up."""
    ran = subprocess.run(_command(vault), input=said, capture_output=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert b"Traceback" not in ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@contextmanager
def _process(vault: Path, stdout: int = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(_command(vault), stdin=pipe, stdout=stdout, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        ("this is no json", None, types.PARSE_ERROR),
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping"', None, types.PARSE_ERROR),
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "\\ud800"}}', 7, types.PARSE_ERROR),
        ('{"a":' * 5000 + "1" + "}" * 5000, None, types.PARSE_ERROR),
        ('[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', None, types.INVALID_REQUEST),
        ("[]", None, types.INVALID_REQUEST),
        ("5", None, types.INVALID_REQUEST),
        ('{"jsonrpc": "1.0", "id": "a", "method": "ping"}', "a", types.INVALID_REQUEST),
        ('{"jsonrpc": "2.0", "id": 7, "method": 8}', 7, types.INVALID_REQUEST),
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": 8}', 7, types.INVALID_REQUEST),
    ],
)
def test_what_cannot_be_read_is_complained_about_to_whom_it_is_from(line: str, id: object, code: int) -> None:
    complaint = error_for_line(_fault(line))
    assert complaint is not None
    assert (complaint.id, complaint.error.code) == (id, code)
    assert "nothing was done" in complaint.error.message


@pytest.mark.parametrize(
    "line", ["", "  \n", '{"jsonrpc": "1.0", "method": "notifications/initialized"}', '{"jsonrpc": "1.0", "result": 1}']
)
def test_where_nobody_waits_for_an_answer_there_is_none(line: str) -> None:
    assert error_for_line(_fault(line)) is None


def _fault(line: str) -> Exception:
    with pytest.raises(ValueError) as caught:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


def test_a_line_that_cannot_be_read_is_answered_and_the_next_one_too(tmp_path: Path) -> None:
    said = _lines(HELLO) + b"what?\n\n\xff\n[]\n" + _lines([{"jsonrpc": "2.0", "id": 2, "method": "ping"}])
    heard = _said(tmp_path / "vault", said)
    assert [each["id"] for each in heard] == [1, None, None, None, 2]
    assert [each["error"]["code"] for each in heard[1:4]] == [-32700, -32700, -32600]


def test_what_was_asked_before_input_ended_is_answered(tmp_path: Path) -> None:
    calls = [_call(n, "remember", content=f"Box {n} is full.") for n in range(2, 6)]
    heard = _said(tmp_path / "vault", _lines([*HELLO, *calls]))
    assert sorted(each["id"] for each in heard) == [1, 2, 3, 4, 5]
    assert not any(each["result"].get("isError") for each in heard)
    with Memory(tmp_path / "vault", watch=False) as memory:
        assert len(memory.list()) == 4


def test_what_was_called_off_or_never_ends_does_not_hold_the_end_up(tmp_path: Path) -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    assert _said(tmp_path / "a", _lines([*HELLO, _call(2, "status"), cancelled]))[0]["id"] == 1
    wanted = {"notifications": {"resourceSubscriptions": ["memory://journal"]}, "_meta": MODERN}
    listen = {"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": wanted}
    _said(tmp_path / "b", _lines([listen]))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("wanted", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_peace_though_input_is_open(tmp_path: Path, wanted: signal.Signals) -> None:
    with _process(tmp_path / "vault") as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(_lines([*HELLO, _call(2, "remember", content="The lock is new.")]))
        process.stdin.flush()
        assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [1, 2]
        process.send_signal(wanted)
        assert process.wait(60) == 0
        assert b"Traceback" not in process.stderr.read()
    with Memory(tmp_path / "vault", watch=False) as memory:
        assert not memory.doctor(deep=True).faults


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_host_that_no_longer_listens_ends_it_without_a_fuss(tmp_path: Path) -> None:
    nobody, ours = os.pipe()
    with _process(tmp_path / "vault", ours) as process:
        os.close(ours)
        os.close(nobody)
        assert process.stdin and process.stderr
        process.stdin.write(_lines([*HELLO, _call(2, "remember", content="The lock is new.")]))
        process.stdin.close()
        assert process.wait(60) == 0
        assert b"Traceback" not in process.stderr.read()
