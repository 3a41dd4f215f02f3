"""Connections that say nothing, or too little, keep nobody else waiting."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from live import Live, live

from lamina.http import slow


def _silent(server: Live, words: bytes = b"") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    line.sendall(words)
    return line


def _answer(line: socket.socket) -> bytes:
    heard = b""
    while not heard.endswith(b'{"alive":true}'):
        heard += line.recv(4000)
    return heard


def _is_cut(line: socket.socket) -> bool:
    try:
        return line.recv(1000) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def hurried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    monkeypatch.setattr(slow, "HEAD_SECONDS", 0.2)
    with live(tmp_path) as server:
        yield server


@pytest.mark.parametrize("words", [b"", b"GET /v1/health HT", b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: b\r\n"])
def test_a_head_that_does_not_come_is_not_waited_for(hurried: Live, words: bytes) -> None:
    with _silent(hurried, words) as line:
        assert _is_cut(line)


def _dripped(line: socket.socket, drop: bytes) -> bool:
    """Say a little again and again; whether the other side had enough of it."""
    line.settimeout(0.01)
    while True:
        try:
            line.sendall(drop)
            if line.recv(1000) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:
            return True


def test_a_head_that_comes_in_drops_is_cut_off(hurried: Live) -> None:
    with _silent(hurried, b"GET /v1/health HTTP/1.1\r\n") as line:
        assert _dripped(line, b"X-A: b\r\n")


def test_a_second_request_has_the_same_time_as_the_first(hurried: Live) -> None:
    whole = f"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:{hurried.port}\r\n\r\n".encode()
    with _silent(hurried, whole) as line:
        assert _answer(line).startswith(b"HTTP/1.1 200")
        line.sendall(whole)
        assert _answer(line).startswith(b"HTTP/1.1 200")
        line.sendall(whole[:20])
        assert _is_cut(line)


def test_a_body_that_nobody_waits_for_does_not_keep_its_connection(hurried: Live) -> None:
    head = f"POST /v1/remember HTTP/1.1\r\nHost: 127.0.0.1:{hurried.port}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with _silent(hurried, head.encode()) as line:
        assert line.recv(4000).startswith(b"HTTP/1.1 401")
        assert _dripped(line, b"1\r\nx\r\n")


def test_whoever_has_waited_longest_makes_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow, "MOST_CONNECTIONS", 5)
    with live(tmp_path) as server:
        token = server.token("owner")
        lines = [_silent(server, b"GET") for _ in range(5)]
        for _ in range(3):
            assert server.ask("GET", "/v1/top", token).status == 200
        assert _is_cut(lines[0])
        for line in lines:
            line.close()


def test_a_thousand_who_say_nothing_stop_nobody(tmp_path: Path) -> None:
    """How long others wait then is measured by `lamina bench load`."""
    slow.raise_limits()
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 3000:
        pytest.skip("this machine lets a process open too few files")
    with live(tmp_path) as server:
        token = server.token("owner")
        lines = [_silent(server, b"GET /v1/top HTTP/1.1\r\nHost: x\r\n") for _ in range(1000)]
        assert [server.ask("GET", "/v1/top", token).status for _ in range(10)] == [200] * 10
        for line in lines:
            line.close()


def test_there_is_room_for_some_connections_whatever_the_limits() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        assert 1 <= slow.raise_limits() <= slow.MOST_CONNECTIONS
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= before[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
