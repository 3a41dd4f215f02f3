"""A browser with a session may read; what it changes must come from our own page."""

from __future__ import annotations

import pytest
from live_server import LiveServer
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from lamina.http.browser_session import (
    SESSION_COOKIE,
    csrf_token_for,
    format_expired_cookie,
    format_session_cookie,
    is_csrf_token_of,
    parse_session_cookie,
)

BODY = {"content": "Vic mends roofs."}


@pytest.fixture(scope="module", autouse=True)
def pages(server: LiveServer) -> None:
    """A page that tells who asks."""

    async def page(request: Request) -> Response:
        return PlainTextResponse(f"{request.state.caller and request.state.caller.name} {request.state.csrf}")

    for path in ("/inbox", "/login", "/static/app.js", "/logout", "/inbox/decide"):
        server.app.router.routes.append(Route(path, page, methods=["GET", "POST"]))


@pytest.fixture(scope="module")
def session(server: LiveServer, owner: str) -> str:
    result = server.house.tokens.open_session(owner)
    assert result is not None
    return result


def _cookie(session: str) -> dict[str, str]:
    return {"Cookie": f"theme=dark; {SESSION_COOKIE}={session}"}


def test_a_session_reads_pages_and_the_api(server: LiveServer, session: str) -> None:
    assert server.ask("GET", "/v1/top", headers=_cookie(session)).status == 200
    assert server.ask("GET", "/inbox", headers=_cookie(session)).body.decode() == f"owner {csrf_token_for(session)}"


def test_a_session_writes_only_with_its_csrf_token(server: LiveServer, session: str) -> None:
    before = len(server.handled)
    for word in (None, "", "x", csrf_token_for("las_" + "B" * 43), session):
        headers = _cookie(session) | ({"X-CSRF-Token": word} if word is not None else {})
        reply = server.ask("POST", "/v1/remember", body=BODY, headers=headers)
        assert (reply.status, reply.data["type"]) == (403, "urn:lamina:error:NoCsrfWord")
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert server.ask("POST", "/inbox/decide", body=b"id=1", headers=headers | form).status == 403
    assert len(server.handled) == before
    good = _cookie(session) | {"X-CSRF-Token": csrf_token_for(session)}
    assert server.ask("POST", "/v1/remember", body=BODY, headers=good).status == 200


def test_a_form_sends_its_csrf_token_in_a_field(server: LiveServer, session: str) -> None:
    form = _cookie(session) | {"Content-Type": "application/x-www-form-urlencoded"}
    text = f"id=1&csrf={csrf_token_for(session)}".encode()
    assert server.ask("POST", "/inbox/decide", body=text, headers=form).status == 200
    assert server.ask("POST", "/logout", body=text, headers=form).status == 200
    assert server.ask("POST", "/inbox/decide", body=b"csrf=\xff&x", headers=form).status == 403


def test_a_bearer_token_needs_no_csrf_token(server: LiveServer, owner: str) -> None:
    assert server.ask("POST", "/v1/remember", owner, BODY).status == 200


def test_public_pages_need_no_session(server: LiveServer, session: str) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for headers in ({}, _cookie("las_" + "A" * 43), _cookie("x")):
        assert server.ask("GET", "/login", headers=headers).body == b"None "
        assert server.ask("GET", "/static/app.js", headers=headers).status == 200
        assert server.ask("POST", "/login", body=b"token=x", headers=form | headers).status == 200
    assert server.ask("GET", "/login", headers=_cookie(session)).body.startswith(b"owner ")
    assert server.ask("GET", "/login/more").status == 401
    assert server.ask("GET", "/loginx").status == 401


def test_only_static_files_may_be_cached_by_a_browser(server: LiveServer, session: str) -> None:
    assert "cache-control" not in server.ask("GET", "/static/app.js").headers
    assert server.ask("GET", "/inbox", headers=_cookie(session)).headers["cache-control"] == "no-store"


def test_an_ended_session_is_refused(server: LiveServer, owner: str) -> None:
    ended = server.house.tokens.open_session(owner)
    assert ended is not None
    assert server.ask("GET", "/v1/top", headers=_cookie(ended)).status == 200
    server.house.tokens.close_session(ended)
    assert server.ask("GET", "/v1/top", headers=_cookie(ended)).status == 401


def test_cookie_headers_are_parsed_leniently() -> None:
    assert parse_session_cookie(f"{SESSION_COOKIE}=las_x; other=1") == "las_x"
    assert parse_session_cookie("other=1") is None
    for beside in (
        'state={"open": true}',
        "a b=c",
        "broken",
        "x=\xfc",
        f"{SESSION_COOKIE}x=las_y",
        f'{SESSION_COOKIE}="no session"',
    ):
        assert parse_session_cookie(f"{beside}; {SESSION_COOKIE}=las_x") == "las_x"
    assert parse_session_cookie('a="; b=\x00; [') is None
    assert is_csrf_token_of("las_x", csrf_token_for("las_x"))
    assert not is_csrf_token_of("las_x", "\ud800")


def test_the_cookie_is_inaccessible_to_scripts_and_other_sites() -> None:
    assert format_session_cookie("las_x").endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert format_session_cookie("las_x", secure=True).endswith("; Secure")
    assert "Max-Age=0" in format_expired_cookie()
