"""Browser sessions: a cookie that scripts cannot read, and a CSRF token that every form must send back."""

from __future__ import annotations

import hashlib
import hmac
import re
from urllib.parse import parse_qs

SESSION_COOKIE = "lamina_session"
CSRF_FIELD, CSRF_HEADER = "csrf", b"x-csrf-token"
"""Where the CSRF token is sent: in a form field or in a header."""
_MAX_FIELDS = 1000
_SESSION_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,100}")


def csrf_token_for(session: str) -> str:
    """Return the CSRF token of a session: other sites cannot know it, and it does not reveal the session."""
    return hmac.new(session.encode(), b"lamina csrf", hashlib.sha256).hexdigest()


def is_csrf_token_of(session: str, given: str) -> bool:
    """Return whether this is the session's CSRF token, compared in constant time."""
    return hmac.compare_digest(csrf_token_for(session).encode(), given.encode(errors="replace"))


def parse_session_cookie(cookies: str) -> str | None:
    """Return the session in a Cookie header, or None; other servers on this machine may share the header."""
    pairs = (pair.strip().partition("=") for pair in cookies.split(";"))
    return next(
        (value for name, _, value in pairs if name == SESSION_COOKIE and _SESSION_PATTERN.fullmatch(value)), None
    )


def parse_form_csrf_token(body: bytes, content_type: str) -> str:
    """Return the CSRF token in a form body, or an empty string."""
    if content_type != "application/x-www-form-urlencoded":
        return ""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=_MAX_FIELDS)
    except ValueError:
        return ""
    return fields.get(CSRF_FIELD, [""])[0]


def format_session_cookie(session: str, *, secure: bool = False) -> str:
    """Return the Set-Cookie header of a session: this site only, hidden from scripts, gone when the browser closes."""
    return f"{SESSION_COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"


def format_expired_cookie() -> str:
    """Return the Set-Cookie header that deletes the session cookie."""
    return f"{SESSION_COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
