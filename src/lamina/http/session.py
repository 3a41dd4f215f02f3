"""How a browser stays let in: a cookie that scripts cannot read, and a word every form must bring back with it."""

from __future__ import annotations

import hashlib
import hmac
import re
from urllib.parse import parse_qs

COOKIE = "lamina_session"
FIELD, HEADER = "csrf", b"x-csrf-token"
"""Where the word is brought back: in a field of a form, or in a header."""
_MOST_FIELDS = 1000
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}")


def word_of(session: str) -> str:
    """The word that belongs to a session: another site cannot know it, and it does not tell the session."""
    return hmac.new(session.encode(), b"lamina csrf", hashlib.sha256).hexdigest()


def is_word_of(session: str, given: str) -> bool:
    """Whether this is the word of the session, compared in constant time."""
    return hmac.compare_digest(word_of(session).encode(), given.encode(errors="replace"))


def session_in(cookies: str) -> str | None:
    """The session a Cookie header carries, whatever stands beside it: all that serve on this machine share cookies."""
    pairs = (each.strip().partition("=") for each in cookies.split(";"))
    return next((value for name, _, value in pairs if name == COOKIE and _SESSION.fullmatch(value)), None)


def word_in_form(body: bytes, content_type: str) -> str:
    """The word a form brings back; empty where it brings none."""
    if content_type != "application/x-www-form-urlencoded":
        return ""
    try:
        fields = parse_qs(body.decode("ascii"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return ""
    return fields.get(FIELD, [""])[0]


def cookie_of(session: str, *, secure: bool = False) -> str:
    """The Set-Cookie header of a session: for this site alone, out of reach of scripts, gone with the browser."""
    return f"{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}"


def no_cookie() -> str:
    """The Set-Cookie header that ends it."""
    return f"{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
