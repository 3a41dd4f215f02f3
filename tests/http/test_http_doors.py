"""Nobody gets past the gate who should not: whatever they ask for, and before anything of ours runs."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from logging.handlers import QueueHandler
from queue import Queue

import pytest
from fastapi import FastAPI
from live import Live
from starlette.routing import Route

from lamina.access import Right
from lamina.atom.trust import Origin
from lamina.http.app import make_api
from lamina.http.request_head import RequestHead
from lamina.http.route_rights import OPERATION_POLICIES, build_rules, list_api_routes, operation_name

SOME_ID = "01jc9x2k7m3f5r8t0v2w4y6z8a"
WRONG = "lam_" + "A" * 43
OTHER_METHODS = ("OPTIONS", "HEAD", "PUT", "PATCH", "DELETE")
ELSEWHERE = (
    ("GET", "/"),
    ("GET", "/nothing/here"),
    ("POST", "/nothing/here"),
    ("GET", "/v1"),
    ("GET", "/v1/nothing"),
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("GET", "/mcp/deeper"),
    ("POST", "/logout"),
    ("GET", "/inbox"),
    ("POST", "/inbox/decide"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/v1/../metrics"),
    ("GET", "/%2e%2e/etc/passwd"),
)
HOSTS = (
    "",
    "evil.example",
    "evil.example:{port}",
    "localhost.evil.example:{port}",
    "127.0.0.1.evil.example:{port}",
    "localhost.:{port}",
    "127.0.0.1.:{port}",
    "localhost",
    "127.0.0.1",
    "localhost:1",
    "127.0.0.1:1",
    "127.0.0.1:{port}0",
    "127.0.0.2:{port}",
    "0.0.0.0:{port}",
    "[::]:{port}",
    "::1:{port}",
    "[::1]",
    "[::ffff:127.0.0.1]:{port}",
    "2130706433:{port}",
    "0x7f000001:{port}",
    "127.1:{port}",
    "user@localhost:{port}",
    "localhost:{port}:{port}",
    "localhost:{port}/",
    "localhost:{port}#",
    "http://localhost:{port}",
    "localhost:{port}, evil.example",
    "ⅼocalhost:{port}".encode().decode("latin-1"),
    "loc\xaealhost:{port}",
    "localhost\t:{port}",
    "null",
)
ORIGINS = (
    "null",
    "http://evil.example",
    "https://evil.example:{port}",
    "http://localhost.evil.example:{port}",
    "http://localhost",
    "http://localhost:1",
    "http://127.0.0.1",
    "https://127.0.0.1:{port}",
    "https://localhost:{port}",
    "http://localhost.:{port}",
    "http://127.0.0.1:{port}.evil.example",
    "http://127.0.0.1:{port}/",
    "file://",
    "",
    "ws://127.0.0.1:{port}",
    "chrome-extension://abcdefgh",
    "http://[::1]",
    "http://user@127.0.0.1:{port}",
    "http://127.0.0.1:{port} http://evil.example",
    "localhost:{port}",
    "data:",
    "about:blank",
)


@dataclass(frozen=True)
class Operation:
    verb: str
    method: str
    path: str

    def __str__(self) -> str:
        return self.verb


def _operations(app: FastAPI) -> list[Operation]:
    return [
        Operation(operation_name(route), method, route.path.format(id=SOME_ID, workstream="release"))
        for route in list_api_routes(app)
        for method in sorted(route.methods or ())
    ]


@pytest.fixture(scope="module")
def operations(server: Live) -> list[Operation]:
    found = _operations(server.app)
    assert len(found) == len(OPERATION_POLICIES)
    return found


@pytest.fixture(scope="module")
def closed(server: Live) -> dict[str, str]:
    """Secrets that open nothing."""
    revoked = server.token("revoked")
    server.house.tokens.revoke("revoked")
    _, expired = server.house.tokens.create("expired", "org:local", Right.ADMIN, Origin.HUMAN, days=1e-8)
    while server.house.tokens.authenticate(expired) is not None:
        pass
    return {"wrong": WRONG, "revoked": revoked, "expired": expired, "no token at all": "x", "blank": " "}


def _unhandled(server: Live) -> int:
    return len(server.handled)


def test_every_operation_has_a_right_in_the_table_and_every_right_an_operation(server: Live) -> None:
    assert {operation_name(route) for route in list_api_routes(server.app)} == set(OPERATION_POLICIES)


def test_an_operation_without_a_right_cannot_be_served(server: Live) -> None:
    app = make_api(server.house)
    app.add_api_route("/v1/secrets", lambda: "all of them", operation_id="secrets")
    with pytest.raises(KeyError, match="secrets"):
        build_rules(app)


def test_without_a_token_nothing_is_answered(server: Live, operations: list[Operation]) -> None:
    before = _unhandled(server)
    for operation in operations:
        if operation.verb == "health":
            continue
        for method in (operation.method, *OTHER_METHODS):
            reply = server.ask(method, operation.path, body={} if method == "POST" else None)
            assert reply.status == 401, (operation, method)
            assert reply.headers["www-authenticate"] == 'Bearer realm="lamina"'
    for method, path in ELSEWHERE:
        assert server.ask(method, path).status == 401, (method, path)
    assert _unhandled(server) == before


def test_a_token_that_opens_nothing_is_no_token(
    server: Live, operations: list[Operation], closed: dict[str, str]
) -> None:
    before = _unhandled(server)
    for operation in operations:
        for why, secret in closed.items():
            reply = server.ask(operation.method, operation.path, secret, {} if operation.method == "POST" else None)
            assert reply.status == 401, (operation, why)
    assert _unhandled(server) == before


@pytest.mark.parametrize("scheme", ["Basic", "Token", "bearerer", ""])
def test_a_token_is_a_bearer_token(server: Live, owner: str, scheme: str) -> None:
    assert server.ask("GET", "/v1/top", headers={"Authorization": f"{scheme} {owner}"}).status == 401


def test_the_name_of_the_scheme_is_not_about_letters(server: Live, owner: str) -> None:
    assert server.ask("GET", "/v1/top", headers={"Authorization": f"bearer {owner}"}).status == 200


def test_two_authorizations_are_none(server: Live, owner: str) -> None:
    told = f"Authorization: Bearer {owner}\r\n"
    said = f"GET /v1/top HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{told}{told}Connection: close\r\n\r\n"
    assert server.raw(said.encode()).startswith(b"HTTP/1.1 401")


def test_a_right_opens_what_it_covers_and_nothing_beyond(server: Live, operations: list[Operation]) -> None:
    tokens = {right: server.token(f"may-{right}", right=right) for right in Right}
    for operation in operations:
        need = OPERATION_POLICIES[operation.verb].right
        for right, secret in tokens.items():
            if need is None or right.covers(need):
                continue
            before = _unhandled(server)
            reply = server.ask(operation.method, operation.path, secret, {} if operation.method == "POST" else None)
            assert reply.status == 403, (operation, right)
            assert reply.data["needs"] == need
            assert _unhandled(server) == before


def test_what_changes_something_needs_more_than_to_read(operations: list[Operation]) -> None:
    for operation in operations:
        need = OPERATION_POLICIES[operation.verb]
        if need.is_write:
            assert operation.method == "POST"
            assert need.right in (Right.WRITE, Right.ADMIN)
        elif operation.method == "POST":
            assert operation.verb in ("recall_long", "answer")


def test_another_name_is_not_answered_to(server: Live, owner: str, operations: list[Operation]) -> None:
    before = _unhandled(server)
    for operation in operations:
        for method in (operation.method, *OTHER_METHODS):
            reply = server.ask(method, operation.path, owner, {} if method == "POST" else None, host="evil.example")
            assert reply.status == 403, (operation, method)
    for method, path in (*ELSEWHERE, ("GET", "/login"), ("POST", "/login"), ("GET", "/static/app.js")):
        assert server.ask(method, path, owner, host=f"evil.example:{server.port}").status == 403
    assert _unhandled(server) == before


def test_a_page_of_another_site_is_not_answered(server: Live, owner: str, operations: list[Operation]) -> None:
    before = _unhandled(server)
    for n, each in enumerate(operations):
        for method in (each.method, *OTHER_METHODS):
            headers = {"Origin": ("null", "http://evil.example")[n % 2]}
            reply = server.ask(method, each.path, owner, {} if method == "POST" else None, headers)
            assert reply.status == 403, (each, method, headers)
            assert "access-control-allow-origin" not in reply.headers
    assert _unhandled(server) == before


@pytest.mark.parametrize("host", HOSTS, ids=range(len(HOSTS)))
def test_a_host_that_only_looks_like_ours_is_refused(server: Live, owner: str, host: str) -> None:
    before = _unhandled(server)
    for path in ("/v1/health", "/v1/top", "/static/app.js", "/nothing"):
        said = (
            f"GET {path} HTTP/1.1\r\nHost: {host.format(port=server.port)}\r\nAuthorization: Bearer {owner}\r\n"
            "Connection: close\r\n\r\n"
        )
        # What is no HTTP at all does not even come as far as the gate.
        assert server.raw(said.encode("latin-1"))[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400"), path
    assert _unhandled(server) == before


@pytest.mark.parametrize("origin", ORIGINS, ids=range(len(ORIGINS)))
def test_an_origin_that_only_looks_like_ours_is_refused(server: Live, owner: str, origin: str) -> None:
    before = _unhandled(server)
    for path in ("/v1/health", "/v1/feed", "/login", "/nothing"):
        reply = server.ask("GET", path, owner, headers={"Origin": origin.format(port=server.port)})
        assert reply.status == 403, path
    assert _unhandled(server) == before


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LocalHost"])
def test_our_own_names_are_answered_to(server: Live, owner: str, name: str) -> None:
    host = f"{name}:{server.port}"
    assert server.ask("GET", "/v1/top", owner, host=host).status == 200
    assert server.ask("GET", "/v1/top", owner, host=host, headers={"Origin": f"http://{host}"}).status == 200


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:{port}/v1/top", "http://evil.example/v1/top", "//evil.example/v1/top", "*", "v1/top"]
)
def test_an_address_does_not_overrule_the_host(server: Live, owner: str, target: str) -> None:
    said = (
        f"GET {target.format(port=server.port)} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {owner}\r\nConnection: close\r\n\r\n"
    )
    assert server.raw(said.encode())[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 404", b"HTTP/1.1 400")


def test_two_hosts_are_none(server: Live, owner: str) -> None:
    own = f"Host: 127.0.0.1:{server.port}\r\n"
    said = f"GET /v1/top HTTP/1.1\r\n{own}Host: evil.example\r\nAuthorization: Bearer {owner}\r\n\r\n"
    assert server.raw(said.encode())[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "query", ["token={}", "access_token={}", "q={}", "q=a&Authorization=x", "%74oken=1", "api_key=1"]
)
def test_a_token_in_an_address_is_refused(server: Live, owner: str, query: str) -> None:
    before = _unhandled(server)
    reply = server.ask("GET", f"/v1/recall?{query.format(owner)}", owner)
    assert reply.status == 400
    assert reply.data["type"] == "urn:lamina:error:SecretInAddress"
    assert owner.encode() not in reply.body
    assert _unhandled(server) == before


def test_every_answer_carries_the_headers_that_keep_browsers_in_check(server: Live, owner: str) -> None:
    for method, path, token in (
        ("GET", "/v1/top", owner),
        ("GET", "/v1/top", None),
        ("GET", "/nothing", owner),
        ("OPTIONS", "/v1/top", owner),
        ("GET", "/v1/health", None),
        ("GET", "/static/nothing.js", None),
        ("POST", "/v1/remember", owner),
    ):
        headers = server.ask(method, path, token).headers
        assert headers["content-security-policy"].startswith("default-src 'none';")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
        if path.startswith("/v1"):
            assert headers["cache-control"] == "no-store"


def test_a_refusal_tells_what_to_do_and_nothing_else(server: Live) -> None:
    reply = server.ask("GET", "/v1/top")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.data == {
        "type": "urn:lamina:error:Unauthenticated",
        "title": "Unauthorized",
        "status": 401,
        "detail": "no valid token; send `Authorization: Bearer TOKEN`, create one with `lamina token create`",
    }


def test_a_browser_without_a_session_is_shown_the_way_to_one(server: Live) -> None:
    reply = server.ask("GET", "/inbox?kind=pair&x=<script>", headers={"Accept": "text/html,*/*"})
    assert reply.status == 401
    assert b"/login?next=%2Finbox%3Fkind%3Dpair%26x%3D" in reply.body
    assert b"<script" not in reply.body
    for where, to in (
        ("http://localhost/inbox?kind=pair", "/login?next=%2Finbox%3Fkind%3Dpair"),
        ("http://[::1", "/login"),
        ("", "/login"),
    ):
        fragment = server.ask("GET", "/inbox/more", headers={"HX-Request": "true", "HX-Current-URL": where})
        assert (fragment.status, fragment.headers["hx-redirect"]) == (401, to)
    assert server.ask("GET", "/v1/top", headers={"Accept": "text/html"}).data["status"] == 401


@pytest.mark.parametrize("twice", ["Idempotency-Key: a\r\nIdempotency-Key: b", "Transfer-Encoding: chunked"])
def test_a_head_that_can_be_read_in_two_ways_is_not_read(server: Live, owner: str, twice: str) -> None:
    before, said = _unhandled(server), b'{"content": "Wim swims."}'
    head = (
        f"POST /v1/remember HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {owner}\r\n{twice}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(said)}\r\nConnection: close\r\n\r\n"
    )
    assert server.raw(head.encode() + said).startswith(b"HTTP/1.1 400")
    assert _unhandled(server) == before


@pytest.mark.parametrize("path", ["/v1/jobs%0a", "/v1/top%0d", "/v1/top%00", "/v1/top%7f", "/inbox%0a"])
def test_a_path_with_what_cannot_be_seen_is_no_path(server: Live, owner: str, path: str) -> None:
    before = _unhandled(server)
    assert server.ask("GET", path, owner).status == 400
    assert _unhandled(server) == before


def test_only_the_socket_in_the_file_system_is_local() -> None:
    head = {"method": "GET", "path": "/", "query_string": b"", "headers": []}
    assert RequestHead.from_scope({**head, "server": ("/run/serve.sock", None)}).is_local
    assert not RequestHead.from_scope({**head, "server": ("127.0.0.1", 8377)}).is_local
    assert not RequestHead.from_scope({**head, "server": None}).is_local


def test_tokens_that_cannot_be_read_let_nobody_in(fresh: Live, caplog: pytest.LogCaptureFixture) -> None:
    token = fresh.token("owner")
    file = fresh.house.memory.state / "tokens.json"
    held = file.read_text()
    file.write_text(held[:-9])
    for path in ("/v1/top", "/v1/health", "/inbox"):
        reply = fresh.ask("GET", path, token)
        assert (reply.status, reply.headers["content-type"]) == (503, "application/problem+json")
        assert b"tokens.json" not in reply.body
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert fresh.handled == []
    assert "tokens.json is damaged" in caplog.text
    file.write_text(held)
    assert fresh.ask("GET", "/v1/top", token).status == 200


def test_what_goes_wrong_within_is_a_problem_without_its_words(fresh: Live) -> None:
    words, lines = "a SENTINEL", Queue[logging.LogRecord]()
    handler = QueueHandler(lines)
    logging.getLogger("lamina.http").addHandler(handler)

    def breaks(request: object) -> None:
        raise RuntimeError(words)

    fresh.app.router.routes.append(Route("/v1/breaks", breaks))
    reply = fresh.ask("GET", "/v1/breaks", fresh.token("owner"))
    assert (reply.status, reply.headers["content-type"]) == (500, "application/problem+json")
    assert reply.data["type"] == "urn:lamina:error:Failed"
    told = lines.get(timeout=20).getMessage()
    logging.getLogger("lamina.http").removeHandler(handler)
    assert "RuntimeError" in told
    assert "SENTINEL" not in told + reply.body.decode()


def test_a_method_that_a_path_does_not_have_is_told_as_that(
    server: Live, owner: str, operations: list[Operation]
) -> None:
    headers = {"Idempotency-Key": "the-same"}
    for operation in operations:
        for method in ("PUT", "PATCH", "DELETE", "TRACE", "post" if operation.method == "GET" else "get"):
            assert server.ask(method, operation.path, owner, headers=headers).status == 405, (method, operation)
    reply = server.ask("PUT", "/v1/recall", owner)
    assert {each.strip() for each in reply.headers["allow"].split(",")} == {"GET", "POST"}
