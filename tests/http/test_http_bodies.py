"""Bodies that are too long, too slow, broken or built to hurt are turned away with a problem, never with a crash."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live_server import LiveServer, run_server

from lamina.access import RateLimits, Right
from lamina.http.operation_policies import OPERATION_POLICIES, OperationPolicy
from lamina.http.security_middleware import MAX_SLOW_REQUESTS
from lamina.http.thread_limit import MAX_THREADS

MIB = 1024 * 1024


def _head(server: LiveServer, token: str, path: str, *more: str) -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        *more,
        "",
        "",
    ]
    return "\r\n".join(lines).encode()


def _status(data: bytes) -> int:
    return int(data.split(b" ", 2)[1])


def test_a_body_may_have_one_mebibyte_and_no_byte_more(server: LiveServer, owner: str) -> None:
    frame = len(json.dumps({"text": ""}))
    long = json.dumps({"text": "word " * (MIB // 5)}).encode()
    fits = json.dumps({"text": "a" * (MIB - frame)}).encode()
    assert len(fits) == MIB
    assert server.ask("POST", "/v1/remember", owner, fits).status == 422
    reply = server.ask("POST", "/v1/capture", owner, long + b" " * (MIB + 1 - len(long)))
    assert reply.status == 413
    assert reply.data["limit"] == MIB


def test_a_sender_of_too_much_still_receives_the_reason(server: LiveServer, owner: str) -> None:
    for _ in range(20):
        assert server.ask("POST", "/v1/capture", owner, b" " * (3 * MIB)).status == 413


def test_a_chunked_body_is_measured_as_it_arrives(server: LiveServer, owner: str) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as line:
        line.sendall(_head(server, owner, "/v1/capture", "Transfer-Encoding: chunked"))
        piece = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        data = b""
        for _ in range(40):
            try:
                line.sendall(piece)
            except OSError:
                break
        try:
            while got := line.recv(65536):
                data += got
        except ConnectionResetError:
            pass
    assert not data or _status(data) == 413


def test_a_chunked_body_within_the_limit_is_accepted(server: LiveServer, owner: str) -> None:
    text = json.dumps({"content": "Bo repairs clocks."}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (1, text[n : n + 1]) for n in range(len(text))) + b"0\r\n\r\n"
    head = _head(server, owner, "/v1/remember", "Transfer-Encoding: chunked", "Connection: close")
    assert _status(server.raw(head + chunks)) == 200


@pytest.mark.parametrize("length", ["99999999999999999999", "-1", "1e3", "0x10", "1048577"])
def test_an_invalid_content_length_is_refused(server: LiveServer, owner: str, length: str) -> None:
    data = server.raw(_head(server, owner, "/v1/remember", f"Content-Length: {length}", "Connection: close"))
    assert _status(data) in (400, 413)


def test_a_body_that_never_arrives_times_out(tmp_path: Path) -> None:
    with run_server(tmp_path, body_seconds=0.2) as server:
        head = _head(server, server.token("owner"), "/v1/remember", "Content-Length: 100")
        data = server.raw(head + b'{"content"')
    assert _status(data) == 408
    assert b"connection: close" in data.lower()


def test_a_body_without_a_token_is_not_read(server: LiveServer) -> None:
    """The answer comes though the body does not."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as line:
        line.sendall(_head(server, "lam_x", "/v1/remember", "Content-Length: 1000000"))
        assert _status(line.recv(4096)) == 401


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])
def test_a_write_must_be_json(server: LiveServer, owner: str, kind: str) -> None:
    before = len(server.handled)
    reply = server.ask("POST", "/v1/remember", owner, b'{"content": "x"}', {"Content-Type": kind})
    assert reply.status == 415
    assert len(server.handled) == before


def test_json_may_declare_its_charset(server: LiveServer, owner: str) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert server.ask("POST", "/v1/remember", owner, b'{"content": "Cy sails."}', headers).status == 200


