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

import lamina
from lamina.mcp.stdio_transport import error_for_line

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


def _call(id: int, name: str, **fields: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": fields}}


def _command(vault: Path) -> list[str]:
    return [sys.executable, "-m", "lamina", "mcp", "--vault", str(vault)]


def _lines(messages: list[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(message)}\n" for message in messages).encode()


def _run_host(vault: Path, lines: bytes) -> list[dict[str, Any]]:
    """What a host hears that said this and hung up."""
    result = subprocess.run(_command(vault), input=lines, capture_output=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert b"Traceback" not in result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


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
def test_an_unparsable_message_is_answered_with_an_error_to_its_id(line: str, id: object, code: int) -> None:
    complaint = error_for_line(_fault(line))
    assert complaint is not None
    assert (complaint.id, complaint.error.code) == (id, code)
    assert "nothing was done" in complaint.error.message


@pytest.mark.parametrize(
    "line", ["", "  \n", '{"jsonrpc": "1.0", "method": "notifications/initialized"}', '{"jsonrpc": "1.0", "result": 1}']
)
def test_a_notification_gets_no_answer(line: str) -> None:
    assert error_for_line(_fault(line)) is None


def _fault(line: str) -> Exception:
    with pytest.raises(ValueError) as caught:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return caught.value


def test_an_unparsable_line_is_answered_and_the_next_one_too(tmp_path: Path) -> None:
    data = _lines(HELLO) + b"what?\n\n\xff\n[]\n" + _lines([{"jsonrpc": "2.0", "id": 2, "method": "ping"}])
    received = _run_host(tmp_path / "vault", data)
    assert [item["id"] for item in received] == [1, None, None, None, 2]
    assert [item["error"]["code"] for item in received[1:4]] == [-32700, -32700, -32600]


def test_requests_received_before_the_end_of_input_are_answered(tmp_path: Path) -> None:
    calls = [_call(n, "remember", content=f"Box {n} is full.") for n in range(2, 6)]
    received = _run_host(tmp_path / "vault", _lines([*HELLO, *calls]))
    assert sorted(item["id"] for item in received) == [1, 2, 3, 4, 5]
    assert not any(item["result"].get("isError") for item in received)
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        assert len(memory.list()) == 4


def test_cancelled_and_endless_requests_do_not_delay_the_shutdown(tmp_path: Path) -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    assert _run_host(tmp_path / "a", _lines([*HELLO, _call(2, "status"), cancelled]))[0]["id"] == 1
    wanted = {"notifications": {"resourceSubscriptions": ["memory://journal"]}, "_meta": MODERN}
    listen = {"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": wanted}
    _run_host(tmp_path / "b", _lines([listen]))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("wanted", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_shuts_it_down_while_input_is_open(tmp_path: Path, wanted: signal.Signals) -> None:
    with _process(tmp_path / "vault") as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(_lines([*HELLO, _call(2, "remember", content="The lock is new.")]))
        process.stdin.flush()
        assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [1, 2]
        process.send_signal(wanted)
        assert process.wait(60) == 0
        assert b"Traceback" not in process.stderr.read()
    with lamina.open(tmp_path / "vault", watch=False) as memory:
        assert not memory.upkeep.doctor(deep=True).faults


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
def test_a_closed_host_shuts_it_down_without_an_error(tmp_path: Path) -> None:
    nobody, ours = os.pipe()
    with _process(tmp_path / "vault", ours) as process:
        os.close(ours)
        os.close(nobody)
        assert process.stdin and process.stderr
        process.stdin.write(_lines([*HELLO, _call(2, "remember", content="The lock is new.")]))
        process.stdin.close()
        assert process.wait(60) == 0
        assert b"Traceback" not in process.stderr.read()
