"""Signing in: the token is shown once, and the browser holds a session instead."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from lamina.http.session import COOKIE, cookie_of, no_cookie
from lamina.web.visit import Visit


def first(visit: Visit) -> Response:
    """Nobody is signed in: that comes first, and then the page that was wanted."""
    url = visit.request.url
    wanted = url.path + (f"?{url.query}" if url.query else "") if visit.request.method == "GET" else "/"
    to = f"/login?next={quote(wanted, safe='')}"
    if visit.is_fragment:
        return Response(status_code=401, headers={"HX-Redirect": to})
    return RedirectResponse(to, 303)


def ask(visit: Visit) -> Response:
    """The page that asks for a token."""
    if visit.caller is not None:
        return RedirectResponse(_inside(visit.asked.get("next", "/")), 303)
    return visit.page("login.html", {"next": visit.asked.get("next", "/"), "wrong": False})


def sign_in(visit: Visit) -> Response:
    """Exchange a token for a session."""
    session = visit.house.tokens.open_session(visit.sent("token").strip())
    if session is None:
        return visit.page("login.html", {"next": visit.sent("next", "/"), "wrong": True}, status=403)
    answer = RedirectResponse(_inside(visit.sent("next", "/")), 303)
    answer.headers["Set-Cookie"] = cookie_of(session, secure=visit.request.url.scheme == "https")
    return answer


def sign_out(visit: Visit) -> Response:
    """End the session."""
    visit.house.tokens.close_session(visit.request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.headers["Set-Cookie"] = no_cookie()
    return answer


def _inside(address: str) -> str:
    """An address of ours; any other leads home."""
    inside = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if inside and "\\" not in address else "/"
