"""Connections that say nothing, or too little, keep nobody else waiting."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from live import Live, live
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from lamina.http import connection_limits


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
    monkeypatch.setattr(connection_limits, "HEAD_SECONDS", 0.2)
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
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS", 5)
    with live(tmp_path) as server:
        token = server.token("owner")
        lines = [_silent(server, b"GET") for _ in range(5)]
        for _ in range(3):
            assert server.ask("GET", "/v1/top", token).status == 200
        assert _is_cut(lines[0])
        for line in lines:
            line.close()


@pytest.mark.parametrize("sort", ["a head that does not end", "a body that does not come"])
def test_a_thousand_who_say_nothing_stop_nobody(tmp_path: Path, sort: str) -> None:
    """How long others wait then is measured by `lamina bench load`."""
    connection_limits.raise_file_limit()
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 3000:
        pytest.skip("this machine lets a process open too few files")
    with live(tmp_path) as server:
        token = server.token("owner")
        words = b"GET /v1/top HTTP/1.1\r\nHost: x\r\n" if "head" in sort else _bodiless(server)
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as served:
            served.sendall(_feed(server, token))
            assert b"retry" in served.recv(4000) + served.recv(4000)
            lines = [_silent(server, words) for _ in range(1000)]
            assert [server.ask("GET", "/v1/top", token).status for _ in range(10)] == [200] * 10
            server.remember(token, "Told to who was listening before.")
            assert b"event: commit" in served.recv(4000)
        for line in lines:
            line.close()


def _bodiless(server: Live) -> bytes:
    """A request that anybody may make, and whose body does not come."""
    return f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 100\r\n\r\n".encode()


def _feed(server: Live, token: str) -> bytes:
    head = f"GET /v1/feed HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    return head.encode()


def test_whoever_sends_no_body_makes_way_and_whoever_is_answered_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS", 4)
    with live(tmp_path) as server:
        token = server.token("owner")
        with _silent(server, _feed(server, token)) as listening:
            assert listening.recv(4000).startswith(b"HTTP/1.1 200")
            lines = [_silent(server, _bodiless(server)) for _ in range(20)]
            assert [server.ask("GET", "/v1/top", token).status for _ in range(5)] == [200] * 5
            assert _is_cut(lines[0])
            server.remember(token, "Heard by who listens.")
            heard = b""
            while b"event: commit" not in heard:
                heard += listening.recv(4000)
        for line in lines:
            line.close()


def test_whoever_comes_when_everybody_is_being_answered_is_the_one_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "MAX_CONNECTIONS", 3)
    with live(tmp_path) as server:
        token = server.token("owner")
        listening = [_silent(server, _feed(server, token)) for _ in range(3)]
        for each in listening:
            assert each.recv(4000).startswith(b"HTTP/1.1 200")
        with _silent(server) as late:
            assert _is_cut(late)
        for each in listening:
            each.close()


def test_an_answer_that_nobody_reads_is_not_kept_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "READ_SECONDS", 0.2)
    given_up = threading.Event()

    async def endless(request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x" * 65536
                    await asyncio.sleep(0)
            finally:
                given_up.set()

        return StreamingResponse(pieces())

    with live(tmp_path) as server:
        server.app.router.routes.append(Route("/v1/endless", endless))
        head = f"GET /v1/endless HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token('a')}"
        with _silent(server, f"{head}\r\n\r\n".encode()):
            assert given_up.wait(20)


def test_a_process_that_may_open_few_files_takes_few_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        resource, "getrlimit", lambda which: (connection_limits.SPARE_FILES + 2, connection_limits.SPARE_FILES + 2)
    )
    with live(tmp_path) as server:
        token = server.token("owner")
        lines = [_silent(server, b"GET") for _ in range(3)]
        assert server.ask("GET", "/v1/top", token).status == 200
        assert _is_cut(lines[0])
        for line in lines:
            line.close()


def test_there_is_room_for_some_connections_whatever_the_limits() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        assert 1 <= connection_limits.raise_file_limit() <= connection_limits.MAX_CONNECTIONS
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= before[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
