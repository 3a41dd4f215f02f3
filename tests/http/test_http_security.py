"""No unauthorised request reaches an operation, whatever it asks for.

Covers `lamina.http.allowed_hosts` and `lamina.http.response_sender`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from logging.handlers import QueueHandler
from queue import Queue

import pytest
from fastapi import FastAPI
from live_server import LiveServer
from starlette.routing import Route

from lamina.access import Right
from lamina.atom.provenance import Origin
from lamina.http.app import make_api
from lamina.http.operation_policies import OPERATION_POLICIES, build_rules, list_api_routes, operation_name
from lamina.http.request_head import RequestHead

SOME_ID = "01jc9x2k7m3f5r8t0v2w4y6z8a"
WRONG = "lam_" + "A" * 43
OTHER_METHODS = ("OPTIONS", "HEAD", "PUT", "PATCH", "DELETE")
OTHER_ROUTES = (
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
def operations(server: LiveServer) -> list[Operation]:
    result = _operations(server.app)
    assert len(result) == len(OPERATION_POLICIES)
    return result


@pytest.fixture(scope="module")
def invalid_secrets(server: LiveServer) -> dict[str, str]:
    """Return secrets that authenticate no one."""
    revoked = server.token("revoked")
    server.house.tokens.revoke("revoked")
    _, expired = server.house.tokens.create("expired", "org:local", Right.ADMIN, Origin.HUMAN, days=1e-8)
    while server.house.tokens.authenticate(expired) is not None:
        pass
    return {"wrong": WRONG, "revoked": revoked, "expired": expired, "no token at all": "x", "blank": " "}


def _unhandled(server: LiveServer) -> int:
    return len(server.handled)


def test_every_operation_has_a_right_in_the_table_and_every_right_an_operation(server: LiveServer) -> None:
    assert {operation_name(route) for route in list_api_routes(server.app)} == set(OPERATION_POLICIES)


def test_an_operation_without_a_right_cannot_be_served(server: LiveServer) -> None:
    app = make_api(server.house)
    app.add_api_route("/v1/secrets", lambda: "all of them", operation_id="secrets")
    with pytest.raises(KeyError, match="secrets"):
        build_rules(app)


def test_without_a_token_nothing_is_answered(server: LiveServer, operations: list[Operation]) -> None:
    before = _unhandled(server)
    for operation in operations:
        if operation.verb == "health":
            continue
        for method in (operation.method, *OTHER_METHODS):
            reply = server.ask(method, operation.path, body={} if method == "POST" else None)
            assert reply.status == 401, (operation, method)
            assert reply.headers["www-authenticate"] == 'Bearer realm="lamina"'
    for method, path in OTHER_ROUTES:
        assert server.ask(method, path).status == 401, (method, path)
    assert _unhandled(server) == before


def test_an_invalid_token_is_refused(
    server: LiveServer, operations: list[Operation], invalid_secrets: dict[str, str]
) -> None:
    before = _unhandled(server)
    for operation in operations:
        for why, secret in invalid_secrets.items():
            reply = server.ask(operation.method, operation.path, secret, {} if operation.method == "POST" else None)
            assert reply.status == 401, (operation, why)
    assert _unhandled(server) == before


@pytest.mark.parametrize("scheme", ["Basic", "Token", "bearerer", ""])
def test_a_token_is_a_bearer_token(server: LiveServer, owner: str, scheme: str) -> None:
    assert server.ask("GET", "/v1/top", headers={"Authorization": f"{scheme} {owner}"}).status == 401


def test_the_name_of_the_scheme_is_case_insensitive(server: LiveServer, owner: str) -> None:
    assert server.ask("GET", "/v1/top", headers={"Authorization": f"bearer {owner}"}).status == 200


def test_two_authorization_headers_are_refused(server: LiveServer, owner: str) -> None:
    result = f"Authorization: Bearer {owner}\r\n"
    text = f"GET /v1/top HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{result}{result}Connection: close\r\n\r\n"
    assert server.raw(text.encode()).startswith(b"HTTP/1.1 401")


def test_a_right_allows_what_it_includes_and_nothing_beyond(server: LiveServer, operations: list[Operation]) -> None:
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


def test_a_change_needs_more_than_the_read_right(operations: list[Operation]) -> None:
    for operation in operations:
        need = OPERATION_POLICIES[operation.verb]
        if need.is_write:
            assert operation.method == "POST"
            assert need.right in (Right.WRITE, Right.ADMIN)
        elif operation.method == "POST":
            assert operation.verb in ("recall_long", "answer")


def test_another_host_name_is_not_answered(server: LiveServer, owner: str, operations: list[Operation]) -> None:
    before = _unhandled(server)
    for operation in operations:
        for method in (operation.method, *OTHER_METHODS):
            reply = server.ask(method, operation.path, owner, {} if method == "POST" else None, host="evil.example")
            assert reply.status == 403, (operation, method)
    for method, path in (*OTHER_ROUTES, ("GET", "/login"), ("POST", "/login"), ("GET", "/static/app.js")):
        assert server.ask(method, path, owner, host=f"evil.example:{server.port}").status == 403
    assert _unhandled(server) == before


def test_a_request_of_another_site_is_not_answered(server: LiveServer, owner: str, operations: list[Operation]) -> None:
    before = _unhandled(server)
    for n, operation in enumerate(operations):
        for method in (operation.method, *OTHER_METHODS):
            headers = {"Origin": ("null", "http://evil.example")[n % 2]}
            reply = server.ask(method, operation.path, owner, {} if method == "POST" else None, headers)
            assert reply.status == 403, (operation, method, headers)
            assert "access-control-allow-origin" not in reply.headers
    assert _unhandled(server) == before


@pytest.mark.parametrize("host", HOSTS, ids=range(len(HOSTS)))
def test_a_lookalike_host_is_refused(server: LiveServer, owner: str, host: str) -> None:
    before = _unhandled(server)
    for path in ("/v1/health", "/v1/top", "/static/app.js", "/nothing"):
        text = (
            f"GET {path} HTTP/1.1\r\nHost: {host.format(port=server.port)}\r\nAuthorization: Bearer {owner}\r\n"
            "Connection: close\r\n\r\n"
        )
        # What is no HTTP at all does not even come as far as the gate.
        assert server.raw(text.encode("latin-1"))[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400"), path
    assert _unhandled(server) == before


@pytest.mark.parametrize("origin", ORIGINS, ids=range(len(ORIGINS)))
def test_a_lookalike_origin_is_refused(server: LiveServer, owner: str, origin: str) -> None:
    before = _unhandled(server)
    for path in ("/v1/health", "/v1/feed", "/login", "/nothing"):
        reply = server.ask("GET", path, owner, headers={"Origin": origin.format(port=server.port)})
        assert reply.status == 403, path
    assert _unhandled(server) == before


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LocalHost"])
def test_configured_host_names_are_answered(server: LiveServer, owner: str, name: str) -> None:
    host = f"{name}:{server.port}"
    assert server.ask("GET", "/v1/top", owner, host=host).status == 200
    assert server.ask("GET", "/v1/top", owner, host=host, headers={"Origin": f"http://{host}"}).status == 200


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:{port}/v1/top", "http://evil.example/v1/top", "//evil.example/v1/top", "*", "v1/top"]
)
def test_an_absolute_request_target_does_not_override_the_host(server: LiveServer, owner: str, target: str) -> None:
    text = (
        f"GET {target.format(port=server.port)} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {owner}\r\nConnection: close\r\n\r\n"
    )
    assert server.raw(text.encode())[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 404", b"HTTP/1.1 400")


def test_two_host_headers_are_refused(server: LiveServer, owner: str) -> None:
    text = f"Host: 127.0.0.1:{server.port}\r\n"
    sentence = f"GET /v1/top HTTP/1.1\r\n{text}Host: evil.example\r\nAuthorization: Bearer {owner}\r\n\r\n"
    assert server.raw(sentence.encode())[:12] in (b"HTTP/1.1 403", b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "query", ["token={}", "access_token={}", "q={}", "q=a&Authorization=x", "%74oken=1", "api_key=1"]
)
def test_a_token_in_a_url_is_refused(server: LiveServer, owner: str, query: str) -> None:
    before = _unhandled(server)
    reply = server.ask("GET", f"/v1/recall?{query.format(owner)}", owner)
    assert reply.status == 400
    assert reply.data["type"] == "urn:lamina:error:SecretInAddress"
    assert owner.encode() not in reply.body
    assert _unhandled(server) == before


def test_every_response_has_the_security_headers(server: LiveServer, owner: str) -> None:
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


def test_a_refusal_says_what_to_do_and_nothing_else(server: LiveServer) -> None:
    reply = server.ask("GET", "/v1/top")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.data == {
        "type": "urn:lamina:error:Unauthenticated",
        "title": "Unauthorized",
        "status": 401,
        "detail": "no valid token; send `Authorization: Bearer TOKEN`, create one with `lamina token create`",
    }


def test_a_browser_without_a_session_is_redirected_to_sign_in(server: LiveServer) -> None:
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
def test_an_ambiguous_head_is_refused(server: LiveServer, owner: str, twice: str) -> None:
    before, data = _unhandled(server), b'{"content": "Wim swims."}'
    head = (
        f"POST /v1/remember HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {owner}\r\n{twice}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    )
    assert server.raw(head.encode() + data).startswith(b"HTTP/1.1 400")
    assert _unhandled(server) == before


@pytest.mark.parametrize("path", ["/v1/jobs%0a", "/v1/top%0d", "/v1/top%00", "/v1/top%7f", "/inbox%0a"])
def test_a_path_with_invisible_characters_is_refused(server: LiveServer, owner: str, path: str) -> None:
    before = _unhandled(server)
    assert server.ask("GET", path, owner).status == 400
    assert _unhandled(server) == before


def test_only_the_unix_socket_is_local() -> None:
    head = {"method": "GET", "path": "/", "query_string": b"", "headers": []}
    assert RequestHead.from_scope({**head, "server": ("/run/serve.sock", None)}).is_local
    assert not RequestHead.from_scope({**head, "server": ("127.0.0.1", 8377)}).is_local
    assert not RequestHead.from_scope({**head, "server": None}).is_local


def test_an_unreadable_token_file_admits_no_one(fresh: LiveServer, caplog: pytest.LogCaptureFixture) -> None:
    token = "lam_" + "a" * 43
    file = fresh.house.memory.engine.state / "tokens.json"
    file.write_text("[{")
    for path in ("/v1/top", "/v1/health", "/inbox"):
        reply = fresh.ask("GET", path, token)
        assert (reply.status, reply.headers["content-type"]) == (503, "application/problem+json")
        assert b"tokens.json" not in reply.body
        assert reply.headers["x-content-type-options"] == "nosniff"
    assert fresh.handled == []
    assert "tokens.json is damaged" in caplog.text
    file.unlink()
    assert fresh.ask("GET", "/v1/top", token).status == 401
    assert fresh.ask("GET", "/v1/top", fresh.token("owner")).status == 200


def test_an_internal_error_is_a_problem_without_its_message(fresh: LiveServer) -> None:
    words, lines = "a SENTINEL", Queue[logging.LogRecord]()
    handler = QueueHandler(lines)
    logging.getLogger("lamina.http").addHandler(handler)

    def breaks(request: object) -> None:
        raise RuntimeError(words)

    fresh.app.router.routes.append(Route("/v1/breaks", breaks))
    reply = fresh.ask("GET", "/v1/breaks", fresh.token("owner"))
    assert (reply.status, reply.headers["content-type"]) == (500, "application/problem+json")
    assert reply.data["type"] == "urn:lamina:error:Failed"
    result = lines.get(timeout=20).getMessage()
    logging.getLogger("lamina.http").removeHandler(handler)
    assert "RuntimeError" in result
    assert "SENTINEL" not in result + reply.body.decode()


def test_an_unsupported_method_is_reported_as_405(server: LiveServer, owner: str, operations: list[Operation]) -> None:
    headers = {"Idempotency-Key": "the-same"}
    for operation in operations:
        for method in ("PUT", "PATCH", "DELETE", "TRACE", "post" if operation.method == "GET" else "get"):
            assert server.ask(method, operation.path, owner, headers=headers).status == 405, (method, operation)
    reply = server.ask("PUT", "/v1/recall", owner)
    assert {part.strip() for part in reply.headers["allow"].split(",")} == {"GET", "POST"}
