"""Connections that say nothing, or too little, keep nobody else waiting."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from live_server import LiveServer, run_server
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from lamina.http.connection_limits import MAX_CONNECTIONS, SPARE_FILES, make_connection_class, raise_file_limit


def _silent(server: LiveServer, words: bytes = b"") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    line.sendall(words)
    return line


def _answer(line: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b'{"alive":true}'):
        data += line.recv(4000)
    return data


def _is_cut(line: socket.socket) -> bool:
    try:
        return line.recv(1000) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def impatient_server(tmp_path: Path) -> Iterator[LiveServer]:
    with run_server(tmp_path, connection_class=make_connection_class(MAX_CONNECTIONS, head_seconds=0.2)) as server:
        yield server


@pytest.mark.parametrize("words", [b"", b"GET /v1/health HT", b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: b\r\n"])
def test_a_head_that_never_arrives_times_out(impatient_server: LiveServer, words: bytes) -> None:
    with _silent(impatient_server, words) as line:
        assert _is_cut(line)


def _send_slowly(line: socket.socket, drop: bytes) -> bool:
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


def test_a_head_that_arrives_in_drops_is_cut_off(impatient_server: LiveServer) -> None:
    with _silent(impatient_server, b"GET /v1/health HTTP/1.1\r\n") as line:
        assert _send_slowly(line, b"X-A: b\r\n")


def test_a_second_request_has_the_same_time_limit_as_the_first(impatient_server: LiveServer) -> None:
    whole = f"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:{impatient_server.port}\r\n\r\n".encode()
    with _silent(impatient_server, whole) as line:
        assert _answer(line).startswith(b"HTTP/1.1 200")
        line.sendall(whole)
        assert _answer(line).startswith(b"HTTP/1.1 200")
        line.sendall(whole[:20])
        assert _is_cut(line)


def test_an_unread_body_closes_its_connection(impatient_server: LiveServer) -> None:
    head = (
        f"POST /v1/remember HTTP/1.1\r\nHost: 127.0.0.1:{impatient_server.port}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with _silent(impatient_server, head.encode()) as line:
        assert line.recv(4000).startswith(b"HTTP/1.1 401")
        assert _send_slowly(line, b"1\r\nx\r\n")


def test_the_longest_waiting_connection_is_closed_first(tmp_path: Path) -> None:
    with run_server(tmp_path, connection_class=make_connection_class(5)) as server:
        token = server.token("owner")
        lines = [_silent(server, b"GET") for _ in range(5)]
        for _ in range(3):
            assert server.ask("GET", "/v1/top", token).status == 200
        assert _is_cut(lines[0])
        for line in lines:
            line.close()


@pytest.mark.parametrize("sort", ["a head that does not end", "a body that does not come"])
def test_a_thousand_silent_connections_block_no_one(tmp_path: Path, sort: str) -> None:
    """How long others wait then is measured by `lamina bench load`."""
    raise_file_limit()
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 3000:
        pytest.skip("this machine lets a process open too few files")
    with run_server(tmp_path) as server:
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


def _bodiless(server: LiveServer) -> bytes:
    """A request that anybody may make, and whose body does not come."""
    return f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 100\r\n\r\n".encode()


def _feed(server: LiveServer, token: str) -> bytes:
    head = f"GET /v1/feed HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    return head.encode()


def test_a_connection_without_a_body_is_closed_and_one_being_answered_is_not(tmp_path: Path) -> None:
    with run_server(tmp_path, connection_class=make_connection_class(4)) as server:
        token = server.token("owner")
        with _silent(server, _feed(server, token)) as listening:
            assert listening.recv(4000).startswith(b"HTTP/1.1 200")
            lines = [_silent(server, _bodiless(server)) for _ in range(20)]
            assert [server.ask("GET", "/v1/top", token).status for _ in range(5)] == [200] * 5
            assert _is_cut(lines[0])
            server.remember(token, "Heard by who listens.")
            data = b""
            while b"event: commit" not in data:
                data += listening.recv(4000)
        for line in lines:
            line.close()


def test_a_new_connection_is_refused_while_all_others_are_being_answered(tmp_path: Path) -> None:
    with run_server(tmp_path, connection_class=make_connection_class(3)) as server:
        token = server.token("owner")
        listening = [_silent(server, _feed(server, token)) for _ in range(3)]
        for item in listening:
            assert item.recv(4000).startswith(b"HTTP/1.1 200")
        with _silent(server) as late:
            assert _is_cut(late)
        for item in listening:
            item.close()


def test_an_unread_response_is_not_kept_for_ever(tmp_path: Path) -> None:
    connection_class = make_connection_class(MAX_CONNECTIONS, read_seconds=0.2)
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

    with run_server(tmp_path, connection_class=connection_class) as server:
        server.app.router.routes.append(Route("/v1/endless", endless))
        head = f"GET /v1/endless HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token('a')}"
        with _silent(server, f"{head}\r\n\r\n".encode()):
            assert given_up.wait(20)


def test_a_process_with_few_file_descriptors_accepts_few_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (SPARE_FILES + 2, SPARE_FILES + 2))
    with run_server(tmp_path) as server:
        token = server.token("owner")
        lines = [_silent(server, b"GET") for _ in range(3)]
        assert server.ask("GET", "/v1/top", token).status == 200
        assert _is_cut(lines[0])
        for line in lines:
            line.close()


def test_some_connections_are_accepted_whatever_the_limits() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        assert 1 <= raise_file_limit() <= MAX_CONNECTIONS
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= before[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
