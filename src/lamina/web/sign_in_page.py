"""Signing in: a person enters a token once, and the browser keeps a session instead."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import RedirectResponse, Response

from lamina.http.browser_session import SESSION_COOKIE, format_expired_cookie, format_session_cookie
from lamina.web.page_request import PageRequest


def redirect_to_sign_in(request: PageRequest) -> Response:
    """Redirect to the sign-in page, and afterwards to the requested page."""
    url = request.http_request.url
    target = url.path + (f"?{url.query}" if url.query else "") if request.http_request.method == "GET" else "/"
    login_url = f"/login?next={quote(target, safe='')}"
    if request.is_fragment:
        return Response(status_code=401, headers={"HX-Redirect": login_url})
    return RedirectResponse(login_url, 303)


def show_sign_in(request: PageRequest) -> Response:
    """Show the page that asks for a token."""
    if request.caller is not None:
        return RedirectResponse(_local_path(request.query.get("next", "/")), 303)
    return request.render("login.html", {"next": request.query.get("next", "/"), "wrong": False})


def sign_in(request: PageRequest) -> Response:
    """Exchange a token for a session; 403 if the token is not valid."""
    session = request.served_memory.tokens.open_session(request.form_value("token").strip())
    if session is None:
        return request.render("login.html", {"next": request.form_value("next", "/"), "wrong": True}, status=403)
    answer = RedirectResponse(_local_path(request.form_value("next", "/")), 303)
    answer.headers["Set-Cookie"] = format_session_cookie(session, secure=request.http_request.url.scheme == "https")
    return answer


def sign_out(request: PageRequest) -> Response:
    """End the session."""
    request.served_memory.tokens.close_session(request.http_request.cookies.get(SESSION_COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.headers["Set-Cookie"] = format_expired_cookie()
    return answer


def _local_path(address: str) -> str:
    """Return the address if it is a path of this site, else the home page."""
    is_local_path = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_local_path and "\\" not in address else "/"