BROKEN = {
    "empty": b"",
    "no json": b"{",
    "a word": b"content",
    "two": b"{}{}",
    "not utf-8": b'{"content": "\xff\xfe"}',
    "deep lists": b"[" * 200_000,
    "deep lists that end": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a list": b'[{"content": "x"}]',
    "null": b"null",
    "a number": b"1",
    "huge number": b'{"content": "x", "confidence": ' + b"9" * 100_000 + b"}",
    "huge exponent": b'{"content": "x", "confidence": 1e999}',
    "not a number": b'{"content": "x", "confidence": NaN}',
    "infinite": b'{"content": "x", "importance": Infinity}',
    "minus": b'{"content": "x", "confidence": -0.1}',
    "nul": b'{"content": "a\\u0000b"}',
    "lone surrogate": b'{"content": "a\\ud800b"}',
    "lone surrogate key": b'{"content": "a", "\\udfff": 1}',
    "lone surrogate in a list": b'{"content": "a", "tags": ["\\udc00"]}',
    "nothing in it": b'{"content": ""}',
    "blank": b'{"content": "  \\n "}',
    "unknown field": b'{"content": "x", "trust": 1}',
    "origin of ours": b'{"content": "x", "origin": "dream"}',
    "id": b'{"content": "x", "id": "01jc9x2k7m3f5r8t0v2w4y6z8a"}',
    "scope": b'{"content": "x", "scope": "org:other"}',
    "a bad day": b'{"content": "x", "valid_from": "2026-13-45"}',
    "year zero": b'{"content": "x", "valid_from": "0000-01-01"}',
    "long label": b'{"content": "x", "subject": "' + b"s" * 501 + b'"}',
    "too many tags": json.dumps({"content": "x", "tags": ["t"] * 101}).encode(),
    "long fact": json.dumps({"content": "ä" * (33 * 1024)}).encode(),
    "kind with a path": b'{"content": "x", "kind": "../../etc"}',
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_body_is_a_problem_and_changes_nothing(server: LiveServer, owner: str, data: bytes) -> None:
    before = server.house.memory.journal()
    reply = server.ask("POST", "/v1/remember", owner, data)
    assert reply.status in (400, 422), reply.body
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.data["type"].startswith("urn:lamina:error:")
    assert b"Traceback" not in reply.body
    assert server.house.memory.journal() == before


def test_the_body_is_not_repeated_in_the_problem(server: LiveServer, owner: str) -> None:
    reply = server.ask("POST", "/v1/remember", owner, {"content": ["SENTINEL-IN"], "kind": "SENTINEL IN"})
    assert reply.status == 422
    assert b"SENTINEL" not in reply.body
    assert {error["at"] for error in reply.data["errors"]} == {"body.content", "body.kind"}


@pytest.mark.parametrize(
    "query",
    ["q=" + "x" * 4097, "q=" + "%C3%A4" * 2049, "q=a&k=101", "q=a&k=0", "q=a&k=1e1", "k=3", "q=", "q=a&q=b", "q=a&x=1"],
)
def test_a_query_has_limits(server: LiveServer, owner: str, query: str) -> None:
    assert server.ask("GET", f"/v1/recall?{query}", owner).status == 422


def test_a_query_may_have_four_kibibytes(server: LiveServer, owner: str) -> None:
    assert server.ask("GET", "/v1/recall?q=" + "x" * 4096, owner).status == 200
    assert server.ask("POST", "/v1/recall", owner, {"question": "ä" * 2048}).status == 200


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=20),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(["content", "kind", "tags", "metadata", "valid_from", "x"]), _JSON))
def test_no_json_breaks_the_server(server: LiveServer, owner: str, body: dict[str, object]) -> None:
    reply = server.ask("POST", "/v1/remember", owner, json.dumps(body).encode())
    assert reply.status in (200, 400, 422)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_no_bytes_break_the_server(server: LiveServer, owner: str, body: bytes) -> None:
    assert server.ask("POST", "/v1/recall", owner, body).status in (200, 400, 422)


@pytest.mark.parametrize(
    "result",
    [b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100, b"GET / HTTP/1.1\r\n\r\n"],
)
def test_invalid_http_gets_a_problem(server: LiveServer, result: bytes) -> None:
    data = server.raw(result + b"\r\n\r\n")
    assert _status(data) in (400, 403)
    assert b"urn:lamina:error:" in data
    assert b"x-content-type-options: nosniff" in data


