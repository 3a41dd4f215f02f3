"""Every route there is, as the router of a whole server has it: API, MCP, pages and files. None is reached by chance.

A route of another sort, or one whose right nobody has set, fails here before anybody can ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from live_server import LiveServer, run_server
from starlette.routing import BaseRoute, Route

from lamina.access import Right
from lamina.http.operation_policies import OPERATION_POLICIES, operation_name
from lamina.web.pages import PAGES

SOME_ID = "01jc9x2k7m3f5r8t0v2w4y6z8a"
WRONG = "lam_" + "A" * 43
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
FILES = {"/static/{path:path}", "/favicon.ico"}
OPEN = {("GET", "/v1/health"), ("GET", "/login"), ("POST", "/login"), *(("GET", file) for file in FILES)}
"""What anybody may ask for."""
FOR_READERS = {
    ("POST", "/v1/recall"),
    ("POST", "/v1/answer"),
    ("POST", "/mcp"),
    ("POST", "/logout"),
    ("POST", "/login"),
}
"""What is sent and still takes no more than the right to read. MCP looks at each call itself."""


@dataclass(frozen=True)
class RouteMethod:
    """One method of one route."""

    method: str
    shape: str

    @property
    def path(self) -> str:
        return self.shape.replace("{path:path}", "app.js").format(id=SOME_ID, workstream="release")

    @property
    def is_open(self) -> bool:
        return (self.method.replace("HEAD", "GET"), self.shape) in OPEN

    @property
    def is_page(self) -> bool:
        return not self.shape.startswith(("/v1", "/mcp", "/metrics"))


def _routes(routes: Iterable[BaseRoute]) -> Iterator[Route | APIRoute]:
    for route in routes:
        inside = getattr(route, "original_router", None)
        if isinstance(route, (Route, APIRoute)):
            yield route
        else:
            assert inside is not None, f"{route!r} is a sort of route that nobody watches here"
            yield from _routes(inside.routes)


def _route_methods(app: FastAPI) -> list[RouteMethod]:
    return [
        RouteMethod(method, route.path)
        for route in _routes(app.routes)
        for method in sorted(route.methods or {"GET", "POST"})
    ]


@pytest.fixture(scope="module")
def whole_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with run_server(tmp_path_factory.mktemp("whole"), whole=True) as server:
        yield server


@pytest.fixture(scope="module")
def route_methods(whole_server: LiveServer) -> list[RouteMethod]:
    return _route_methods(whole_server.app)


def _request(
    served: LiveServer,
    way: RouteMethod,
    token: str | None = None,
    headers: dict[str, str] | None = None,
    host: str = "",
) -> int:
    body = (b"csrf=x" if way.is_page else b"{}") if way.method == "POST" else None
    sent = {**(FORM if way.is_page and body else {}), **(headers or {})}
    return served.ask(way.method, way.path, token, body, sent, host or None).status


def test_every_route_is_an_operation_a_page_a_file_or_mcp(whole_server: LiveServer) -> None:
    paths = {page.path for page in PAGES} | FILES | {"/mcp"}
    for route in _routes(whole_server.app.routes):
        if isinstance(route, APIRoute):
            assert operation_name(route) in OPERATION_POLICIES, route.path
        else:
            assert route.path in paths, f"{route.path} is new: give it a right, a page or a test"


def test_an_unlisted_route_is_detected(whole_server: LiveServer) -> None:
    added = Route("/v1/secrets", lambda request: None)
    whole_server.app.router.routes.append(added)
    try:
        with pytest.raises(AssertionError, match="secrets"):
            test_every_route_is_an_operation_a_page_a_file_or_mcp(whole_server)
    finally:
        whole_server.app.router.routes.remove(added)


def test_the_number_of_routes_is_as_expected(route_methods: list[RouteMethod]) -> None:
    assert len(route_methods) > len(OPERATION_POLICIES) + len(PAGES)
    assert {(way.method, way.shape) for way in route_methods} > OPEN


def test_no_route_is_answered_without_a_token(whole_server: LiveServer, route_methods: list[RouteMethod]) -> None:
    before = len(whole_server.handled)
    for way in route_methods:
        if not way.is_open:
            assert _request(whole_server, way) == 401, way
    assert len(whole_server.handled) == before


def test_no_route_is_answered_to_an_invalid_token(whole_server: LiveServer, route_methods: list[RouteMethod]) -> None:
    before = len(whole_server.handled)
    for way in route_methods:
        assert _request(whole_server, way, WRONG) == 401, way
        if not way.is_open:
            assert _request(whole_server, way, headers={"Cookie": f"lamina_session=las_{'A' * 43}"}) == 401, way
    assert len(whole_server.handled) == before


def test_no_route_is_answered_under_another_host_or_origin(
    whole_server: LiveServer, route_methods: list[RouteMethod]
) -> None:
    before, token = len(whole_server.handled), whole_server.token("anybody")
    for way in route_methods:
        for secret in (None, token):
            assert _request(whole_server, way, secret, host="evil.example") == 403, way
            assert _request(whole_server, way, secret, host=f"localhost.evil.example:{whole_server.port}") == 403, way
            assert _request(whole_server, way, secret, {"Origin": "http://evil.example"}) == 403, way
            assert _request(whole_server, way, secret, {"Origin": "null"}) == 403, way
    assert len(whole_server.handled) == before


def test_a_read_only_token_cannot_change_anything(whole_server: LiveServer, route_methods: list[RouteMethod]) -> None:
    before, token = len(whole_server.handled), whole_server.token("reader", right=Right.READ)
    for way in route_methods:
        if way.method == "POST" and (way.method, way.shape) not in FOR_READERS:
            assert _request(whole_server, way, token) == 403, way
    assert len(whole_server.handled) == before


def test_a_session_changes_nothing_without_its_csrf_token(
    whole_server: LiveServer, route_methods: list[RouteMethod]
) -> None:
    session = whole_server.house.tokens.open_session(whole_server.token("browser"))
    before = len(whole_server.handled)
    for way in route_methods:
        if way.method == "POST" and not way.is_open:
            assert _request(whole_server, way, headers={"Cookie": f"lamina_session={session}"}) == 403, way
    assert len(whole_server.handled) == before


def test_every_route_sends_the_security_headers(whole_server: LiveServer, route_methods: list[RouteMethod]) -> None:
    for way in route_methods:
        headers = whole_server.ask(way.method, way.path).headers
        assert headers["content-security-policy"].startswith("default-src 'none';"), way
        assert headers["x-content-type-options"] == "nosniff", way


def test_ids_of_other_scopes_are_not_found_on_any_route(tmp_path: Path) -> None:
    """What is told of another's atom is, but for its id, what is told of none; on every route that takes one."""
    with run_server(tmp_path, whole=True) as server:
        theirs, mine = server.token("theirs", "org:bolt"), server.token("mine", "org:acme")
        there = server.remember(theirs, "The heron nests in the reeds.", subject="heron")
        for way in _route_methods(server.app):
            if "{id}" not in way.shape or "/runs/" in way.shape:
                continue
            result = []
            for id in (there, SOME_ID):
                body = _body_for(way) if way.method == "POST" else None
                reply = server.ask(
                    way.method, way.shape.format(id=id), mine, body, FORM if way.is_page and body else {}
                )
                result.append((reply.status, reply.body.replace(id.encode(), b"").replace(id[-8:].encode(), b"")))
            assert result[0] == result[1], way
            assert result[0][0] in (403, 404), way
            assert b"heron" not in result[0][1]


def _body_for(way: RouteMethod) -> object:
    if way.is_page:
        return b"verb=pin"
    verb = way.shape.rpartition("/")[2]
    return {
        "revise": {"content": "mine", "reason": "mine"},
        "update_status": {"status": "tombstoned", "reason": "mine"},
        "forget": {"reason": "mine"},
        "relate": {"relation": "supports", "to": "01jc9x2k7m3f5r8t0v2w4y6z8z"},
    }.get(verb, {})
