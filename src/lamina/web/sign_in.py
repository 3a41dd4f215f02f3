"""Signing in: a person enters a token once, and the browser keeps a session instead."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from lamina.http.session import COOKIE, cookie_of, no_cookie
from lamina.web.visit import Visit


def first(visit: Visit) -> Response:
    """Redirect to the sign-in page, and afterwards to the requested page."""
    url = visit.request.url
    target = url.path + (f"?{url.query}" if url.query else "") if visit.request.method == "GET" else "/"
    login_url = f"/login?next={quote(target, safe='')}"
    if visit.is_fragment:
        return Response(status_code=401, headers={"HX-Redirect": login_url})
    return RedirectResponse(login_url, 303)


def ask(visit: Visit) -> Response:
    """Show the page that asks for a token."""
    if visit.caller is not None:
        return RedirectResponse(_inside(visit.asked.get("next", "/")), 303)
    return visit.page("login.html", {"next": visit.asked.get("next", "/"), "wrong": False})


def sign_in(visit: Visit) -> Response:
    """Exchange a token for a session; 403 if the token is not valid."""
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
    """Return the address if it is a path of this site, else the home page."""
    is_local_path = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_local_path and "\\" not in address else "/"