@pytest.mark.parametrize(
    "id",
    [
        "..%2f..%2fetc%2fpasswd",
        "%00abcd",
        "a" * 65,
        "abc",
        "%F0%9F%92%A9abcd",
        "%ED%A0%80abcd",
        "CON.txt",
        "%2e%2e%2e%2e",
        "abcd%0d%0aX-Evil:1",
        "01jc9x2k7m3f5r8t0v2w4y6z8a",
    ],
)
def test_an_invalid_id_is_not_found(server: LiveServer, owner: str, id: str) -> None:
    reply = server.ask("GET", f"/v1/atoms/{id}", owner)
    assert reply.status in (404, 422) or (reply.status == 400 and ("%00" in id or "%0d" in id))
    assert "x-evil" not in reply.headers


def test_too_many_requests_are_rate_limited(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with run_server(tmp_path, budgets=RateLimits(reads=3, writes=2)) as server:
        token, other = server.token("busy"), server.token("calm")
        reads = [server.ask("GET", "/v1/top", token) for _ in range(4)]
        writes = [server.ask("POST", "/v1/remember", token, {"content": f"Number {n}."}) for n in range(3)]
        assert [read.status for read in reads] == [200, 200, 200, 429]
        assert [write.status for write in writes] == [200, 200, 429]
        assert 1 <= int(reads[-1].headers["retry-after"]) <= 60
        assert reads[-1].data["seconds"] == int(reads[-1].headers["retry-after"])
        assert server.ask("GET", "/v1/top", other).status == 200
        assert server.ask("GET", "/v1/health").status == 200
        assert server.ask("GET", "/v1/health", token).status == 429
        assert len(server.house.memory.list(status=None)) == 2
    result = [record.getMessage() for record in caplog.records if record.name == "lamina.http"]
    assert result == [f"busy exceeded the limit of {kind} per minute" for kind in ("reads", "writes")]


def test_a_request_over_the_time_limit_is_answered_and_still_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OPERATION_POLICIES, "pin", OperationPolicy(Right.WRITE, is_write=True, timeout_seconds=0.2))
    with run_server(tmp_path) as server:
        token, memory = server.token("slow"), server.house.memory
        id = server.remember(token, "Dee keeps bees.")
        headers = {"Idempotency-Key": "pin-once"}
        with memory.engine.store.lock:
            late = server.ask("POST", f"/v1/atoms/{id}/pin", token, {}, headers)
            busy = server.ask("POST", f"/v1/atoms/{id}/pin", token, {}, headers)
        assert (late.status, late.data["type"]) == (504, "urn:lamina:error:TookTooLong")
        assert (busy.status, busy.data["type"]) == (409, "urn:lamina:error:StillAtWork")
        while (again := server.ask("POST", f"/v1/atoms/{id}/pin", token, {}, headers)).status == 409:
            pass
        assert (again.status, again.headers["idempotency-replayed"]) == (200, "true")
        assert sum(entry.verb == "pin" for entry in memory.journal()) == 1


def test_a_caller_of_long_work_leaves_threads_to_others(fresh: LiveServer) -> None:
    token, result = fresh.token("owner"), 2 * MAX_THREADS
    with ThreadPoolExecutor(result) as threads:
        with fresh.house.memory.engine.store.lock:
            long = [threads.submit(fresh.ask, "POST", "/v1/rebuild", token, {}) for _ in range(result)]
            while len(fresh.handled) < MAX_SLOW_REQUESTS:
                pass
            assert fresh.ask("GET", "/v1/health").status == 200
        assert [item.result().status for item in long] == [200] * result


@pytest.mark.parametrize("when", ["0001-01-01", "9999-12-31", "9999-12-31T23:59:59.999Z"])
@pytest.mark.parametrize("text", ["I moved to Ghent yesterday.", "Two weeks ago I left.", "We meet next Friday."])
def test_extreme_dates_are_accepted(server: LiveServer, owner: str, when: str, text: str) -> None:
    turns = [{"content": text, "at": when}]
    reply = server.ask("POST", "/v1/capture", owner, {"turns": turns, "observed_at": when, "wait": True})
    assert reply.status == 200, reply.body
    for field in ("as_of", "known_at"):
        assert server.ask("GET", f"/v1/recall?q=who+moved&{field}={when}", owner).status == 200
