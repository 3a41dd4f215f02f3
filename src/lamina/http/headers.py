"""What every answer says to a browser: run nothing from elsewhere, guess no types, be framed by nobody."""

from __future__ import annotations

Headers = list[tuple[bytes, bytes]]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Same-origin referrers stay: without any, browsers send forms of our own pages with `Origin: null`."""
SECURITY: Headers = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
NO_STORE: Headers = [(b"cache-control", b"no-store")]
_DROPPED = frozenset({b"access-control-allow-origin", b"access-control-allow-credentials", b"server"})


def secured(headers: Headers, *, cached: bool) -> Headers:
    """The headers of an answer with ours; what a handler set of the same name gives way. `cached`: may be kept."""
    ours = [*SECURITY, *([] if cached else NO_STORE)]
    names = {name for name, _ in ours} | _DROPPED
    return [*((name, value) for name, value in headers if name.lower() not in names), *ours]
