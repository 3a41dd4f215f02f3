"""Security headers of every response: no foreign scripts, no type guessing, no framing."""

from __future__ import annotations

Headers = list[tuple[bytes, bytes]]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Same-origin referrers stay allowed: without them, browsers send forms of this site with `Origin: null`."""
SECURITY_HEADERS: Headers = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
NO_STORE: Headers = [(b"cache-control", b"no-store")]
_REMOVED_NAMES = frozenset({b"access-control-allow-origin", b"access-control-allow-credentials", b"server"})


def add_security_headers(headers: Headers, *, is_cacheable: bool) -> Headers:
    """Return the headers with the security headers, which take precedence; no-store unless `is_cacheable`."""
    added = [*SECURITY_HEADERS, *([] if is_cacheable else NO_STORE)]
    names = {name for name, _ in added} | _REMOVED_NAMES
    return [*((name, value) for name, value in headers if name.lower() not in names), *added]
